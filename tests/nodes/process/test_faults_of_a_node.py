"""What befalls a real node process: kill, clean stop, a full disk."""

import resource

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.messages import Register
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.process.wire import translate_control

MS = 1_000
QUICK = ClusterSpec(settings=Settings(lag_time_us=400 * MS, session_us=500 * MS))


def fill_disk(cluster, node):
    """Files of the process may not grow beyond 64 KiB any more."""
    resource.prlimit(cluster.processes[node].pid, resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))


def test_a_full_disk_ends_the_leader_without_an_acknowledgement(local_cluster, produce):
    with local_cluster("kafka-2.7", QUICK) as cluster:
        assert cluster.settled() == 1
        fill_disk(cluster, 1)
        client = cluster.client(1)
        assert client.ask(0, 7, produce([1, 2, 3], acks=1)).responses[0].partition_responses[0].base_offset == 0
        cluster.settled()
        client.send(0, 7, produce(list(range(20_000)), acks=1))
        assert client.was_closed()
        assert cluster.wait(1) == 1
        *before, fatal, stop = cluster.trace(1)
        assert fatal[2:4] == ["fatal", ""]
        assert "the disk failed" in fatal[4]
        assert "File too large" in fatal[4]
        assert stop[2:] == ["stop", "", "fatal"]
        assert [entry[4:6] for entry in before if entry[2] == "append"] == [[0, 0]]
        cluster.start(1)
        cluster.settled()
        assert cluster.status(1, "t-0")["leo"] == 3
        cluster.produce(list(range(20_000)))
        cluster.settled()


def test_a_full_disk_ends_a_follower_and_the_rest_goes_on(local_cluster, eventually_true):
    with local_cluster("kafka-2.1", QUICK) as cluster:
        assert cluster.settled() == 1
        fill_disk(cluster, 3)
        assert cluster.produce(list(range(20_000))).error_code.name == "none"
        assert cluster.wait(3) == 1
        assert cluster.trace(3)[-1][2:] == ["stop", "", "fatal"]
        eventually_true(lambda: cluster.status(0, "t-0")["isr"] == [1, 2])


def test_a_killed_leader_is_replaced_and_follows_when_it_is_back(local_cluster, eventually_true):
    with local_cluster("kafka-3.7", QUICK) as cluster:
        old = cluster.settled()
        cluster.produce([1, 2, 3])
        cluster.kill(old)
        eventually_true(lambda: cluster.leader() not in (old, -1))
        assert cluster.produce([4]).base_offset == 3
        cluster.start(old)
        cluster.settled()
        assert cluster.status(old, "t-0")["leo"] == 4
        zombie = translate_control.register_request(Register(old, 1, -1))
        answer = cluster.client(0, "internal").ask(62, 3, zombie)
        assert answer.error_code.name == "duplicate_broker_registration"


def test_a_clean_stop_hands_over_leadership_and_leaves_the_mark(local_cluster):
    with local_cluster("kafka-4.0") as cluster:
        old = cluster.settled()
        cluster.produce([1, 2, 3])
        cluster.settled()
        epoch = cluster.status(old)["broker_epoch"]
        assert cluster.terminate(old) == 0
        assert cluster.leader() != old
        mark = cluster.folder(old) / "data" / ".kafka_cleanshutdown"
        assert str(epoch) in mark.read_text()
        cluster.start(old)
        cluster.settled()
        assert not mark.exists()
        assert cluster.trace(0, "register")[-1][4:] == [old, cluster.status(old)["broker_epoch"], True]

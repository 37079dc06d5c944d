"""Reassignments as the controllers' logs have them: what comes and goes, and why a leader epoch is raised."""

import json

import pytest

from tidemark.nodes.sidecar.controller.metadata_state import MetadataControllerLog
from tidemark.nodes.sidecar.controller.zookeeper_state import ZooKeeperControllerLog

TOPIC, STATE = "/brokers/topics/t", "/brokers/topics/t/partitions/0/state"


@pytest.fixture
def kraft(cluster, metadata):
    """Broker 1 leads t-0 in epoch 0, followed by 2 and 3; 4 is there too. Called with records, it gives what was decided."""
    cluster(*(metadata.register(broker, broker, fenced=False) for broker in (1, 2, 3, 4)))
    cluster(metadata.topic(), metadata.partition())
    return cluster


class ZooKeeperCluster:
    """The same in ZooKeeper: each call changes one node and gives what was decided."""

    def __init__(self, folder, writer, file_header):
        self._writer = writer
        self._path = folder / "log.1"
        self._path.write_bytes(file_header)
        self.log = ZooKeeperControllerLog(folder, ["t-0"])
        self._version = 0
        for broker in (1, 2, 3, 4):
            self._add(writer.create(f"/brokers/ids/{broker}", "{}", ephemeral=True, session=10 + broker))
        self._add(writer.create(TOPIC, self._topic([1, 2, 3])), writer.create(STATE, self._state(1, 0, [1, 2, 3])))

    def _add(self, *entries):
        with self._path.open("ab") as file:
            file.write(b"".join(entries))
        return self.log.poll()

    @staticmethod
    def _topic(replicas, adding=(), removing=()):
        """As TopicZNode.encode: no entry where nobody comes, or goes."""
        by_name = {"adding_replicas": adding, "removing_replicas": removing}
        moving = {name: {"0": list(brokers)} if brokers else {} for name, brokers in by_name.items()}
        return json.dumps({"version": 3, "partitions": {"0": replicas}, "topic_id": "x", **moving})

    @staticmethod
    def _state(leader, epoch, isr):
        return json.dumps({"controller_epoch": 1, "leader": leader, "version": 1, "leader_epoch": epoch, "isr": isr})

    def replicas(self, replicas, adding=(), removing=()):
        self._version += 1
        return self._add(self._writer.set_data(TOPIC, self._topic(replicas, adding, removing), self._version))

    def state(self, leader, epoch, isr):
        self._version += 1
        return self._add(self._writer.set_data(STATE, self._state(leader, epoch, isr), self._version))

    def ends_session_of(self, broker):
        return self._add(self._writer.close_session(10 + broker))


@pytest.fixture
def zookeeper_cluster(tmp_path, zookeeper, file_header):
    return ZooKeeperCluster(tmp_path, zookeeper, file_header)


def hows(told):
    return [(event[2], event[6], event[7]) for event in told if event[0] == "elect"]


# KRaft


def test_kraft_ends_a_reassignment_with_the_change_of_the_isr(kraft, metadata):
    assert kraft(metadata.change(replicas=(4, 2, 3, 1), adding=(4,), removing=(1,))) == [
        ("reassign", "t-0", (4, 2, 3, 1), (4,), (1,))
    ]
    ended = metadata.change(isr=(2, 3, 4), replicas=(4, 2, 3), adding=(), removing=(), leader=4)

    assert kraft(ended) == [
        ("reassign", "t-0", (4, 2, 3), (), ()),
        ("elect", "t-0", 4, 1, (2, 3, 4), (), "reassigned", True, 2),
    ]
    state = kraft.log.partitions["t-0"]
    assert (state["replicas"], state["adding"], state["removing"]) == ((4, 2, 3), (), ())


def test_a_leader_that_stays_gets_a_new_epoch_when_another_is_removed(kraft, metadata):
    kraft(metadata.change(replicas=(1, 2, 4, 3), adding=(4,), removing=(3,)))
    told = kraft(metadata.change(isr=(1, 2, 4), replicas=(1, 2, 4), adding=(), removing=(), leader=1))

    assert hows(told) == [(1, "reassigned", True)]


def test_a_leader_from_nowhere_is_unclean_at_the_end_of_a_reassignment_too(kraft, metadata):
    kraft(metadata.change(replicas=(4, 2, 3, 1), adding=(4,), removing=(1,)))
    kraft(metadata.change(isr=(1,), leader=-1))
    told = kraft(metadata.change(isr=(4,), leader=4))

    assert hows(told) == [(4, "unclean", False)]


def test_another_order_of_replicas_is_no_reassignment(kraft, metadata):
    assert kraft(metadata.change(replicas=(3, 2, 1))) == []
    assert kraft.log.partitions["t-0"]["replicas"] == (3, 2, 1)


def test_a_change_that_names_no_replicas_leaves_them_coming_and_going(kraft, metadata):
    kraft(metadata.change(replicas=(4, 2, 3, 1), adding=(4,), removing=(1,)))

    assert kraft(metadata.change(isr=(1, 2))) == [("isr-change", "t-0", (1, 2), (), 2)]
    assert kraft.log.partitions["t-0"]["adding"] == (4,)


def test_one_that_is_taken_back_and_keeps_its_list_of_those_who_come_goes_on(kraft, metadata):
    """Up to 3.7 a reassignment to the old replicas has nobody to add or to remove, and says nothing of either."""
    kraft(metadata.change(replicas=(4, 2, 3, 1), adding=(4,), removing=(1,)))

    assert kraft(metadata.change(replicas=(1, 2, 3, 4), removing=(4,))) == [
        ("reassign", "t-0", (1, 2, 3, 4), (4,), (4,))
    ]


def test_a_partition_may_be_read_in_the_middle_of_a_reassignment(tmp_path, metadata):
    """As in a snapshot."""
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(
        metadata.batch(0, metadata.topic(), metadata.partition(replicas=(1, 2, 3), removing=(1,), adding=(3,)))
    )
    log = MetadataControllerLog(tmp_path, ["t-0"])
    log.poll()

    assert (log.partitions["t-0"]["adding"], log.partitions["t-0"]["removing"]) == ((3,), (1,))


# ZooKeeper


def test_zookeeper_tells_it_step_by_step(zookeeper_cluster):
    it = zookeeper_cluster
    assert it.replicas([4, 2, 3, 1], [4], [1]) == [("reassign", "t-0", (4, 2, 3, 1), (4,), (1,))]
    assert hows(it.state(1, 1, [1, 2, 3])) == [(1, "reassigning", True)]
    assert it.state(1, 1, [1, 2, 3, 4]) == [("isr-change", "t-0", (1, 2, 3, 4), (), 3)]
    assert hows(it.state(4, 2, [1, 2, 3, 4])) == [(4, "reassigned", True)]
    assert hows(it.state(4, 3, [2, 3, 4])) == [(4, "resumed", True)]
    assert it.replicas([4, 2, 3]) == [("reassign", "t-0", (4, 2, 3), (), ())]


def test_a_leader_that_stays_gets_its_epoch_at_the_end_as_well(zookeeper_cluster):
    it = zookeeper_cluster
    it.replicas([1, 2, 4, 3], [4], [3])

    assert hows(it.state(1, 1, [1, 2, 3])) == [(1, "reassigning", True)]
    it.state(1, 1, [1, 2, 3, 4])
    assert hows(it.state(1, 2, [1, 2, 3, 4])) == [(1, "reassigned", True)]


def test_where_nobody_comes_it_ends_at_once(zookeeper_cluster, kraft, metadata):
    zookeeper_cluster.replicas([1, 2, 3], [], [3])
    assert hows(zookeeper_cluster.state(1, 1, [1, 2, 3])) == [(1, "reassigned", True)]

    assert kraft(metadata.change(isr=(1, 2), replicas=(1, 2), leader=1)) == [
        ("reassign", "t-0", (1, 2), (), ()),
        ("elect", "t-0", 1, 1, (1, 2), (), "reassigned", True, 1),
    ]


def test_a_leader_that_fails_while_it_is_to_go_is_followed_as_any_other(zookeeper_cluster):
    it = zookeeper_cluster
    it.replicas([4, 2, 3, 1], [4], [1])
    it.state(1, 1, [1, 2, 3])
    it.ends_session_of(1)

    assert hows(it.state(2, 2, [2, 3])) == [(2, "online", True)]

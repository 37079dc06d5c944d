"""Faults in the transport of real node processes, and pauses; one cluster for all of them."""

import signal
import time

import pytest

MS = 1_000


@pytest.fixture
def cluster(shared_cluster):
    shared_cluster.settled()
    return shared_cluster


def followers(cluster, leader):
    return [b for b in cluster.brokers if b != leader]


def end_of(cluster, broker):
    return cluster.status(broker, "t-0")["leo"]


def silent(client):
    client.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        client.socket.recv(1)
    client.socket.settimeout(5)


def test_fetches_that_get_lost_shrink_the_isr_until_they_arrive_again(cluster, eventually_true):
    leader = cluster.leader()
    slow, other = followers(cluster, leader)
    rule = {"kind": "fetch requests", "to": leader, "effect": "drop"}
    cluster.admin(slow)("transport", key=7, rules=[rule])
    assert cluster.status(slow)["transport"] == [7]
    cluster.produce([1], acks=1)
    eventually_true(lambda: set(cluster.status(0, "t-0")["isr"]) == {leader, other})
    assert cluster.status(0)["sessions"][str(slow)]["live"]
    assert cluster.admin(slow)("transport-clear", key=7)["found"]
    cluster.settled()


def test_responses_that_are_dropped_or_held_do_not_block_the_connection(cluster, eventually_true):
    leader = cluster.leader()
    slow, other = followers(cluster, leader)
    before = end_of(cluster, leader)
    admin = cluster.admin(leader)
    admin("transport", key="a", rules=[{"kind": "fetch responses", "to": slow, "effect": "drop"}])
    admin("transport", key="b", rules=[{"kind": "fetch responses", "to": other, "effect": "hold"}])
    assert cluster.produce([1, 2], acks=1).base_offset == before
    assert [end_of(cluster, b) for b in (slow, other)] == [before, before]
    assert not admin("transport-clear", key="c")["found"]
    admin("transport-clear", key="a")
    eventually_true(lambda: end_of(cluster, slow) == before + 2)
    admin("transport-clear", key="b")
    cluster.settled()


def test_leadership_that_is_held_arrives_late(cluster, eventually_true):
    old = cluster.leader()
    new, other = followers(cluster, old)
    controller = cluster.admin(0)
    controller("transport", key=1, rules=[{"kind": "leadership", "to": other, "effect": "hold"}])
    assert controller("elect", partition="t-0", how="forced", target=new)["leader"] == new
    eventually_true(lambda: cluster.status(new, "t-0")["role"] == "leader")
    eventually_true(lambda: cluster.status(old, "t-0")["leader"] == new)
    assert cluster.status(other, "t-0")["leader"] == old
    controller("transport-clear", key=1)
    eventually_true(lambda: cluster.status(other, "t-0")["leader"] == new)


def test_a_broker_cut_off_from_the_controller_is_fenced(cluster, eventually_true):
    leader = cluster.leader()
    cluster.admin(leader)("transport", key=1, rules=[{"to": 0, "effect": "drop"}])
    eventually_true(lambda: cluster.leader() not in (leader, -1))
    cluster.admin(leader)("transport-clear", key=1)
    cluster.settled()


def test_a_slow_and_lossy_transport_still_replicates(cluster):
    leader = cluster.leader()
    before = end_of(cluster, leader)
    rules = [{"effect": "delay", "amount": 20 * MS}, {"effect": "lose", "amount": 100}]
    cluster.admin(leader)("transport", key=1, rules=rules)
    for value in range(5):
        assert cluster.produce([value], acks=1).base_offset == before + value
    cluster.admin(leader)("transport-clear", key=1)
    cluster.settled()


def test_an_acknowledgement_that_is_dropped_silences_its_connection(cluster, produce):
    leader = cluster.leader()
    before = end_of(cluster, leader)
    client, bystander = cluster.client(leader), cluster.client(leader)
    cluster.admin(leader)("transport", key=1, rules=[{"kind": "acks", "effect": "drop"}])
    client.send(0, 7, produce([1], acks=1))
    silent(client)
    assert end_of(cluster, leader) == before + 1
    cluster.admin(leader)("transport-clear", key=1)
    assert client.was_closed()
    answer = bystander.ask(0, 7, produce([2], acks=1))
    assert answer.responses[0].partition_responses[0].base_offset == before + 1


def test_an_acknowledgement_that_is_held_arrives_when_the_fault_ends(cluster, produce):
    leader = cluster.leader()
    before = end_of(cluster, leader)
    client = cluster.client(leader)
    cluster.admin(leader)("transport", key=1, rules=[{"kind": "acks", "effect": "hold"}])
    sent = [client.send(0, 7, produce([value], acks=1)) for value in range(3)]
    silent(client)
    cluster.admin(leader)("transport-clear", key=1)
    answers = [client.receive(0, 7) for _ in sent]
    assert [correlation for correlation, _ in answers] == sent
    bases = [answer.responses[0].partition_responses[0].base_offset for _, answer in answers]
    assert bases == [before, before + 1, before + 2]


def test_a_slow_disk_delays_the_acknowledgement_and_not_the_admin_port(cluster):
    leader = cluster.leader()
    before = end_of(cluster, leader)
    cluster.admin(leader)("slow-disk", delay_us=200 * MS)
    assert cluster.status(leader)["slow_disk_us"] == 200 * MS
    began = time.monotonic()
    assert cluster.produce([1], acks=1).base_offset == before
    assert time.monotonic() - began >= 0.2
    cluster.admin(leader)("slow-disk", delay_us=0)


def test_a_paused_leader_comes_back_as_a_follower(cluster, eventually_true):
    old = cluster.leader()
    cluster.signal(old, signal.SIGSTOP)
    new = eventually_true(lambda: cluster.leader() not in (old, -1) and cluster.leader())
    cluster.signal(old, signal.SIGCONT)
    assert cluster.settled() == new
    assert cluster.status(old, "t-0")["role"] == "follower"


def test_what_cannot_be_read_closes_the_connection_and_nothing_else(cluster):
    leader = cluster.leader()
    for listener in ("host", "internal"):
        for nonsense in (
            b"\xff\xff\xff\xff",
            b"\x7f\xff\xff\xff",
            b"\0\0\0\x04\0\0\0\0",
            b"\0\0\0\x0a" + b"\0\x03\0\x63" + bytes(6),
            b"\0\0\0\x0e" + b"\0\x03\0\x04" + bytes(6) + b"\x7f\xff\xff\xff",
            b"GET / HTTP/1.1\r\n\r\n",
        ):
            client = cluster.client(leader, listener)
            client.socket.sendall(nonsense)
            assert client.was_closed(), nonsense
    assert cluster.settled() == leader

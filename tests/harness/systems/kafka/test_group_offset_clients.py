"""Who works on a group's offsets: clients that outwait a coordinator, and members that come and go."""

import threading

import pytest

from tidemark.harness.clients.counters import Counters
from tidemark.harness.clients.workload import WorkloadOrder
from tidemark.harness.systems.kafka import group_offset_clients
from tidemark.harness.systems.kafka.group_offset_clients import COMMIT_S, MEMBERS, GroupOffsetClients
from tidemark.nemesis import ObjectWorkload, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

BROKERS = [("127.0.0.1", 9001)]


class Silent:
    """A client that nobody answers."""

    def open(self, address):
        raise OSError("nobody listens")

    def close(self):
        pass


@pytest.fixture
def started(monkeypatch):
    """Starts clients whose produce time-out is so many µs: the members that came, and what each client was made with."""

    def started(produce_timeout_us, *, members):
        came, made, stopped, asked_for = [], [], threading.Event(), threading.Event()
        all_there = threading.Barrier(MEMBERS + 1)

        def come(addresses, topic, noise, stopping):
            came.append((list(addresses), topic, noise.random(), stopping))
            all_there.wait(20)
            stopping.wait(20)
            stopped.set()

        def make(*asked):
            made.append(asked)
            asked_for.set()
            return Silent()

        monkeypatch.setattr(group_offset_clients, "come_and_go", come)
        monkeypatch.setattr(group_offset_clients, "GroupOffsets", make)
        cluster = ClusterSpec(settings=Settings(produce_timeout_us=produce_timeout_us))
        workload = WorkloadSpec(producers=1, consumers=1, object=ObjectWorkload("group-offsets"))
        plan = Plan(0, 1, 7, "intact", cluster, workload, (), 1_000_000)
        order = WorkloadOrder(plan, None, {1: "127.0.0.1:9001"}, lambda: 0, lambda _: None, Counters(), None, None)
        clients = GroupOffsetClients(order, members=members)
        clients.start()
        if members:
            all_there.wait(20)
        assert asked_for.wait(20)
        clients.stop()
        assert stopped.is_set() == members
        return came, made

    return started


def test_members_come_side_by_side_each_by_its_own_chance(started):
    came, _ = started(1_500_000, members=True)
    assert [(addresses, topic) for addresses, topic, _, _ in came] == [(BROKERS, "t")] * MEMBERS
    assert len({drawn for _, _, drawn, _ in came}) == MEMBERS


def test_where_brokers_know_no_such_members_none_come(started):
    came, _ = started(1_500_000, members=False)
    assert came == []


@pytest.mark.parametrize(("produce_timeout_us", "patience_s"), [(1_500_000, COMMIT_S), (9_000_000, 9.0)])
def test_a_client_waits_at_least_as_long_as_a_coordinator_tries(started, produce_timeout_us, patience_s):
    _, made = started(produce_timeout_us, members=False)
    assert {*made} == {("t-0", patience_s)}

"""etcd in containers: it keeps what it promises while members are killed, paused and cut off."""

import pytest
from missing import skip_without

from tidemark.harness.live.session import ContainerSession
from tidemark.harness.machines.errors import ImageError
from tidemark.harness.systems.registry import find_system
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nemesis import Fault, ObjectWorkload, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

S = 1_000_000


def plan(kind, faults=()):
    work = WorkloadSpec(producers=2, consumers=2, interval_us=S // 4, object=ObjectWorkload(kind))
    return Plan(0, 0, 1, "by hand", ClusterSpec(), work, faults, 3 * S)


@pytest.fixture(scope="module")
def play(engine, image, tmp_path_factory):
    system = find_system("etcd:3.5.1")
    session = ContainerSession(3, system=system, tell=lambda _: None)

    def play(plan):
        try:
            return session.execute(plan, system.variant(system.default_variant), folder=tmp_path_factory.mktemp("run"))
        except ImageError as error:
            skip_without(f"etcd: {error}")

    yield play
    session.close()


@pytest.mark.docker
@pytest.mark.systems
@pytest.mark.parametrize(
    ("kind", "fault"),
    [("cas-register", Fault("crash", S, S, "leader")), ("list-append", Fault("isolate", S, S, "leader"))],
)
def test_registers_and_lists_are_what_was_promised(play, kind, fault):
    run = play(plan(kind, (fault,)))

    assert run.verdict.valid == "valid", (run.verdict.unknown_because, run.verdict.anomalies)
    assert run.verdict.judged_from == "clients and replicas"
    assert run.verdict.stats["operations"]["ok"] > 20
    finals = [event for event in run.history.trace if event[2] == "final"]
    assert len({event[-1] for event in finals}) == 1 < len(finals)


@pytest.mark.docker
@pytest.mark.systems
def test_a_member_leaves_and_another_comes_in_its_place(play):
    run = play(plan("register", (Fault("leave", S // 2, S, "b1"),)))

    assert run.verdict.valid == "valid", (run.verdict.unknown_because, run.verdict.anomalies)
    assert [one["node"] for one in run.history.meta["joined"]] == [1]
    finals = [event for event in run.history.trace if event[2] == "final"]
    assert len({event[-1] for event in finals}) == 1
    assert len(finals) == 3


def test_what_nobody_asked_for_is_its_first_workload():
    system = find_system("etcd:3.5.1")
    work = WorkloadSpec()
    asked = Plan(0, 0, 1, "by hand", ClusterSpec(), work, (), S)
    assert system.as_it_takes(asked).workload.object == ObjectWorkload("cas-register")


def test_more_members_than_replicas_are_refused():
    system = find_system("etcd:3.5.1")
    asked = Plan(0, 0, 1, "by hand", ClusterSpec(brokers=5), WorkloadSpec(), (), S)
    with pytest.raises(SystemRefusalError, match=r"etcd:3\.5\.1 has one Raft group of all members"):
        system.check(asked, system.variant(system.default_variant))


@pytest.mark.parametrize("text", ["etcd", "etcd:3.5", "etcd:2.3.8", "etcd:newest"])
def test_a_version_that_is_none_is_refused(text):
    with pytest.raises(SystemRefusalError, match="is no version of etcd 3"):
        find_system(text)


@pytest.mark.parametrize("text", ["nats:2.15.1", "tidemark"])
def test_a_log_has_no_clients_for_registers(text):
    system = find_system(text)
    with pytest.raises(SystemRefusalError, match="no clients for the workload cas-register"):
        system.check(plan("cas-register"), system.variant(system.default_variant))


@pytest.mark.parametrize(
    ("version", "loses", "differs"),
    [
        ("3.4.20", True, False),
        ("3.5.0", True, True),
        ("3.5.2", True, True),
        ("3.5.4", True, False),
        ("3.5.5", False, False),
    ],
)
def test_which_versions_lose_by_power_and_which_come_to_differ_by_kills(version, loses, differs):
    found = find_system(f"etcd:{version}").real.scripts()
    assert {name: script.loses for name, script in found.items()} == {
        "one-member-loses-power": loses,
        "all-lose-power": False,
        "kill-all": False,
        "killed-in-large-transactions": differs,
        "one-loses-tail-two-cut": True,
        "one-killed-two-cut": False,
    }

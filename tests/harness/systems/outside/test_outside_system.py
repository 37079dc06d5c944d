"""What a system of any protocol is to the live world: what it suffers, how it is told, what is refused."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tidemark import Install, Process, RealSystem, View
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.runs.suffering import suffer
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.outside import adapter
from tidemark.harness.systems.outside.adapter import OutsideSystem, told
from tidemark.harness.systems.registry import find_system
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nemesis import Fault, Plan, Trigger, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.families import family_of

S = 1_000_000


class Shy(RealSystem):
    name = "shy"
    promise = "durable"

    def install(self):
        return Install()

    def process(self, node, nodes, logs):
        return Process(("true",))

    def client(self, workload):
        raise NotImplementedError


class Seen(Shy):
    name = "seen"

    def view(self, node, log):
        return View()


FAULTS = (
    Fault("crash", S, S, "leader"),
    Fault("crash", S, S, "any"),
    Fault("power-all", S, S, "leader"),
    Fault("forced-election", S, 0, "follower"),
    Fault("clock-jump", S, S, "b1", amount=S),
    Fault("slow", S, S, "b1", amount=S),
    Fault("pause", S, S, "b1", after=Trigger("append", 3)),
)
PLAN = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), FAULTS, 3 * S)


def suffered(system, *, delays=True):
    system = OutsideSystem(system)
    variant = system.variant(system.default_variant)
    system.check(PLAN, variant)
    return suffer(PLAN, family_of(variant), system.cannot_suffer(PLAN, delays=delays))


def test_who_shows_no_leader_is_told_which_faults_needed_one():
    found = suffered(Shy())

    assert found.left_out == {0, 3, 4}
    assert (
        found.not_suffered[0]
        == "fault 0, crash: it waits for the leader, and nobody sees who leads: the system has no view"
    )


class WithStore(Seen):
    def beside(self, machine, nodes):
        pass


def test_who_has_nothing_beside_cannot_be_cut_from_it():
    assert "from-controller" in OutsideSystem(Seen()).not_suffered
    assert "from-controller" in find_system("etcd:3.5.1").not_suffered
    assert "from-controller" not in OutsideSystem(WithStore()).not_suffered


def test_nothing_is_said_of_what_counts_in_a_system_that_nobody_knows():
    unclean = replace(PLAN, cluster=ClusterSpec(settings=Settings(unclean_election=True)))
    system = OutsideSystem(Seen())
    found = suffer(unclean, family_of(system.variant("seen")))

    assert not any(
        "unclean.leader" in sentence or "min.insync" in sentence
        for sentence in (*found.not_suffered, *found.counterparts)
    )


def test_who_shows_one_suffers_them():
    assert suffered(Seen()).left_out == {3, 4}


def test_where_links_cannot_be_slowed_that_is_left_out():
    assert suffered(Seen(), delays=False).left_out == {3, 4, 5}


def test_a_fault_that_waits_for_an_event_strikes_at_its_time():
    assert suffered(Seen()).faults[6].after is None


class Changing(Shy):
    name = "changing"
    fails = 2

    def leave(self, node, nodes):
        raise NodeError("no majority")

    def join(self, node, nodes):
        self.fails -= 1
        if self.fails >= 0:
            raise OSError("nobody listens")
        return True


def deployed(system):
    machines = {node: SimpleNamespace(inner_ip=f"10.0.0.{node}") for node in (1, 2, 3)}
    return Deployment(machines, ClusterSpec(), system.variant(system.default_variant))


@pytest.mark.parametrize("follows", [True, False])
def test_a_ledger_is_kept_only_where_somebody_may_ask_for_it(follows):
    machines = {node: SimpleNamespace(inner_ip=f"10.0.0.{node}", admin_port=1) for node in (1, 2, 3)}
    system = OutsideSystem(Shy())
    deployment = Deployment(machines, ClusterSpec(), system.variant("shy"), follows_syncs=follows)

    assert bool(system.configure(1, 1, deployment)["ledger"]) is follows


def test_who_has_no_members_to_change_does_not_suffer_that_they_leave():
    assert (
        OutsideSystem(Shy()).not_suffered["leave"]
        == "nobody can take it out of the members: the system has no leave and join"
    )
    assert "leave" not in OutsideSystem(Changing()).not_suffered


def test_it_is_told_why_nobody_leaves_and_joining_is_tried_again(monkeypatch):
    monkeypatch.setattr(adapter, "JOIN_PAUSE_S", 0)
    system = OutsideSystem(Changing())
    deployment = deployed(system)

    assert system.leave(1, deployment) == "NodeError: no majority"
    assert system.join(1, deployment)


def test_who_is_not_taken_in_in_time_is_an_error(monkeypatch):
    monkeypatch.setattr(adapter, "JOIN_S", -1)
    system = OutsideSystem(Changing())
    with pytest.raises(NodeError, match="nobody takes node 1 of changing in again"):
        system.join(1, deployed(system))


def test_our_own_nodes_refuse_to_leave():
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), (Fault("leave", S, S, "b1"),), 3 * S)
    system = find_system("tidemark")
    with pytest.raises(
        SystemRefusalError, match="tidemark has no members that leave and join, so it cannot do leave: try reassignment"
    ):
        system.check(plan, system.variant("kafka-2.7"))


def test_a_view_without_offsets_keeps_nothing_waiting():
    assert told(View(leads=True, epoch=4), (1, 2, 3)) == {
        "role": "leader",
        "leader_epoch": 4,
        "leo": 0,
        "hw": 0,
        "isr": [1, 2, 3],
        "refused": "",
        "leader": -1,
        "epochs": [],
    }


def test_a_promise_that_nobody_knows_is_refused():
    system = Shy()
    system.promise = "forever"
    with pytest.raises(SystemRefusalError, match="shy promises 'forever'; there are majority, durable, ack-quorum"):
        OutsideSystem(system)


def test_nats_promises_what_its_documentation_says_of_its_setting():
    promises = [find_system(text).real.promise for text in ("nats:2.15.1", "nats:2.15.1@sync-always")]

    assert promises == ["durable", "majority"]


class Accompanied(Shy):
    def beside(self, machine, nodes):
        self.told = (machine.number, machine.address, sorted(nodes))
        raise ConnectionRefusedError("nobody is there")


def test_what_nodes_need_beside_them_is_started_on_the_machine_of_node_0():
    system = Accompanied()
    machines = {node: SimpleNamespace(inner_ip=f"10.0.0.{node}") for node in range(5)}
    deployment = Deployment(machines, ClusterSpec(), OutsideSystem(system).variant("shy"))

    with pytest.raises(NodeError, match="what shy needs beside its nodes cannot be started: nobody is there"):
        OutsideSystem(system).prepare(deployment)

    assert system.told == (0, "10.0.0.0", [1, 2, 3])


class Queue(Shy):
    workloads = ("log", "queue")

    def log_of(self, node, log):
        return None if self.workload == "queue" else []


@pytest.mark.parametrize(("workload", "log"), [("queue", None), ("", [])])
def test_a_workload_that_leaves_nothing_to_compare_shows_no_logs(workload, log):
    real = Queue()
    machine = SimpleNamespace(inner_ip="10.0.0.1")
    system = OutsideSystem(real)
    system.prepare(
        Deployment(dict.fromkeys(range(4), machine), ClusterSpec(), system.variant("shy"), workload=workload)
    )

    assert system.final_log(1, machine, "t-0") == log


class Careless(Seen):
    """Gives what is not asked for."""

    name = "careless"

    def view(self, node, log):
        return {"leads": True}

    def log_of(self, node, log):
        return [[0, 1, 7]]


def test_what_is_no_view_and_no_entry_is_told_in_words():
    system = OutsideSystem(Careless(), "./careless.py")
    machine = SimpleNamespace(inner_ip="10.0.0.1")

    assert system.stands(1, machine, "t-0", (1, 2, 3)) is None
    assert system.trouble == (
        "the view of node 1 could not be had: TypeError: it gives {'leads': True}, and should give a View (docs/systems.md)"
    )
    with pytest.raises(NodeError, match=r"it gives \[0, 1, 7\], and should give a LogEntry"):
        system.final_log(1, machine, "t-0")


def test_a_history_says_what_was_typed_where_that_is_not_the_name():
    assert OutsideSystem(Seen(), "./seen.py:x").describe(None)["typed"] == "./seen.py:x"
    assert "typed" not in find_system("nats:2.15.1").describe(None)

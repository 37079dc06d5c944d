"""The nemesis's verbs mean what they mean in the simulator. The nodes are played; their lanes and the run_loop are real."""

import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live import cluster_nodes
from tidemark.harness.live.going_on import may_go_on
from tidemark.harness.live.live_cluster import LiveCluster
from tidemark.harness.live.recorder import Recorder
from tidemark.harness.machines.errors import NodeError, NodeSilent
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Fault, FaultTarget, Plan, WorkloadSpec
from tidemark.nemesis.damage import Damage
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

T = "t-0"


class PlayedNode:
    """A node whose process is a few attributes; it writes down what is done to it."""

    def __init__(self, node, machine, faults, on_lost, on_trace, control):
        self.node = node
        self.name = machine.name
        self.faults = faults
        self.lost = on_lost
        self.traced = on_trace
        self.control = self
        self.admin = SimpleNamespace(ask=self._ask)
        self.answer = {"refused": ""}
        self.places = SimpleNamespace(data="/data", volatile="/volatile", trace="/trace")
        self.hindrances = {}
        self.state = {}
        self.done = []
        self.rules_then = []
        self.process = "gone"
        self.end_told = ""
        self.fails = None
        self.blocked = ""
        self.go = threading.Event()

    def _do(self, what):
        assert what != self.blocked or self.go.wait(5)
        self.done.append(what)
        if self.fails == what:
            raise NodeError(f"{self.name} is on fire")

    def _ask(self, command, **entries):
        self._do(f"{command} {entries}")
        return self.answer

    def clean(self):
        self._do("clean")

    def start(self, config, *, clock_faults):
        self._do("start")
        self.end_told = ""
        self.process = "running"
        self.config = config

    def kill(self):
        self._do("kill")
        self.process = "gone"
        return monotonic_now_us(), self.end_told

    def terminate(self):
        self._do("terminate")

    def pause(self):
        self._do("pause")
        return self.process == "running"

    def resume(self):
        self._do("resume")

    def damage(self, files, damage, noise_seed):
        self._do(f"{damage.how} {files} {noise_seed}")
        return [{"file": "t-0/0.log", "bytes": 9, "cut": 3}]

    def end_itself(self, how):
        """As a process does that halts, or dies without a word."""
        self.process = "gone"
        self.end_told = how
        self.lost()

    def took_leave(self):
        return None if self.process == "running" else (self.end_told, "last words")

    def own_end(self):
        return self.end_told

    def lose_power(self, seed):
        self._do("lose power")
        self.seed = seed

    def fail_log_dir(self, fail):
        return fail(self)

    def fail_writes(self):
        self._do("fail writes")

    def mend_log_dir(self, mend):
        return mend(self)

    def lose_disk(self, partitions):
        self._do(f"lose disk {partitions}")

    def restart_machine(self, killed):
        self._do("restart machine")
        self.process = "gone"
        killed()

    def apply_links(self):
        self._do("links")

    def apply_rules(self):
        self.rules_then.append(dict(self.faults.transport_of(self.node)))
        self._do("rules")

    def apply_hindrances(self):
        self._do(f"hindrances {sorted(self.hindrances.values())}")

    def check_clock(self):
        self._do("clock")

    def unplug(self, wanted):
        self._do("unplug" if wanted() else "no need to unplug")

    def plug_in(self):
        self._do("plug in")

    def watch(self, events):
        self._do(f"watch {events}")

    def disk_is_full(self):
        return any(kind == "disk-full" for kind, _ in self.hindrances.values())

    def elect(self, partition, how, target):
        self._do(f"elect {partition} {how} {target}")

    def status(self, timeout_s=5.0):
        state = {"leader": 1, "isr": [1, 2], "replicas": [1, 2], **self.state}
        return {"partitions": {T: state}, "mono_us": monotonic_now_us()}

    def take_over(self):
        self._do("take over")
        self.process = "running"

    def end(self, *, goes_on=False):
        self._do("go on" if goes_on else "end")


def monotonic_now_us():
    from tidemark.harness.live.run_loop import monotonic_us

    return monotonic_us()


def played_machine(node):
    return SimpleNamespace(
        name=f"b{node}",
        inner_ip=f"10.0.0.{node}",
        internal=f"10.0.0.{node}:9092",
        advertised="x:1",
        admin_port=9990,
    )


CLOCK = (Fault("clock-jump", 0, amount=1),)


def played_cluster(system=None, faults=CLOCK, before=None):
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(brokers=2, replication_factor=2), WorkloadSpec(), faults, 0)
    machines = {node: played_machine(node) for node in range(3)}
    variant = parse_variant("kafka-2.7")
    return LiveCluster(machines, plan, variant, Recorder({}), delay="transport", system=system, before=before)


@contextmanager
def quiet_cluster(system=None):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_nodes, "ContainedNode", PlayedNode)
        made = played_cluster(system)
        made.boot()
        for node in made.nodes.values():
            node.done.clear()
        yield made
        made.close()


@pytest.fixture
def cluster():
    with quiet_cluster() as made:
        yield made


class WithControllerOfItsOwn(TidemarkSystem):
    """As real Kafka's, which is killed with its process."""

    fail_controller = None


@pytest.fixture
def killable():
    """A cluster whose controller's process can be killed."""
    with quiet_cluster(WithControllerOfItsOwn()) as made:
        yield made


def told(cluster):
    return [event[1:] for event in cluster._recorder.trace]


def settle(cluster):
    cluster.settle()
    cluster.run_until(cluster.now_us())
    cluster.settle()


def test_it_is_a_target_the_nemesis_can_use(cluster):
    for verb in (name for name in vars(FaultTarget) if not name.startswith("_")):
        assert callable(getattr(cluster, verb))


def test_boot_cleans_and_starts_every_node_and_knows_the_leaders(cluster):
    assert cluster.brokers() == (1, 2)
    assert cluster.partitions() == (T,)
    assert cluster.leader_of(T) == 1
    assert cluster.isr_of(T) == (1, 2)
    assert cluster.replicas_of(T) == (1, 2)
    assert cluster.clocks_us == {0: 0, 1: 0, 2: 0}
    assert [node.config["incarnation"] for node in cluster.nodes.values()] == [1, 1, 1]


class Lasting(TidemarkSystem):
    """Whose nodes can go on, unless it is told otherwise."""

    def __init__(self, *, same=True):
        self.same, self.done = same, []

    def can_go_on(self, before, after):
        return self.same

    def clear(self, controls, before):
        self.done.append(("clear", sorted(controls), before))

    def setup(self, controls, deployment):
        self.done.append("setup")

    def forget(self, controls, after):
        self.done.append("forget")


@pytest.fixture
def played(monkeypatch):
    monkeypatch.setattr(cluster_nodes, "ContainedNode", PlayedNode)
    made = []

    def play(*args, **options):
        made.append(played_cluster(*args, **options))
        return made[-1]

    yield play
    for one in made:
        one.close()


def test_nodes_that_go_on_are_taken_over_as_they_are(played):
    system, before = Lasting(), object()
    cluster = played(system, before=before)
    cluster.boot()

    assert cluster.goes_on
    assert {node.done[0] for node in cluster.nodes.values()} == {"take over"}
    assert system.done == [("clear", [0, 1, 2], before), "setup", "forget"]
    assert all(map(cluster.running, cluster.brokers()))
    cluster.stop(1, "crash")
    cluster.start(1)
    settle(cluster)
    assert cluster.nodes[1].config["incarnation"] == 2


@pytest.mark.parametrize("system", [Lasting(same=False), TidemarkSystem()])
def test_nodes_of_another_kind_are_started_anew(played, system):
    cluster = played(system, before=object())
    cluster.boot()

    assert not cluster.goes_on
    assert [node.done[:2] for node in cluster.nodes.values()] == [["clean", "start"]] * 3


def test_nodes_that_are_to_go_on_are_not_ended(played):
    cluster = played(Lasting())
    cluster.boot()

    assert cluster.close(go_on=True)
    assert [node.done[-1] for node in cluster.nodes.values()] == ["go on"] * 3


def test_a_node_that_cannot_be_left_is_told(played):
    cluster = played(Lasting())
    cluster.boot()
    cluster.nodes[2].fails = "go on"

    assert not cluster.close(go_on=True)


def may(cluster, *faults):
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), faults, 0)
    return may_go_on(cluster, plan)


def test_nodes_that_suffered_nothing_that_lasts_may_go_on(played):
    cluster = played(faults=())
    cluster.boot()
    assert may(cluster, Fault("crash", 0), Fault("isolate", 0))
    for lasting in ("clock-jump", "min-isr", "move-log-dir", "fail-log-dir"):
        assert not may(cluster, Fault(lasting, 0, amount=1)), lasting

    cluster.stop(1, "crash")
    assert not may(cluster)
    cluster.start(1)
    settle(cluster)
    assert may(cluster)


def test_a_node_that_gave_up_or_was_damaged_does_not_go_on(played):
    cluster = played(faults=())
    cluster.boot()
    cluster.processes.died.append({"node": 1})
    assert not may(cluster)
    cluster.processes.died.clear()
    cluster.stop(1, "damage")
    cluster.damage(1, Damage("cut-tail", 300, 0, 5))
    cluster.start(1)
    settle(cluster)
    assert not may(cluster)


def test_a_crash_is_traced_and_a_start_is_the_next_incarnation(cluster):
    cluster.stop(1, "crash")

    assert not cluster.running(1)

    cluster.start(1)

    assert cluster.running(1)
    settle(cluster)
    assert cluster.nodes[1].done == ["kill", "start"]
    assert cluster.nodes[1].config["incarnation"] == 2
    assert told(cluster) == [(1, "stop", "", "crash")]


def test_stopping_what_does_not_run_and_starting_what_does_is_nothing(cluster):
    cluster.start(1)
    cluster.stop(2, "crash")
    cluster.stop(2, "disk")
    settle(cluster)

    assert cluster.nodes[1].done == []
    assert cluster.nodes[2].done == ["kill"]


def test_a_machine_whose_process_was_killed_can_lose_its_power_once(cluster):
    for how in ("crash", "power", "power"):
        cluster.stop(1, how)
    settle(cluster)

    assert told(cluster) == [(1, "stop", "", "crash"), (1, "stop", "", "power")]
    assert cluster.nodes[1].done == ["kill", "lose power"]


def test_after_a_clean_stop_there_is_nothing_that_was_not_synced(cluster):
    cluster.stop(1, "clean")
    settle(cluster)
    cluster.nodes[1].end_itself("clean")
    settle(cluster)
    cluster.stop(1, "power")
    settle(cluster)

    assert cluster.nodes[1].done == ["terminate"]


def test_a_power_loss_draws_its_own_seed(cluster):
    cluster.stop(1, "power")
    cluster.stop(2, "power")
    settle(cluster)

    assert sorted(told(cluster)) == [(1, "stop", "", "power"), (2, "stop", "", "power")]
    assert cluster.nodes[1].done == ["kill", "lose power"]
    assert cluster.nodes[1].seed != cluster.nodes[2].seed


def test_a_lost_disk_keeps_a_directory_for_each_partition(cluster):
    cluster.stop(2, "disk")
    settle(cluster)

    assert cluster.nodes[2].done == ["kill", f"lose disk ('{T}',)"]
    assert told(cluster) == [(2, "stop", "", "disk")]


class PlayedMembers(TidemarkSystem):
    """Whose members the played nodes are; `agree` and `late` say whether the others take one out when they are asked, or later."""

    def __init__(self):
        self.members, self.agree, self.late = {1, 2, 3}, True, False

    def leave(self, node, deployment):
        if self.agree:
            self.members.discard(node)
        return "" if self.agree else "no majority"

    def join(self, node, deployment):
        if self.late:
            self.members.discard(node)
        had_left = node not in self.members
        self.members.add(node)
        return had_left


@pytest.fixture
def members():
    with quiet_cluster(PlayedMembers()) as made:
        yield made


def test_who_leaves_is_dead_before_and_comes_back_with_an_empty_disk(members):
    members.stop(1, "leave")
    settle(members)
    assert members.system.members == {2, 3}
    assert members.nodes[1].done == ["kill"]

    members.start(1)
    settle(members)

    assert members.system.members == {1, 2, 3}
    assert members.nodes[1].done == ["kill", f"lose disk ('{T}',)", "start"]
    assert told(members)[:1] == [(1, "stop", "", "crash")]
    assert [one["node"] for one in members.processes.joined] == [1]
    assert members.refused == []


def test_who_is_down_can_leave_too(members):
    members.stop(1, "crash")
    members.stop(1, "leave")
    settle(members)

    assert members.system.members == {2, 3}


def test_where_the_others_do_not_agree_nothing_is_deleted(members):
    members.system.agree = False
    members.stop(1, "leave")
    members.start(1)
    settle(members)

    assert members.nodes[1].done == ["kill", "start"]
    assert [(one["how"], one["target"], one["why"]) for one in members.refused] == [("leave", 1, "no majority")]
    assert members.processes.joined == []


def test_who_hears_later_that_it_has_left_begins_anew(members):
    members.system.agree = False
    members.stop(1, "leave")
    members.start(1)
    settle(members)
    members.system.late = True
    members.nodes[1].end_itself("fatal")
    settle(members)

    assert members.nodes[1].done == ["kill", "start", f"lose disk ('{T}',)", "start"]
    assert members.processes.died == []
    assert members.running(1)


def test_who_is_still_a_member_and_ends_by_itself_has_died(members):
    members.system.agree = False
    members.stop(1, "leave")
    members.start(1)
    settle(members)
    members.nodes[1].end_itself("fatal")
    settle(members)

    assert [one["node"] for one in members.processes.died] == [1]
    assert not members.running(1)


def test_files_are_damaged_once_the_process_is_dead_and_it_is_told_what_was_done(cluster):
    cluster.stop(1, "damage")
    cluster.damage(1, Damage("cut-tail", 300, 0, 5))
    settle(cluster)

    assert cluster.nodes[1].done[0] == "kill"
    assert cluster.nodes[1].done[1].startswith("cut-tail")
    assert told(cluster) == [(1, "stop", "", "damage")]
    assert [(one["node"], one["how"], one["files"][0]["cut"]) for one in cluster.processes.damage_done] == [
        (1, "cut-tail", 3)
    ]


def test_files_of_a_node_that_is_down_are_damaged_and_the_trace_tells(cluster):
    cluster.stop(1, "crash")
    cluster.stop(1, "damage")
    cluster.damage(1, Damage("flip-bits", 3, 0, 5))
    settle(cluster)

    assert told(cluster) == [(1, "stop", "", "crash"), (1, "stop", "", "damage")]


def test_who_ends_by_itself_on_damaged_files_has_refused_and_not_died(cluster):
    cluster.stop(1, "damage")
    cluster.damage(1, Damage("flip-bits", 3, 0, 5))
    cluster.start(1)
    settle(cluster)
    cluster.nodes[1].end_itself("fatal")
    settle(cluster)

    assert cluster.processes.died == []
    assert [(one["node"], one["incarnation"]) for one in cluster.processes.gave_up_damaged] == [(1, 2)]
    assert cluster.processes.gave_up(1)
    assert cluster.processes.damaged() == (1,)
    assert (1, 2) in cluster.processes.excused


def test_who_does_not_even_start_on_them_has_refused_too(cluster):
    cluster.stop(1, "damage")
    cluster.damage(1, Damage("flip-bits", 3, 0, 5))
    cluster.nodes[1].fails = "start"
    cluster.start(1)
    settle(cluster)
    settle(cluster)

    assert not cluster.running(1)
    assert [one["node"] for one in cluster.processes.gave_up_damaged] == [1]


def test_a_killed_container_is_a_power_loss(cluster):
    cluster.stop(1, "container")
    settle(cluster)

    assert cluster.nodes[1].done == ["restart machine"]
    assert told(cluster) == [(1, "stop", "", "power")]


def test_a_killed_container_is_a_crash_where_all_that_was_written_survives(cluster):
    cluster.system.container_kill = "crash"
    cluster.stop(1, "container")
    settle(cluster)

    assert told(cluster) == [(1, "stop", "", "crash")]


def test_a_clean_stop_ends_when_the_process_does(cluster):
    cluster.stop(1, "clean")
    cluster.stop(1, "clean")
    settle(cluster)

    assert cluster.running(1)
    assert cluster.nodes[1].done == ["terminate"]

    cluster.nodes[1].end_itself("clean")
    settle(cluster)

    assert not cluster.running(1)
    assert told(cluster) == []
    assert cluster.processes.died == []


def test_a_start_during_a_clean_stop_is_done_after_it(cluster):
    cluster.stop(1, "clean")
    cluster.start(1)
    settle(cluster)

    assert cluster.nodes[1].done == ["terminate"]

    cluster.nodes[1].end_itself("clean")
    settle(cluster)

    assert cluster.running(1)
    assert cluster.nodes[1].done == ["terminate", "start"]


def test_a_crash_during_a_clean_stop_wins_unless_the_process_was_faster(cluster):
    cluster.stop(1, "clean")
    cluster.stop(2, "clean")
    settle(cluster)
    cluster.nodes[2].end_told = "clean"
    cluster.stop(1, "crash")
    cluster.stop(2, "crash")
    settle(cluster)

    assert told(cluster) == [(1, "stop", "", "crash")]


def test_a_broker_that_gave_up_just_before_it_was_killed_is_known_to_have(cluster):
    cluster.system.is_halt = lambda words: words != "last words"
    cluster.hinder(5, 1, "disk-full", 0)
    settle(cluster)
    for broker in (1, 2):
        cluster.nodes[broker].end_told = "fatal"
        cluster.stop(broker, "crash")
    settle(cluster)

    assert told(cluster) == []  # each has told of its end itself
    assert cluster.processes.starved == {(1, 1)}
    (death,) = cluster.processes.died
    assert (death["node"], death["incarnation"], death["how"], death["log"]) == (2, 1, "broken-off", "last words")
    assert not cluster.processes.gave_up(1)


def test_pause_and_resume_are_traced_once(cluster):
    cluster.resume(1)
    cluster.pause(1)
    cluster.pause(1)
    cluster.resume(1)
    settle(cluster)

    assert told(cluster) == [(1, "pause", ""), (1, "resume", "")]


def test_a_stop_ends_a_pause(cluster):
    cluster.pause(1)
    cluster.stop(1, "crash")
    cluster.resume(1)
    settle(cluster)

    assert told(cluster) == [(1, "pause", ""), (1, "stop", "", "crash")]


def test_a_process_that_dies_without_a_word_is_noticed(cluster):
    cluster.nodes[1].end_itself("")
    settle(cluster)

    assert told(cluster) == [(1, "stop", "", "crash")]
    assert not cluster.running(1)
    assert cluster.processes.gave_up(1)
    (death,) = cluster.processes.died
    assert (death["node"], death["incarnation"], death["how"], death["log"]) == (1, 1, "broken-off", "last words")

    cluster.start(1)
    settle(cluster)

    assert not cluster.processes.gave_up(1)


def test_a_process_that_gives_up_has_traced_that_itself(cluster):
    cluster.nodes[1].end_itself("fatal")
    settle(cluster)

    assert told(cluster) == []
    assert [death["how"] for death in cluster.processes.died] == ["fatal"]


def test_a_lost_connection_is_no_death(cluster):
    cluster.nodes[1].lost()
    settle(cluster)

    assert cluster.running(1)


def test_a_run_without_its_controller_is_no_run(cluster):
    cluster.nodes[0].end_itself("")
    with pytest.raises(RunError, match=r"^the controller's process ended: last words$"):
        settle(cluster)


def test_our_own_controller_fails_and_is_replaced_while_its_process_goes_on(cluster):
    cluster.stop(0, "crash")
    assert not cluster.running(0)
    cluster.start(0)
    assert cluster.running(0)
    settle(cluster)

    assert cluster.nodes[0].done == ["controller {'there': False}", "controller {'there': True}"]
    assert told(cluster) == []


def test_while_the_controller_is_down_what_it_said_last_stands(killable):
    assert killable.leader_of(T) == 1
    controller = killable.nodes[0]
    controller.blocked = "start"
    answers = controller.status

    def status(timeout_s=5.0):
        raise NodeError("nobody there")

    controller.status = status
    killable.stop(0, "crash")
    killable.observation.forget()
    assert not killable.running(0)
    assert killable.leader_of(T) == 1
    killable.start(0)
    assert killable.leader_of(T) == 1
    controller.status = answers
    controller.go.set()
    settle(killable)

    assert controller.done == ["kill", "start"]
    assert told(killable) == []
    assert not killable.processes.away(0)


def test_a_controller_that_is_to_be_killed_again_while_it_starts_stays_away(killable):
    """It answers for a moment, and nobody knows then that it will be gone."""
    assert killable.leader_of(T) == 1
    controller = killable.nodes[0]
    controller.blocked = "start"
    killable.stop(0, "crash")
    killable.start(0)
    killable.stop(0, "crash")
    controller.go.set()
    settle(killable)

    assert controller.done == ["kill", "start", "kill"]
    assert killable.processes.away(0)


def test_what_cannot_be_done_fails_the_run(cluster):
    cluster.nodes[1].fails = "kill"
    cluster.stop(1, "crash")
    with pytest.raises(RunError, match=r"^cannot stop b1: b1 is on fire$"):
        settle(cluster)


def test_an_election_waits_for_the_fault_that_goes_with_it(cluster):
    """A fast failover elects, and then makes a replica deaf; the controller must be told in the other order."""
    cluster.elect(T, "forced", 2)
    cluster.set_link_fault(3, ((0, 1),), "lost-leadership", 0)
    settle(cluster)

    assert [what for what in cluster.nodes[0].done if what != "links"] == ["rules", f"elect {T} forced 2"]
    assert cluster.nodes[0].rules_then == [{"3": [{"kind": "leadership", "to": 1, "effect": "drop", "amount": 0}]}]


def test_the_controller_is_asked_for_a_reassignment_and_a_refusal_is_kept(cluster):
    controller = cluster.nodes[0]
    cluster.reassign(T, (2, 3))
    settle(cluster)
    assert cluster.refused == []
    controller.answer = {"refused": "it is under way"}
    cluster.reassign(T, (1,))
    settle(cluster)

    assert controller.done == [
        "reassign {'partition': 't-0', 'replicas': [2, 3]}",
        "reassign {'partition': 't-0', 'replicas': [1]}",
    ]
    assert [(one["how"], one["target"], one["why"]) for one in cluster.refused] == [
        ("reassignment", [1], "it is under way")
    ]


def test_the_controller_is_asked_to_change_settings_and_a_refusal_is_kept(cluster, monkeypatch):
    asked = []

    def set_min_isr(_controls, topics, min_isr):
        asked.append((sorted(topics), min_isr))
        return "" if min_isr == 2 else "it must not be so small"

    def switch_elr(_controls, *, on):
        asked.append(on)
        return "not now" if on else ""

    def allow_unclean(_controls, topics, *, on):
        asked.append((sorted(topics), on))
        return "" if on else "let it be"

    monkeypatch.setattr(cluster.system, "set_min_isr", set_min_isr, raising=False)
    monkeypatch.setattr(cluster.system, "allow_unclean", allow_unclean, raising=False)
    monkeypatch.setattr(cluster.system, "switch_elr", switch_elr, raising=False)
    assert cluster.set_min_isr(1) == 1
    assert cluster.set_min_isr(None) == cluster.deployment.cluster.min_isr_of(None)
    cluster.switch_elr(on=False)
    cluster.switch_elr(on=True)
    cluster.allow_unclean(on=True)
    cluster.allow_unclean(on=None)
    settle(cluster)

    of_first = (["t"], cluster.deployment.cluster.min_isr_of(None))
    assert asked == [(["t"], 1), of_first, False, True, (["t"], True), (["t"], False)]
    told = [(one["how"], one["target"], one["why"]) for one in cluster.refused]
    assert ("min-isr", 1, "it must not be so small") in told
    assert ("elr", 1, "not now") in told
    assert ("unclean", 0, "let it be") in told


def test_a_log_is_moved_after_its_throttle_is_set_and_a_refusal_is_kept(cluster, monkeypatch):
    asked = []

    def throttle_moves(_controls, broker, rate):
        asked.append((broker, rate))
        return "not so slow" if rate == 1 else ""

    def move_log(_controls, broker, partition):
        asked.append((broker, partition))
        return "it is there already" if broker == 2 else ""

    monkeypatch.setattr(cluster.system, "throttle_moves", throttle_moves, raising=False)
    monkeypatch.setattr(cluster.system, "move_log", move_log, raising=False)
    for move in ((T, 1, 100), (T, 2, 0), (T, 2, 1)):
        cluster.move_log(*move)
        settle(cluster)
    cluster.unthrottle_moves(1)
    settle(cluster)

    assert asked == [(1, 100), (1, T), (2, T), (2, 1), (1, 0)]
    told = [(one["how"], one["target"], one["why"]) for one in cluster.refused]
    assert told == [("move-log-dir", 2, "it is there already"), ("move-log-dir", 2, "not so slow")]


def test_a_log_directory_fails_and_is_mended_when_the_process_that_was_asked_to_shut_down_is_gone(cluster, monkeypatch):
    def fail_log_dir(control, partition, *, other):
        control.done.append(f"fail {partition} {other}")
        return "first"

    def mend_log_dir(control, *, emptied):
        control.done.append(f"mend {emptied} {control.process}")
        return "first", [T, "elsewhere-0"] if emptied else []

    monkeypatch.setattr(cluster.system, "fail_log_dir", fail_log_dir, raising=False)
    monkeypatch.setattr(cluster.system, "mend_log_dir", mend_log_dir, raising=False)
    node = cluster.nodes[1]
    cluster.boot()
    node.done.clear()
    cluster.fail_log_dir(T, 1, other=False)
    settle(cluster)
    cluster.mend_log_dir(1, emptied=True)
    settle(cluster)
    assert node.done == [f"fail {T} False", "fail writes", "terminate"]

    node.end_itself("clean")
    settle(cluster)
    assert node.done[3:] == ["mend True gone", "start"]


def test_where_nodes_have_one_log_directory_that_is_kept_too(cluster):
    cluster.move_log(T, 1, 0)
    settle(cluster)

    assert [one["why"] for one in cluster.refused] == ["has nodes with one log directory each"]


def test_where_nobody_can_change_settings_that_is_kept_too(cluster):
    cluster.set_min_isr(1)
    settle(cluster)

    assert [one["why"] for one in cluster.refused] == ["has no operator who could change its settings"]


def test_an_order_that_the_controller_did_not_answer_may_have_been_taken(cluster, monkeypatch):
    def silent(*_):
        raise NodeSilent("c hung up before it answered")

    monkeypatch.setattr(cluster.system, "reassign", silent)
    cluster.reassign(T, (2, 3))
    settle(cluster)

    assert [event[1:] for event in cluster._recorder.trace if event[2] == "ordered"] == [
        (0, "ordered", T, (2, 3), False)
    ]
    assert [one["why"] for one in cluster.refused] == ["c hung up before it answered"]


def test_a_broker_that_was_to_get_a_replica_may_have_something_of_it(cluster):
    assert cluster.partitions_on(3) == ()
    cluster.reassign(T, (2, 3))

    assert cluster.partitions_on(3) == cluster.partitions_on(1) == (T,)


def test_replicas_that_are_going_are_no_target(cluster):
    cluster.nodes[0].state = {"replicas": [1, 2, 3], "adding": [3], "removing": [1]}
    cluster.observation.forget()

    assert cluster.replicas_of(T) == (1, 2, 3)
    assert cluster.target_of(T) == (2, 3)


def test_link_faults_reach_every_node_they_concern_and_go_again(cluster):
    cluster.set_link_fault(3, ((1, 2), (2, 1), (1, -1)), "slow", 5)
    cluster.clear_link_fault(3)
    cluster.clear_link_fault(3)
    settle(cluster)

    assert sorted(cluster.nodes[1].done) == ["links", "links", "rules", "rules"]
    assert sorted(cluster.nodes[2].done) == ["links", "links", "rules", "rules"]
    assert cluster.nodes[0].done == []
    assert cluster.nodes[1].rules_then[-1] == {}


def test_link_faults_do_not_wait_for_a_process_that_is_starting(cluster):
    """Its process has a lane of its own."""
    node = cluster.nodes[1]
    node.blocked = "start"
    cluster.stop(1, "crash")
    cluster.start(1)
    cluster.set_link_fault(3, ((1, 2),), "cut", 0)
    while not {"links", "rules"} <= set(node.done):
        cluster.run_until(cluster.now_us() + 1_000)
    node.go.set()
    settle(cluster)

    assert node.done[-1] == "start"


def test_a_disconnected_broker_is_cut_off_before_its_cable_is_pulled(cluster):
    cluster.hinder(4, 2, "disconnect", 0)
    settle(cluster)

    assert [what for what in cluster.nodes[2].done if what != "rules"] == ["links", "unplug"]
    assert cluster.links.firewall_of(2)[4] == [
        "-p tcp -m tcp --sport 19092 -j DROP",
        "-p tcp -m tcp --dport 19092 -j DROP",
        "-s 10.0.0.0/32 -j DROP",
        "-s 10.0.0.1/32 -j DROP",
    ]

    cluster.unhinder(4)
    cluster.unhinder(4)
    settle(cluster)

    assert [what for what in cluster.nodes[2].done if what != "rules"] == ["links", "unplug", "links", "plug in"]
    assert cluster.links.firewall_of(2) == {}


def test_a_cable_is_not_pulled_any_more_once_the_disconnection_has_ended(cluster):
    node = cluster.nodes[2]
    node.blocked = "links"
    cluster.hinder(4, 2, "disconnect", 0)
    cluster.unhinder(4)
    node.go.set()
    settle(cluster)

    assert "no need to unplug" in node.done
    assert "unplug" not in node.done


def test_of_two_disconnections_the_last_to_end_puts_the_cable_back(cluster):
    cluster.hinder(4, 2, "disconnect", 0)
    cluster.hinder(5, 2, "disconnect", 0)
    cluster.unhinder(4)
    settle(cluster)

    assert "plug in" not in cluster.nodes[2].done

    cluster.unhinder(5)
    settle(cluster)

    assert cluster.nodes[2].done.count("plug in") == 1


def test_a_broker_that_gave_up_for_want_of_room_starts_when_there_is_some(cluster):
    node = cluster.nodes[1]
    cluster.hinder(5, 1, "disk-full", 0)
    node.end_itself("fatal")
    settle(cluster)

    assert not cluster.running(1)
    assert cluster.processes.died == []
    assert cluster.processes.starved == {(1, 1)}

    cluster.unhinder(5)
    settle(cluster)

    assert cluster.running(1)
    assert node.done == ["hindrances [('disk-full', 0)]", "hindrances []", "start"]


def test_a_broker_that_was_asked_to_stop_does_not_wait_for_room(cluster):
    cluster.hinder(5, 1, "disk-full", 0)
    cluster.stop(1, "clean")
    settle(cluster)
    cluster.nodes[1].end_itself("clean")
    settle(cluster)
    cluster.unhinder(5)
    settle(cluster)

    assert not cluster.running(1)


def test_a_broker_that_is_to_be_down_is_not_started_by_room(cluster):
    """Another fault holds it down: it gave up before, or gives up while it shuts down."""
    for node, stopped_first in ((1, False), (2, True)):
        cluster.hinder(5, node, "disk-full", 0)
        if stopped_first:
            cluster.stop(node, "clean")
        cluster.nodes[node].end_itself("fatal")
        settle(cluster)
        cluster.stop(node, "clean")
        cluster.unhinder(5)
        settle(cluster)

        assert not cluster.running(node)


def test_a_start_that_was_wanted_is_not_if_another_fault_stops_the_broker(cluster):
    cluster.stop(1, "clean")
    cluster.start(1)
    cluster.stop(1, "clean")
    cluster.nodes[1].end_itself("clean")
    settle(cluster)

    assert not cluster.running(1)


def test_a_broker_that_gives_up_just_when_room_is_made_starts_as_well(cluster):
    cluster.hinder(5, 1, "disk-full", 0)
    cluster.unhinder(5)
    settle(cluster)
    cluster.nodes[1].end_itself("fatal")
    settle(cluster)

    assert cluster.running(1)


def test_a_broker_that_cannot_start_for_want_of_room_waits_for_it(cluster):
    node = cluster.nodes[1]
    cluster.hinder(5, 1, "disk-full", 0)
    cluster.stop(1, "crash")
    settle(cluster)
    node.fails = "start"
    cluster.start(1)
    settle(cluster)

    assert not cluster.running(1)

    node.fails = None
    cluster.unhinder(5)
    settle(cluster)

    assert cluster.running(1)


def test_a_broker_that_does_not_start_fails_the_run(cluster):
    cluster.stop(1, "crash")
    cluster.nodes[1].fails = "start"
    cluster.start(1)
    with pytest.raises(RunError, match=r"^cannot start b1: b1 is on fire$"):
        settle(cluster)


def test_a_broker_that_ends_while_the_cluster_starts_is_named(monkeypatch):
    class Dying(PlayedNode):
        def start(self, config, *, clock_faults):
            super().start(config, clock_faults=clock_faults)
            if self.node == 2:
                self.end_itself("fatal")

    monkeypatch.setattr(cluster_nodes, "ContainedNode", Dying)
    machines = {node: played_machine(node) for node in range(3)}
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(brokers=2, replication_factor=2), WorkloadSpec(), (), 0)
    made = LiveCluster(machines, plan, parse_variant("kafka-2.7"), Recorder({}), delay="transport")
    try:
        with pytest.raises(RunError, match=r"^the process of b2 ended while the cluster started: last words$"):
            made.boot()
    finally:
        made.close()


def test_a_clock_jump_is_watched_until_the_process_sees_it(cluster):
    cluster.hinder(6, 1, "clock-jump", -5)
    settle(cluster)

    assert cluster.nodes[1].done == ["hindrances [('clock-jump', -5)]", "clock"]


def test_those_who_watch_an_event_are_told_the_node(cluster):
    seen = []
    cluster.on_trace("append", seen.append)
    cluster.on_trace("append", seen.append)
    cluster.on_trace("start", seen.append)
    settle(cluster)
    cluster.nodes[2].traced([1, 2, "append", T, 0, 0, 1])
    cluster.nodes[2].traced([1, 2, "hw", T, 1, 0, True])
    cluster.stop(1, "crash")
    cluster.start(1)
    settle(cluster)

    assert seen == [2, 2, 1]
    assert cluster.nodes[1].done[:2] == ["watch ('append',)", "watch ('append', 'start')"]


def test_the_end_leaves_nothing_behind(cluster):
    cluster.nodes[1].fails = "end"
    cluster.close()

    assert [node.done for node in cluster.nodes.values()] == [["end"], ["end"], ["end"]]


# Another system than our own nodes


class PlayedSystem(TidemarkSystem):
    """Writes down what it is asked, beside what had been done to the nodes until then."""

    def __init__(self):
        self.asked = []
        self.blocked = False
        self.go = threading.Event()
        self.nodes = {}

    def note(self, *what):
        self.asked.append((*what, {node: one.done.count("start") for node, one in self.nodes.items()}))

    def before_start(self, node, controls, deployment):
        assert not self.blocked or self.go.wait(5)
        self.note("before_start", node)

    def setup(self, controls, deployment):
        assert list(controls) == [0, 1, 2]
        assert controls[1].name == "b1"
        assert deployment.cluster.brokers == 2
        self.note("setup")

    def is_halt(self, words):
        return "log truncation" in words

    def came_too_early(self, words):
        return words == "my id is taken"


class KeepsItsController(PlayedSystem):
    """Its controller is killed with its process."""

    fail_controller = None


@pytest.fixture
def system(monkeypatch):
    """Of a cluster that boots when it is asked to."""
    monkeypatch.setattr(cluster_nodes, "ContainedNode", PlayedNode)
    system = PlayedSystem()
    system.cluster = played_cluster(system)
    system.nodes = system.cluster.nodes
    yield system
    system.cluster.close()


def booted(system):
    system.cluster.boot()
    system.asked.clear()
    return system.cluster


@pytest.mark.parametrize(("controller_first", "first"), [(True, 0), (False, 1)])
def test_a_system_may_want_its_controller_before_its_brokers(system, monkeypatch, controller_first, first):
    """Its start takes until that of broker 1 is done, or, where that waits for it, a while."""
    broker_runs = threading.Event()
    done = []
    begin = PlayedNode.start

    def start(self, config, *, clock_faults):
        if self.node == 0:
            broker_runs.wait(0.3 if controller_first else 5)
        begin(self, config, clock_faults=clock_faults)
        if self.node != 2:
            done.append(self.node)
            broker_runs.set()

    monkeypatch.setattr(PlayedNode, "start", start)
    system.controller_first = controller_first
    system.cluster.boot()

    assert done[0] == first


def test_the_topic_is_made_once_when_all_run(system):
    system.cluster.boot()

    assert system.asked == [("setup", {0: 1, 1: 1, 2: 1})]


def test_what_would_keep_a_process_from_starting_again_is_waited_for_before_it_is_started(system):
    cluster = booted(system)
    cluster.stop(1, "crash")
    cluster.start(1)
    settle(cluster)

    assert system.asked == [("before_start", 1, {0: 1, 1: 1, 2: 1})]
    assert system.nodes[1].done.count("start") == 2


def test_that_wait_is_the_nodes_own(system):
    """Links, other nodes and the run go on meanwhile."""
    cluster = booted(system)
    system.blocked = True
    cluster.stop(1, "crash")
    cluster.start(1)
    cluster.stop(2, "crash")
    cluster.set_link_fault(3, ((1, 2),), "cut", 0)
    while "kill" not in system.nodes[2].done or "links" not in system.nodes[1].done:
        cluster.run_until(cluster.now_us() + 1_000)

    assert system.nodes[1].done.count("start") == 1

    system.go.set()
    settle(cluster)

    assert system.nodes[1].done[-1] == "start"


@pytest.mark.parametrize(
    ("how", "words", "called"),
    [
        ("fatal", "Halting because log truncation is not allowed", "fatal"),
        ("fatal", "java.lang.OutOfMemoryError: Java heap space", "broken-off"),
        ("fatal", "", "broken-off"),
        ("", "Halting because log truncation is not allowed", "broken-off"),
        ("clean", "shut down completed", "clean"),
    ],
)
def test_only_an_end_that_the_protocol_wanted_is_a_finding(system, monkeypatch, how, words, called):
    cluster = booted(system)
    monkeypatch.setattr(system.nodes[1], "took_leave", lambda: (how, words))
    system.nodes[1].end_itself(how)
    settle(cluster)

    (death,) = cluster.processes.died
    assert (death["node"], death["how"], death["log"]) == (1, called, words)
    assert not cluster.running(1)


def settle_often(cluster):
    for _ in range(8):
        settle(cluster)


def comes_too_early(node, times):
    """Its next starts fail so many times, because its id is taken; stays as it is until it starts."""
    begin, fails = node.start, [True] * times

    def start(config, *, clock_faults):
        if not fails:
            begin(config, clock_faults=clock_faults)
            return
        fails.pop()
        node._do("start too early")
        node.end_told = "fatal"
        raise NodeError(f"{node.name}: the node process ended at once")

    node.start = start
    node.took_leave = lambda: None if node.process == "running" else (node.end_told, "my id is taken")


@pytest.mark.parametrize("node", [0, 1])
def test_who_comes_too_early_is_started_again_and_the_history_says_so(system, node):
    system.__class__ = KeepsItsController
    cluster = booted(system)
    comes_too_early(system.nodes[node], 2)
    cluster.stop(node, "crash")
    cluster.start(node)
    settle(cluster)
    settle(cluster)

    assert system.nodes[node].done[-3:] == ["start too early", "start too early", "start"]
    assert cluster.running(node)
    assert cluster.processes.died == []
    told = [(one["node"], one["incarnation"], one["log"]) for one in cluster.processes.started_again]
    assert told == [(node, 2, "my id is taken"), (node, 3, "my id is taken")]
    assert cluster.processes.excused == {(node, 2), (node, 3)}
    assert not cluster.processes.away(node)


def test_who_comes_too_early_again_and_again_is_given_up(system):
    cluster = booted(system)
    comes_too_early(system.nodes[1], 9)
    cluster.stop(1, "crash")
    cluster.start(1)
    settle_often(cluster)

    assert system.nodes[1].done.count("start too early") == 6
    assert not cluster.running(1)
    assert [(death["incarnation"], death["how"]) for death in cluster.processes.died] == [(7, "broken-off")]


def test_a_controller_that_comes_too_early_again_and_again_ends_the_run(system):
    system.__class__ = KeepsItsController
    cluster = booted(system)
    comes_too_early(system.nodes[0], 9)
    cluster.stop(0, "crash")
    cluster.start(0)
    with pytest.raises(RunError, match=r"^the controller's process ended: my id is taken$"):
        settle_often(cluster)


def test_a_start_that_works_begins_the_count_anew(system):
    cluster = booted(system)
    for _ in range(3):
        comes_too_early(system.nodes[1], 2)
        cluster.stop(1, "crash")
        cluster.start(1)
        settle_often(cluster)

    assert cluster.running(1)
    assert len(cluster.processes.started_again) == 6
    assert cluster.processes.died == []


def test_who_came_too_early_and_was_to_stop_is_not_started(system):
    cluster = booted(system)
    node = system.nodes[1]
    comes_too_early(node, 1)
    node.blocked = "start too early"
    cluster.stop(1, "crash")
    cluster.start(1)
    cluster.stop(1, "clean")
    node.go.set()
    settle_often(cluster)

    assert not cluster.running(1)
    assert node.done[-1] in {"start too early", "terminate"}
    assert cluster.processes.died == []


def test_a_broker_that_a_full_disk_ended_breaks_nothing_off(system):
    cluster = booted(system)
    cluster.hinder(5, 1, "disk-full", 0)
    system.nodes[1].end_itself("fatal")
    settle(cluster)

    assert cluster.processes.died == []
    assert cluster.processes.starved == {(1, 1)}


@pytest.mark.parametrize("kill", ["power", "crash"])
def test_what_the_kill_of_a_container_is_to_its_files_depends_on_the_system(system, kill):
    system.container_kill = kill
    cluster = booted(system)
    cluster.stop(1, "container")
    settle(cluster)

    assert told(cluster)[-1] == (1, "stop", "", kill)


def test_rules_may_have_to_be_in_force_on_nodes_that_a_fault_does_not_name(monkeypatch):
    class Everywhere(PlayedSystem):
        def spread(self, rules, nodes):
            said = [{**rule, "from": sender} for sender, of_sender in rules.items() for rule in of_sender]
            return dict.fromkeys(nodes, said)

    monkeypatch.setattr(cluster_nodes, "ContainedNode", PlayedNode)
    system = Everywhere()
    cluster = system.cluster = played_cluster(system)
    try:
        booted(system)
        cluster.set_link_fault(3, ((1, 2),), "slow", 5)
        settle(cluster)
        slow = {"kind": None, "to": 2, "effect": "delay", "amount": 5, "from": 1}

        assert [node.rules_then[-1] for node in cluster.nodes.values()] == [{"3": [slow]}] * 3

        cluster.clear_link_fault(3)
        settle(cluster)

        assert [node.rules_then[-1] for node in cluster.nodes.values()] == [{}] * 3
    finally:
        cluster.close()


def stands(cluster, broker, replica):
    """Let a broker's replica stand so, with five batches of two records; what it is asked."""
    asked = []
    answers = {"log": {"batches": [(base, 0, 2) for base in range(0, 10, 2)]}}

    def ask(command, **entries):
        asked.append((command, entries))
        return answers.get(command, {})

    cluster.nodes[broker].admin = SimpleNamespace(ask=ask)
    status = None if replica is None else {"partitions": {T: replica} if replica else {}}
    cluster.observation.statuses = lambda nodes, patience_s=2.0: dict.fromkeys(nodes, status)
    return asked


@pytest.mark.parametrize(("share", "offset"), [(0, 2), (500, 5), (1000, 8)])
def test_a_client_is_to_delete_a_share_of_what_is_below_the_leaders_high_watermark(cluster, share, offset):
    stands(cluster, 1, {"start": 2, "hw": 8})
    asked = []
    cluster.ask_to_delete = lambda *what: asked.append(what)
    cluster.delete_records(T, share)
    settle(cluster)

    assert asked == [(T, offset)]


@pytest.mark.parametrize("replica", [None, {}])
def test_nobody_knows_what_to_delete_where_the_leader_does_not_say(cluster, replica):
    assert stands(cluster, 1, replica) == []
    asked = []
    cluster.ask_to_delete = lambda *what: asked.append(what)
    cluster.delete_records(T, 500)
    cluster.retain(T, 1, 500)
    settle(cluster)
    cluster.stop(1, "crash")
    stands(cluster, 1, {"start": 2, "hw": 8})
    cluster.delete_records(T, 500)
    cluster.retain(T, 1, 500)
    settle(cluster)

    assert asked == []


@pytest.mark.parametrize(("share", "batches"), [(0, 0), (1, 1), (500, 2), (501, 3), (1000, 4)])
def test_retention_takes_a_share_of_the_batches_below_the_high_watermark(cluster, share, batches):
    asked = stands(cluster, 2, {"start": 2, "hw": 9})
    cluster.retain(T, 2, share)
    settle(cluster)

    assert asked[-1] == ("retention", {"partition": T, "batches": batches})


def test_a_broker_that_dies_before_its_retention_is_no_failure(cluster):
    stands(cluster, 2, {"start": 2, "hw": 9})

    def ask(command, **_):
        raise NodeError("b2 is gone")

    cluster.nodes[2].admin = SimpleNamespace(ask=ask)
    cluster.retain(T, 2, 1000)
    settle(cluster)

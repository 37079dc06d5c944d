"""Scripts reach a world through the target alone, and the history's faults are told the same in every world."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

import tidemark.harness.scenario
from tidemark.harness.scenario import find
from tidemark.harness.scenario.links import Link
from tidemark.harness.scenario.live.target import LiveTarget
from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.records import Names
from tidemark.harness.scenario.simulated import SimulatedTarget
from tidemark.harness.scenario.snapshots import Glance
from tidemark.harness.scenario.target import CannotPlayError, ScriptError, ScriptTarget
from tidemark.harness.scenario.verbs import Vocabulary, parse_command
from tidemark.harness.scenario.words import BrokerNames
from tidemark.nodes.core.variant import parse_variant

ROOM = Path(tidemark.harness.scenario.__file__).parent
NEUTRAL = sorted(path for path in ROOM.glob("*.py") if path.name != "play.py")


@pytest.mark.parametrize("path", NEUTRAL, ids=lambda path: path.stem)
def test_whatever_reads_scripts_knows_no_world(path):
    worlds = (
        "tidemark.harness.simulator",
        "tidemark.harness.live",
        "tidemark.harness.scenario.simulated",
        "tidemark.harness.scenario.live",
    )
    imported = [
        name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    ]

    assert [name for name in imported if name.startswith(worlds)] == []


@pytest.mark.parametrize("kind", [SimulatedTarget, LiveTarget])
def test_a_target_offers_everything(kind):
    assert issubclass(kind, ScriptTarget)
    assert kind.__abstractmethods__ == frozenset()


class Told:
    """A target that remembers what was asked of it."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *arguments: self.calls.append((name, *arguments))


CUT = (Link(None, 1, 2), Link(None, 2, 1))


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("send m1", ("send", ("m1",), None, None)),
        ("write m1, m2 to B with acks 1", ("write", ("m1", "m2"), 2, "1")),
        ("read from A", ("read", 1)),
        ("run 20 ms", ("run", 20_000)),
        ("cut A from B", ("block", CUT)),
        ("join A and B", ("unblock", CUT)),
        ("block leadership to A", ("block", (Link("leadership", None, 1),))),
        ("unblock acks from A", ("unblock", (Link("acks", 1, None),))),
        ("hold fetch requests from A, B", ("hold", (Link("fetch requests", 1, None), Link("fetch requests", 2, None)))),
        ("release heartbeats", ("release", (Link("heartbeats", None, None),))),
        ("crash A", ("end_process", 1, "crash")),
        ("stop B", ("end_process", 2, "clean")),
        ("wipe B", ("end_process", 2, "disk")),
        ("power off A keeping 2 batches", ("end_process", 1, "power", 2)),
        ("start A", ("start", 1)),
        ("crash the controller", ("crash_controller",)),
        ("start the controller", ("start_controller",)),
        ("pause A", ("pause", 1)),
        ("resume A", ("resume", 1)),
        ("delete records before 6", ("delete_records", 6, None)),
        ("delete records before 6 at B", ("delete_records", 6, 2)),
        ("retention on B drops 2 batches", ("retain", 2, 2)),
        ("elect B uncleanly", ("elect", "unclean", 2)),
        ("elect the preferred leader", ("elect", "preferred", 1)),
        ("reassign to B, A", ("reassign", (2, 1))),
        ("move the log of B", ("move_log", 2)),
        ("throttle moves on A to 100 bytes/s", ("throttle_moves", 1, 100)),
    ],
)
def test_a_command_is_one_call_of_the_stage(command, call):
    target = Told()
    parse_command(Vocabulary(BrokerNames(("A", "B")), Names()), command)(target)

    assert target.calls == [call]


def seen(role="follower", epoch=3, leader=1, leo=5, hw=4, hw_on_disk=2):
    return Glance(role, epoch, leader, leo, hw, hw_on_disk, start=3, start_on_disk=1)


@pytest.mark.parametrize(
    ("condition", "glance", "holds"),
    [
        ("B has LEO 5", seen(), True),
        ("B has HW 5", seen(), False),
        ("B has HW 2 on disk", seen(), True),
        ("B has log start 3", seen(), True),
        ("B has log start 1", seen(), False),
        ("B has log start 4", seen(), False),
        ("B has log start 1 on disk", seen(), True),
        ("B has log start 3 on disk", seen(), False),
        ("B follows A", seen(), True),
        ("B follows A in epoch 2", seen(), False),
        ("B follows A in epoch 3", seen(leader=2), False),
        ("B follows A", seen(role="no leader"), False),
        ("B leads", seen(role="leader", leader=-1), True),
        ("B leads epoch 4", seen(role="leader", leader=-1), False),
    ],
)
def test_conditions_need_no_more_than_a_glance(condition, glance, holds):
    assert came_true(condition, glance, spends_epochs=False) is holds


def came_true(condition, glance, *, spends_epochs):
    target = SimpleNamespace(
        glance=lambda broker: glance, wait=lambda what, condition, within: condition(), spends_epochs=spends_epochs
    )
    return parse_command(Vocabulary(BrokerNames(("A", "B")), Names()), f"until {condition}")(target)


@pytest.mark.parametrize(
    ("epoch", "holds"),
    [(3, False), (4, True), (5, True)],
)
def test_where_a_system_spends_epochs_that_no_script_counts_a_later_one_will_do(epoch, holds):
    leader, follower = seen(role="leader", leader=-1, epoch=epoch), seen(epoch=epoch)

    assert came_true("B leads epoch 4", leader, spends_epochs=True) is holds
    assert came_true("B follows A in epoch 4", follower, spends_epochs=True) is holds
    assert came_true("B leads epoch 4", leader, spends_epochs=False) is (epoch == 4)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("the ISR is B, A", True),
        ("the ISR is A", False),
        ("the leader is B", True),
        ("the leader is none", False),
        ("the replicas are B, A", True),
        ("the replicas are A", False),
        ("A is fenced", True),
        ("B is fenced", False),
        ("all is at rest", True),
    ],
)
def test_other_conditions_ask_the_stage(condition, holds):
    target = SimpleNamespace(
        isr=lambda: (1, 2),
        replicas=lambda: (1, 2),
        leader=lambda: 2,
        fenced=lambda broker: broker == 1,
        at_rest=lambda: True,
        wait=lambda what, condition, within: condition(),
    )

    assert parse_command(Vocabulary(BrokerNames(("A", "B")), Names()), f"until {condition}")(target) is holds


def test_a_log_end_has_no_checkpoint():
    with pytest.raises(ValueError, match="only a high watermark and a log start have a checkpoint on disk"):
        parse_command(Vocabulary(BrokerNames(("A",)), Names()), "until A has LEO 5 on disk")


@pytest.fixture
def target():
    scenario: Scenario = find("divergence-case-a")
    target = SimulatedTarget(scenario, parse_variant("kafka-2.7"))
    yield target
    target.dispose()


def test_a_given_log_is_told_once_however_many_have_it(target):
    """Both replicas have a0 and a1."""
    target.prepare()

    assert [(event[1], event[4], event[6]) for event in target.trace] == [
        (1, 0, (1,)),
        (1, 1, (2,)),
        (1, 2, (3,)),
        (1, 3, (4,)),
        (2, 0, (1,)),
        (2, 1, (2,)),
    ]
    assert [(op.type, op.value) for op in target.ops] == [
        (kind, (("send", "t-0", value),)) for value in (1, 2, 3, 4) for kind in ("invoke", "info")
    ]


def test_a_simulated_broker_has_one_log_directory(target):
    for command in (lambda: target.move_log(1), lambda: target.throttle_moves(1, 100)):
        with pytest.raises(CannotPlayError, match="simulated brokers have one log directory"):
            command()


def test_a_fault_and_its_healing_have_the_same_number(target):
    target.disturb_process(1, "power")
    target.block((Link("acks", 1, None),))
    target.mend("start", "node 1")
    target.mend("cut", f"cut {Link('acks', 1, None)}")

    assert [entry[1:] for entry in target.nemesis] == [
        ("strike", 0, "power", {"node": 1, "nodes": [1]}),
        ("strike", 1, "cut", {"link": [1, None], "messages": "acks"}),
        ("heal", 0, "start", {}),
        ("heal", 1, "cut", {}),
    ]


def test_a_controller_is_crashed_once_and_started_again(target):
    target.prepare()
    target.boot()
    target.crash_controller()
    with pytest.raises(ScriptError, match=r"^there is no controller$"):
        target.crash_controller()
    target.elect("forced", 2)
    target.start_controller()

    assert [entry[1:] for entry in target.nemesis if entry[3].startswith("controller")] == [
        ("strike", 0, "controller-crash", {"node": 0, "nodes": [0]}),
        ("heal", 0, "controller-crash", {}),
    ]
    assert [event[2] for event in target.trace if event[1] == 0 and event[2] in ("stop", "start", "elect")] == [
        *("elect", "stop", "start")
    ]


def test_what_a_script_left_without_controller_gets_one_in_the_end(target):
    target.prepare()
    target.boot()
    target.crash_controller()
    target.finish()

    assert [event[2] for event in target.trace if event[1] == 0 and event[2] in ("stop", "start")] == ["stop", "start"]


def test_without_a_leader_nothing_can_be_sent(target):
    target.prepare()

    with pytest.raises(ScriptError, match="there is no leader to send m1, m2 to"):
        target.addressee(("m1", "m2"), None)

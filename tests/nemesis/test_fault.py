"""A fault is a plain value that refuses what makes no sense."""

import pytest

from tidemark.nemesis import Fault, FaultError, Trigger
from tidemark.nemesis.fault import TARGETS, TRIGGER_EVENTS
from tidemark.nemesis.kinds import KINDS


def test_every_kind_says_what_it_does():
    assert all(row.sentence.in_plans for row in KINDS.values())


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("target", [*TARGETS, "b1", "b12"])
def test_every_kind_takes_every_target(kind, target):
    assert Fault(kind, 5, target=target).target == target


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"kind": "meteor"}, "unknown kind of fault 'meteor': known are isolate, "),
        ({"target": "master"}, "unknown target 'master': use leader, follower, isr-member, any or a broker such as b1"),
        ({"target": ""}, "unknown target ''"),
        ({"target": "b"}, "unknown target 'b'"),
        ({"target": "bx"}, "unknown target 'bx'"),
        ({"at_us": -1}, "must not be negative"),
        ({"lasts_us": -1}, "must not be negative"),
        ({"pick": -1}, "must not be negative"),
        ({"partition": -1}, "must not be negative"),
        ({"amount": -1}, "must not be negative"),
        ({"after": Trigger("append", 0)}, "a trigger needs nth ≥ 1 and an event among append, "),
        ({"after": Trigger("sunset", 1)}, "a trigger needs nth ≥ 1 and an event among append, "),
    ],
)
def test_nonsense_is_refused_with_what_would_do(kwargs, words):
    with pytest.raises(FaultError, match=words):
        Fault(**({"kind": "crash", "at_us": 5} | kwargs))


def test_defaults_are_left_out_of_json():
    assert Fault("crash", 5).to_json() == {"kind": "crash", "at_us": 5}


def test_a_fault_in_full():
    fault = Fault("isolate", 5, 6, "b2", 7, 1, 9, clients=True, after=Trigger("lead", 2, 3))
    data = {
        "kind": "isolate", "at_us": 5, "lasts_us": 6, "target": "b2", "pick": 7, "partition": 1, "amount": 9,
        "clients": True, "after": {"event": "lead", "nth": 2, "node": 3},
    }  # fmt: skip

    assert fault.to_json() == data
    assert Fault.from_json(data) == fault


@pytest.mark.parametrize("event", TRIGGER_EVENTS)
def test_a_trigger_may_wait_for_any_of_these_events(event):
    data = {"kind": "crash", "at_us": 5, "after": {"event": event, "nth": 1}}

    assert Fault.from_json(data).after == Trigger(event, 1, 0)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (5, "a fault is an object with at least kind and at_us"),
        ({"kind": "crash"}, "a fault is an object with at least kind and at_us"),
        ({"at_us": 5}, "a fault is an object with at least kind and at_us"),
        ({"kind": "crash", "at_us": 5, "when": 6}, "unknown entry 'when'"),
        ({"kind": "crash", "at_us": "5"}, "at_us must be int, not '5'"),
        ({"kind": "crash", "at_us": True}, "at_us must be int, not True"),
        ({"kind": "crash", "at_us": 5.0}, "at_us must be int, not 5.0"),
        ({"kind": 5, "at_us": 5}, "kind must be str, not 5"),
        ({"kind": "crash", "at_us": 5, "clients": 1}, "clients must be bool, not 1"),
        ({"kind": "crash", "at_us": 5, "after": 1}, "after is an object with event, nth"),
        ({"kind": "crash", "at_us": 5, "after": {"event": "lead"}}, "after is an object with event, nth"),
        ({"kind": "crash", "at_us": 5, "after": {"event": "lead", "nth": 1, "x": 1}}, "after is an object with event"),
        ({"kind": "crash", "at_us": 5, "after": {"event": "lead", "nth": "1"}}, "nth"),
        ({"kind": "crash", "at_us": 5, "after": {"event": "lead", "nth": 1, "node": "b1"}}, "node"),
        ({"kind": "crash", "at_us": 5, "after": {"event": ["lead"], "nth": 1}}, "event"),
    ],
)
def test_what_a_file_gets_wrong_is_named(data, words):
    with pytest.raises(FaultError, match=words):
        Fault.from_json(data)


def test_a_file_may_say_that_nothing_triggers_it():
    assert Fault.from_json({"kind": "crash", "at_us": 5, "after": None}) == Fault("crash", 5)


def test_faults_are_values():
    assert Fault("crash", 5) == Fault("crash", 5)
    assert len({Fault("crash", 5), Fault("crash", 5), Fault("crash", 6)}) == 2

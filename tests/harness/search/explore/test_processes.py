"""Processes that share the states of a search find what one finds, and none is left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.fingerprints import PrintsOf
from tidemark.harness.search.explore.invariants import INVARIANTS
from tidemark.harness.search.explore.processes import ProcessEndedError, in_step
from tidemark.harness.search.explore.search import Limits, explore
from tidemark.harness.search.explore.vocabulary import Spoken, Vocabulary
from tidemark.harness.search.explore.words import told
from tidemark.nodes.core.variant import parse_variant

ALL = tuple(INVARIANTS)
FAULTS = Bounds(brokers=2, records=1, epochs=2, crashes=1, lapses=1, unclean=True, late_answers=True)
SPACES = [
    ("kafka-3.7+forget-log-ends", Bounds(records=1, epochs=2), ALL, Limits()),
    ("kafka-2.7", FAULTS, ("OneLeader", "HwInLog"), Limits()),
    ("kafka-4.0", FAULTS, ("LeaderCompleteness",), Limits()),
    ("kafka-2.1+truncation@2=kip101", Bounds(brokers=2, epochs=2), ("HwInLog",), Limits()),
    ("kafka-2.1+truncation=hw", Bounds(records=1, epochs=2), ("StrongIsr",), Limits()),
    ("kafka-2.1", Bounds(), ("StrongIsr",), Limits(states=3_000)),
    ("kafka-2.1", Bounds(brokers=2, records=0, epochs=1), ("StrongIsr",), Limits()),
]


@pytest.mark.parametrize("jobs", [pytest.param(2, marks=pytest.mark.systems), 3])
@pytest.mark.parametrize(("name", "bounds", "invariants", "limits"), SPACES)
def test_what_is_found_does_not_depend_on_how_many_there_are(name, bounds, invariants, limits, jobs):
    variant = parse_variant(name)
    one, many = (explore(variant, bounds, invariants, limits, jobs=number) for number in (1, jobs))

    assert (many.outcome, many.states, many.moves, many.depth) == (one.outcome, one.states, one.moves, one.depth)
    if one.outcome == "broken":
        assert (told(many), many.invariant, many.why) == (told(one), one.invariant, one.why)


def test_the_core_is_asked_once_for_all():
    """But for what it takes to hear a word, which each process works out for itself."""
    variant, bounds = parse_variant("kafka-2.7"), Bounds(records=2, epochs=2)
    one, three = (explore(variant, bounds, ("StrongIsr",), jobs=jobs).worked_out for jobs in (1, 3))

    assert one <= three < 1.3 * one


def test_time_is_up_for_all():
    found = explore(parse_variant("kafka-2.1"), Bounds(), ("StrongIsr",), Limits(seconds=0.0), jobs=2)

    assert (found.outcome, found.states) == ("unfinished", 1)


def test_each_hands_something_to_every_other():
    def work(mesh):
        got = mesh.exchange([f"{mesh.rank} to {other}" for other in range(mesh.size)])
        return mesh.all(got)

    assert in_step(work, 4) == [[f"{one} to {other}" for one in range(4)] for other in range(4)]


def test_large_parcels_pass_each_other():
    def work(mesh):
        return [int(parcel.sum()) for parcel in mesh.all(np.full(500_000, mesh.rank))]

    assert in_step(work, 3) == [0, 500_000, 1_000_000]


def test_what_is_raised_in_one_is_raised_in_the_command():
    def work(mesh):
        if mesh.rank == 2:
            raise ZeroDivisionError("of mine")
        return mesh.all(mesh.rank)

    with pytest.raises(ZeroDivisionError, match="of mine"):
        in_step(work, 3)
    assert multiprocessing.active_children() == []


def test_one_that_is_ended_from_outside_is_told_of():
    def work(mesh):
        if mesh.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return mesh.all(mesh.rank)

    with pytest.raises(ProcessEndedError, match="one of the 3 processes was ended from outside"):
        in_step(work, 3)
    assert multiprocessing.active_children() == []


def test_none_is_left_when_the_command_is_interrupted():
    def work(mesh):
        mesh.all(mesh.rank)
        if mesh.rank == 0:
            raise KeyboardInterrupt
        return mesh.all(mesh.rank)

    with pytest.raises(KeyboardInterrupt):
        in_step(work, 3)
    assert multiprocessing.active_children() == []


def words(*known):
    values = list(known)

    def number(value):
        if value not in values:
            values.append(value)
        return values.index(value)

    return SimpleNamespace(values=values, of=Vocabulary(values, PrintsOf(values), number, 2))


def test_a_part_is_told_once_and_has_the_number_of_who_hears_it():
    mine, yours = words("a", "b", "c"), words("c")

    first, again = mine.of.say(np.array([1, 2, 1]), 1), mine.of.say(np.array([2, 0]), 1)

    assert (first.new, again.new) == (["b", "c"], ["a"])
    assert yours.of.hear(first, 0).tolist() == [1, 0, 1]
    assert yours.of.hear(again, 0).tolist() == [0, 2]
    assert yours.of.say(np.array([2]), 0).new == []


def test_a_part_that_two_call_by_different_fingerprints_is_refused():
    with pytest.raises(ValueError, match="different fingerprints"):
        words("a").of.hear(Spoken(np.array([0]), np.array([7], np.uint64), []), 0)


def test_ctrl_c_as_a_process_begins_is_the_command_s_to_act_on():
    program = (
        "import os, signal\n"
        "from tidemark.harness.search.explore.processes import in_step\n"
        "os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "print(in_step(lambda mesh: mesh.exchange([mesh.rank] * mesh.size), 2))\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout, done.stderr) == ("[0, 1]\n", "")

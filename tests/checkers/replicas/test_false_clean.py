"""A broker that is taken for cleanly shut down."""

import pytest

from tidemark.checkers import History, check

FIRST = [(1, 1, "start", "", 1), (2, 0, "register", "", 1, 0, False)]


def stop(time, how):
    return (time, 1, "stop", "", how)


def start(time, incarnation):
    return (time, 1, "start", "", incarnation)


def register(time, *, clean):
    return (time, 0, "register", "", 1, time, clean)


def found(*trace):
    verdict = check(History.of(trace=[*FIRST, *trace]))
    return [(one.time, one.evidence["how"]) for one in verdict.anomalies if one.name == "false-clean-shutdown"]


@pytest.mark.parametrize("how", ["crash", "power", "disk", "fatal"])
def test_who_ended_otherwise_is_not_taken_for_clean(how):
    assert found(stop(5, how), start(9, 2), register(10, clean=True)) == [(10, how)]
    assert found(stop(5, how), start(9, 2), register(10, clean=False)) == []


def test_who_shut_down_cleanly_may_be():
    assert found(stop(5, "clean"), start(9, 2), register(10, clean=True)) == []
    assert found(stop(5, "clean"), start(9, 2), register(10, clean=False)) == []


def test_what_is_heard_late_is_of_the_process_before_the_one_that_said_it():
    late = [stop(5, "clean"), start(6, 2), stop(7, "crash"), register(8, clean=True)]

    assert found(*late) == []
    assert found(*late, start(9, 3), register(10, clean=False)) == []
    assert found(*late, start(9, 3), register(10, clean=True)) == [(10, "crash")]


def test_a_clean_stop_is_told_of_once():
    twice = [stop(5, "clean"), start(6, 2), register(7, clean=True), stop(8, "crash"), start(9, 3)]

    assert found(*twice, register(10, clean=True)) == [(10, "crash")]


def test_bits_that_flip_while_nothing_runs_end_no_process():
    assert found(stop(5, "clean"), stop(6, "damage"), start(9, 2), register(10, clean=True)) == []
    assert found(stop(5, "damage"), start(9, 2), register(10, clean=True)) == [(10, "damage")]

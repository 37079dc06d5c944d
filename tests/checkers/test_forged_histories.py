"""Histories of invalid runs that were cut off, or forged (`bench.forgeries` has all of them, here is a sample)."""

import importlib.util
import sys
from pathlib import Path

import pytest

from tidemark.checkers.history.history_file import history_lines

PLACE = Path(__file__).parents[2] / "bench" / "forgeries.py"
SPEC = importlib.util.spec_from_file_location("bench_forgeries", PLACE)
forgeries = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = forgeries
SPEC.loader.exec_module(forgeries)


@pytest.fixture(scope="module")
def runs():
    return list(forgeries.invalid_runs(3))


def test_one_that_was_cut_off_is_never_valid(runs):
    for _, history in runs:
        lines = [line.encode() + b"\n" for line in history_lines(history)]
        found = [(cut, forgeries.judged(text).valid) for cut, text in list(forgeries.cuts(lines, every=False))[::3]]
        assert [cut for cut, valid in found if valid == "valid"] == []


def test_one_that_was_forged_is_valid_only_where_nothing_contradicts_it(runs):
    for name, history in runs:
        for forgery, forged in list(forgeries.forgeries(history))[::2]:
            verdict = forgeries.read_and_judged(forged)
            assert verdict is None or forgeries.contradicted(forged, verdict) == "", (name, forgery)


def test_without_its_trace_it_rests_on_the_clients_word(runs):
    found = [dict(forgeries.forgeries(history))["no trace, no replicas named"] for _, history in runs]

    assert {forgeries.read_and_judged(one).judged_from for one in found} == {"clients"}

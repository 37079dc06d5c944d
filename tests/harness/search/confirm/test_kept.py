"""Tries in a folder: what is kept of them, and what may be said of them."""

import json

import pytest

from tidemark.checkers import Anomaly, History, Verdict
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.search.confirm import Confirmation, KeptConfirmation, Modelled, Try
from tidemark.harness.search.confirm.confirmed_page import summary
from tidemark.harness.search.confirm.tries import failed, try_of_run
from tidemark.nemesis import Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

PLAN = Plan(0, 0, 0, "by hand", ClusterSpec(), WorkloadSpec(sends=()), (), 1)
MODELLED = Modelled(
    "kafka-4.0",
    "divergence",
    "it | was so",
    ("0.1 s crash",),
    "name: x\n",
    {"narrative": []},
    "B has m1",
    (5, 6),
    ("c",),
)

STOPPED_AND_FAILED = (
    "divergence seen in 1 of 3 tries on kafka:4.3.1 (1 did not come to the script's end; 1 could not be carried out; "
    "2 of 5 not made yet)"
)


def one_try(number, *, seen=True, stopped=""):
    valid = "invalid" if seen else "valid"
    return Try(number, seen, valid, stopped, ("violation divergence",) if seen else (), "told", (), 12.0)


@pytest.fixture
def kept(tmp_path):
    kept = KeptConfirmation(tmp_path / "find", "kafka:4.3.1")
    kept.keep(MODELLED, PLAN)
    return kept


def test_what_is_kept_is_read_again(kept):
    kept.take(one_try(1), None)

    again = KeptConfirmation(kept.folder, "kafka:4.3.1")
    assert again.modelled() == MODELLED
    assert again.tried(1) == one_try(1)
    assert again.tried(2) is None


def test_tries_belong_to_their_system(kept):
    kept.take(one_try(1), None)

    assert KeptConfirmation(kept.folder, "kafka:3.9.2").tried(1) is None


def test_a_script_that_somebody_changed_is_another(kept):
    kept.script.write_text("name: y\n")

    assert kept.modelled() is None


def test_damaged_files_are_made_again(kept):
    kept.take(one_try(1), None)
    (kept.folder / "kafka-4.3.1" / "try-1.json").write_text(json.dumps({"number": 1}))
    (kept.folder / "model.json").write_text("{")

    assert kept.tried(1) is None
    assert kept.modelled() is None


def test_a_try_that_could_not_be_carried_out_is_to_be_made_again(kept):
    kept.take(failed(1, "no route"), None)

    assert kept.tried(1) is None
    assert kept.confirmation(MODELLED, 2, {1: failed(1, "no route")}).tries == (failed(1, "no route"),)


@pytest.mark.parametrize(
    ("tries", "wanted", "words"),
    [
        ((one_try(1),), 1, "divergence seen in 1 of 1 try on kafka:4.3.1"),
        ((one_try(1), one_try(2, seen=False)), 2, "divergence seen in 1 of 2 tries on kafka:4.3.1"),
        (
            (one_try(1), one_try(2, seen=False, stopped="line 9: waited"), failed(3, "no route")),
            5,
            STOPPED_AND_FAILED,
        ),
    ],
)
def test_no_more_is_said_than_was_seen(tries, wanted, words):
    assert Confirmation(MODELLED, "kafka:4.3.1", tries, wanted).in_words == words


def test_a_summary_is_a_table_whatever_its_words_are():
    tries = (one_try(1), one_try(2, seen=False, stopped="line 9: A | B\nC"))
    rows = [line for line in summary(Confirmation(MODELLED, "x", tries, 2)).splitlines() if line.startswith("| ")]

    assert len(rows) == 3
    assert "line 9: A \\| B C" in rows[2]


@pytest.mark.parametrize(
    ("name", "anomaly", "verdict", "seen"),
    [
        ("lost-write", "lost-write", "violation", True),
        ("lost-write", "lost-committed-write", "violation", True),
        ("lost-write", "lost-committed-write", "permitted", False),
        ("divergence", "lost-committed-write", "violation", False),
    ],
)
def test_a_record_is_gone_for_its_readers_or_from_the_leaders_log(name, anomaly, verdict, seen):
    found = Verdict("invalid", "durable", (Anomaly(anomaly, verdict, 1, "t-0", "m1 is gone"),), None, {})
    one = try_of_run(1, name, JudgedRun(History.of(), found, "", 0, 2_000_000))

    assert (one.seen, one.message) == (seen, "m1 is gone" if seen else "")

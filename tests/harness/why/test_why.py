"""A failing plan under what repairs it: which repair is named, and at which step the two runs part."""

from dataclasses import replace

import pytest
from markupsafe import escape

from tidemark.checkers.verdict.verdict import Verdict
from tidemark.harness.report.moments import Moment
from tidemark.harness.report.pages import render_run
from tidemark.harness.report.why_section import Deed, Parting
from tidemark.harness.simulator.execute import execute
from tidemark.harness.why import why_of, why_of_stored
from tidemark.harness.why.candidates import ALL_REPAIRED, Candidate, candidates
from tidemark.harness.why.first_difference import first_difference
from tidemark.harness.why.parting import parting_of
from tidemark.harness.why.tried import _titled
from tidemark.harness.why.two_runs import rows_of
from tidemark.harness.zoo.entry import all_entries
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec


def why(variant, index):
    plan = generate_plan(1, index, "intact", ClusterSpec())
    run = execute(plan, variant)
    return plan, run, why_of_stored(plan, run.history, run.verdict)


def test_a_cut_to_the_high_watermark_is_repaired_by_asking_the_leader(tmp_path):
    plan, run, found = why("kafka-0.10", 98)

    repair = found.repair
    assert found.conditions[0].startswith("Broker 2 cut its log to 23, below the committed record at offset 23")
    assert (repair.variant, repair.title.split(":")[0]) == ("kafka-0.10+truncation=kip101", "it repairs KIP-101-loss")
    assert (repair.whole, repair.pairs) == (False, 0)
    assert "truncation" in [row.topic for row in repair.differences]
    names = [one.variant for one in found.not_enough]
    assert len(names) + len(repair.valid) == sum(repair.tried)
    assert {one.valid for one in found.not_enough} == {"invalid"}
    assert "kafka-0.10+hw-fence" in names
    assert not {*names} & {*repair.valid}
    assert repair.parting.node == 2
    assert repair.parting.failing.sentence.startswith(
        "Broker 2 cuts its log from 24 to 23 in epoch 1 (to high watermark)"
    )
    assert "asks leader 3 where epoch 0 ended" in repair.parting.instead
    assert [row.same for row in repair.rows[:6]] == [True] * 6  # up to the acknowledgement
    assert next(row for row in repair.rows if row.parts).failing == repair.parting.failing

    page = render_run(plan.to_json(), run.history, run.verdict, tmp_path, found).read_text(encoding="utf-8")
    assert "Here the two runs part, at 2.71" in page
    assert "tidemark run --plan plan.json --variant kafka-0.10+truncation=kip101" in page
    for one in found.not_enough:
        assert f"<li><code>{one.variant}</code> ({escape(one.title)}): breaks its promise too</li>" in page


@pytest.mark.systems
def test_two_repairs_are_tried_together_where_none_is_enough_alone(tmp_path):
    """KIP-279's rule loses the record as well: another broker counts a follower of another lineage."""
    plan, run, found = why("kafka-0.11", 1858)

    repair = found.repair
    assert repair.variant == "kafka-0.11+truncation=kip279+fetch-fence"
    assert repair.title.startswith("two repairs, neither of which is enough alone: KAFKA-6361: ")
    assert "; KAFKA-6880: " in repair.title
    assert (repair.whole, repair.pairs) == (False, 66)
    failed = {one.variant: one.valid for one in found.not_enough}
    assert (failed["kafka-0.11+fetch-fence"], failed["kafka-0.11+truncation=kip279"]) == ("invalid", "invalid")
    assert execute(plan, "kafka-2.0").verdict.valid == "invalid"
    assert {row.topic for row in repair.differences} >= {"truncation", "fence: fetch"}

    page = render_run(plan.to_json(), run.history, run.verdict, tmp_path, found).read_text(encoding="utf-8")
    assert "12 variants of kafka-0.11 with one thing repaired, 66 with two and 1 whole version" in page


def test_a_whole_version_is_not_named_for_a_bug_whose_repair_alone_is_not_enough():
    entry = next(one for one in all_entries() if one.key == "KAFKA-6361")
    whole = Candidate("kafka-2.1", 0, "it repairs KAFKA-6361: …", "wrong", entry)
    alone = Candidate("kafka-0.11+truncation=kip279", 1, "it repairs KAFKA-6361: …", "wrong", entry)

    assert _titled(whole, "kafka-0.11", []) is whole
    assert _titled(alone, "kafka-0.11", [alone]) is alone
    found = _titled(whole, "kafka-0.11", [alone])
    assert (found.variant, found.title, found.wrong) == (
        "kafka-2.1",
        "it repairs KAFKA-6361, which alone is not enough, and more",
        "",
    )


def test_a_fence_that_is_missing_is_named_and_nothing_else_is_changed():
    _, _, found = why("kafka-2.0", 112)

    assert found.cause[0].endswith("told by a leader that had not heard of that epoch)")
    assert found.repair.variant == "kafka-2.0+truncation-fence"
    assert [row.topic for row in found.repair.differences] == ["fence: truncation"]
    assert found.repair.parting.failing.time == 1_569_879  # when the record is cut off


@pytest.mark.systems
def test_one_thing_repaired_is_preferred_to_a_whole_version_and_the_first_event_that_differs_is_told(tmp_path):
    """Of a loss that kafka-0.11 and 2.0 share, so that what is between them is not why."""
    plan, run, found = why("kafka-0.11", 1834)

    repair = found.repair
    assert (repair.variant, repair.whole) == ("kafka-0.11+hw-fence", False)
    assert "kafka-2.1" in repair.valid
    first = repair.first
    assert first.time < repair.parting.time
    assert run.history.trace[first.same][:3] == (first.failing.time, 1, "hw")  # the rule that is missing, at work
    assert first.failing.sentence == "broker 1 moves its high watermark to 52, as leader in epoch 2"
    repaired = execute(plan, repair.variant).history.trace
    assert repaired[: first.same] == run.history.trace[: first.same]
    assert repaired[first.same] != run.history.trace[first.same]

    page = render_run(plan.to_json(), run.history, run.verdict, tmp_path, found).read_text(encoding="utf-8")
    assert f"for {first.same} events the two runs are the same" in page
    assert "past the record: it is committed, although broker 2 holds another record there." in page
    assert "its producer was never told that it is written" in page


def test_two_runs_that_are_the_same_have_no_first_difference():
    plan = generate_plan(1, 0, "intact", ClusterSpec())
    run = execute(plan, "kafka-2.7")

    assert first_difference(run.history, run.history) is None
    shorter = replace(run.history, trace=run.history.trace[:-1])
    found = first_difference(shorter, run.history)
    assert (found.same, found.failing) == (len(shorter.trace), None)
    assert found.repaired.time == run.history.trace[-1][0]


@pytest.mark.systems
def test_what_is_stuck_parts_where_the_repaired_controller_acts():
    _, _, found = why("kafka-2.1", 352)

    assert found.conditions == ("Broker 2 has not been told anything since it started.",)
    assert found.repair.variant == "kafka-2.1+bounce-detection"
    assert found.repair.parting.failing is None
    assert "makes broker 2 leader" in found.repair.parting.repaired.sentence


def test_a_run_that_broke_no_promise_needs_no_why():
    plan, run, found = why("kafka-2.7", 0)

    assert (run.verdict.valid, found) == ("valid", None)
    assert why_of(plan, "kafka-2.7", None, run.history, Verdict("unknown", "documented", (), "?", {})) is None


@pytest.mark.parametrize(
    ("variant", "first", "last"),
    [
        ("kafka-0.10", "kafka-2.1", ALL_REPAIRED),
        ("kafka-2.1+KAFKA-7128", "kafka-2.1", ALL_REPAIRED),
        ("kafka-4.0", "kafka-4.0+forget-log-ends", ALL_REPAIRED),
        ("quorum-hwm", "quorum-hwm+repaired", "quorum-hwm+repaired"),
    ],
)
def test_its_own_repairs_are_tried_first_and_later_presets_last(variant, first, last):
    names = [one.variant for one in candidates(variant)]

    assert first in names[:3]
    assert names[-1] == last
    assert len(set(names)) == len(names)
    assert variant not in names


def test_runs_that_do_the_same_do_not_part():
    _, run, _ = why("kafka-2.7", 0)

    assert parting_of((run.history, []), (run.history, []), "t-0") is None


def test_a_step_of_both_is_one_row_and_where_they_part_has_its_own():
    both, cut, asks = (Moment(time, 1, "x", words) for time, words in ((1, "both"), (2, "hears. cuts."), (2, "asks.")))
    parting = Parting(1, Deed(2, "cuts."), Deed(3, "leads."))

    rows = rows_of([both, cut], [both, asks], parting)

    told = [(row.failing and row.failing.sentence, row.repaired and row.repaired.sentence) for row in rows]
    assert told == [("both", "both"), ("hears.", None), (None, "asks."), ("cuts.", "leads.")]
    assert [row.parts for row in rows] == [False, False, False, True]


@pytest.mark.parametrize("name", ["raft+no-sync", "bookkeeper+no-fencing"])
def test_a_flaw_without_a_word_for_its_repair_is_repaired_by_leaving_it_out(name):
    assert [candidate.variant for candidate in candidates(name)] == [name.split("+")[0]]

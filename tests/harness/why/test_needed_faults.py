"""Which faults a failure takes: found by leaving them out, told in words, and marked in the story, the picture and the table."""

from dataclasses import replace

import pytest

from tidemark.checkers.history.history import History
from tidemark.harness.report.comparison import Example
from tidemark.harness.report.fault_words import as_planned, as_struck, in_general
from tidemark.harness.report.needed_faults_text import DecidingFaults
from tidemark.harness.report.pages import render_run
from tidemark.harness.report.story import choose_anomaly, tell
from tidemark.harness.simulator.execute import execute
from tidemark.harness.why import deciding_faults_of_example, why_of_stored
from tidemark.harness.why.needed_faults import deciding_faults
from tidemark.nemesis import generate_plan
from tidemark.nemesis.kinds import KINDS
from tidemark.nodes.core.cluster import ClusterSpec


def failing(variant, index):
    plan = generate_plan(1, index, "intact", ClusterSpec())
    run = execute(plan, variant)
    anomaly = choose_anomaly(run.verdict)
    return plan, run, anomaly, deciding_faults(plan, variant, None, run.history, run.verdict, anomaly)


def test_a_fault_without_which_the_plan_is_harmless_decided():
    plan, run, anomaly, found = failing("kafka-0.10", 1323)

    assert len(plan.faults) == 3
    assert (found.enough, found.needed) == ((0,), (0,))
    assert found.in_words(run.history) == (
        "Fault 1 decided: at 0.717 s fast-failover on broker 3 (follower of t-0), then broker 2. "
        "The plan was run again with fewer faults: not without it, but with it alone it fails in the same way."
    )

    moments = tell(run.history, anomaly, found.enough).moments
    marked = [moment for moment in moments if moment.decided]
    assert [moment.sentence for moment in marked] == [
        "Decisive: fault 1 of the plan strikes broker 3: fast-failover (elect broker 3 and, shortly after, broker 2)."
    ]
    assert moments.index(marked[0]) < next(
        place for place, moment in enumerate(moments) if "is gone from this replica" in moment.sentence
    )
    assert not any(moment.decided for moment in tell(run.history, anomaly).moments)


def test_two_faults_that_must_come_together_are_both_named():
    _, run, _, found = failing("kafka-0.11", 1834)

    assert (found.enough, found.needed) == ((1, 2), (1, 2))
    assert "not without either of them, but with these alone it fails in the same way" in found.in_words(run.history)


def test_a_fault_whose_place_another_takes_is_not_said_to_be_needed():
    _, run, _, found = failing("kafka-0.10", 816)

    assert (found.enough, found.needed) == ((3, 4), ())
    assert "another fault of the plan can take the place of one" in found.in_words(run.history)


def test_a_failure_that_needs_no_fault_says_so():
    assert DecidingFaults((), (), 3).in_words(History.of()) == "No fault decided: the same comes about without any."


def test_a_restart_that_decided_is_told_with_the_way_back():
    _, run, anomaly, found = failing("kafka-2.1", 1059)

    told = [moment.sentence for moment in tell(run.history, anomaly, found.enough).moments]
    assert told[0].startswith("Decisive: fault 4 of the plan strikes broker 2: restart (")
    assert any(sentence.startswith("Broker 2 comes back: it starts again, after 0.057 s.") for sentence in told)


def test_the_page_marks_the_fault_in_picture_steps_and_table(tmp_path):
    plan, run, _, _ = failing("kafka-0.10", 1323)
    why = why_of_stored(plan, run.history, run.verdict)
    page = render_run(plan.to_json(), run.history, run.verdict, tmp_path, why).read_text(encoding="utf-8")

    assert "<strong>Which fault:</strong> Fault 1 decided" in page
    assert "a decisive fault strikes" in page  # the picture's legend
    assert page.count('<li class="key decided">') == 1
    assert (
        page.count('<tr role="row" class="decided"><th scope="row" role="rowheader">1 <strong>◆ decided</strong>') == 1
    )
    both = 'class="decided"><th scope="row" role="rowheader">0.7169\N{NO-BREAK SPACE}s</th><td role="cell" colspan="2"'
    assert page.count(f'{both} data-of="both"><div>Decisive: fault 1 of the plan strikes broker 3') == 1
    assert page.count('<tr role="row" class="decided">') == 2


def test_a_fault_that_decided_is_marked_in_both_runs_side_by_side_where_the_story_tells_of_no_record():
    plan, run, _, found = failing("kafka-2.1", 1059)
    rows = why_of_stored(plan, run.history, run.verdict).repair.rows

    assert found.enough == (3,)
    told = [(row.failing.sentence, row.same) for row in rows if row.decided]
    assert [
        sentence.startswith("Decisive: fault 4 of the plan strikes broker 2: restart (") for sentence, _ in told
    ] == [True]
    assert told[0][1]


def test_of_real_brokers_nobody_says_what_decided():
    plan, run, anomaly, _ = failing("kafka-0.10", 1323)
    simulated = Example("kafka-0.10", 1323, plan.to_json(), run.history, run.verdict)
    elsewhere = replace(run.history, meta=run.history.meta | {"world": "docker", "system": "kafka:2.8.2"})

    assert deciding_faults_of_example(simulated, anomaly).enough == (0,)
    assert deciding_faults_of_example(replace(simulated, history=elsewhere), anomaly) is None


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_fault_does_names_no_field_of_the_plan(kind):
    for words in (in_general(kind), as_planned({"kind": kind, "amount": 30, "pick": 1}), as_struck(kind, {"node": 1})):
        assert words
        assert "`" not in words
        assert not words.startswith("these ")

"""What a partition that never came to rest meant for its clients: from their operations since healing began."""

from typing import Any

import pytest

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.replicas.stuck import STUCK
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly
from tidemark.harness.report.pages import render_run
from tidemark.harness.report.when_stuck import seen_by_clients
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec

OVER = 5_000_000


def send(time: int, kind: str, value: int, key: str = "t-0", error: str | None = None) -> Op:
    return Op(time, "p1", kind, "send", (("send", key, (0, value) if kind == "ok" else value),), error, "all")


def poll(time: int, error: str | None = None) -> Op:
    return Op(time, "c1", "fail" if error else "ok", "poll", (("poll", None if error else {"t-0": []}),), error)


def elected(*isr: int) -> tuple[Any, ...]:
    return (1_000, 0, "elect", "t-0", 1, 1, isr, (), "online", True, 0)


def told(*ops: Op, trace: tuple[tuple[Any, ...], ...] = (), partitions: int = 1, **meta: object) -> list[str]:
    replicas = {f"t-{number}": [1, 2, 3] for number in range(partitions)}
    meta = {"faults_end_us": OVER, "min_isr": 2, "acks": "all"} | meta
    history = History.of(ops=ops, trace=trace, replicas=replicas, **meta)
    return seen_by_clients(history, [Anomaly(STUCK, VIOLATION, 9, "t-0", "It did not come to rest.")])


def test_clients_that_went_on_are_said_to_have_gone_on():
    (words,) = told(send(OVER + 1, "ok", 1), send(OVER + 2, "ok", 2), poll(OVER + 3), trace=(elected(1, 3),))

    assert words == (
        "Since healing began, at 5.000 s, t-0 went on: all 2 sends that ended later were acknowledged. The one poll that "
        "ended later was answered. In sync at the end, as far as the controller knows: brokers 1 and 3. That is min ISR, 2, and no "
        "more: with one less, a leader refuses sends with acks=all."
    )


def test_clients_that_were_refused_are_told_how_and_since_when():
    late = [send(OVER + at, "fail", at, error=error) for at, error in ((1, "NOT_ENOUGH_REPLICAS"), (2, "TIMED_OUT"))]
    polls = [poll(OVER + 4), poll(OVER + 5, "TIMED_OUT")]
    change = (2_000_000, 0, "isr-change", "t-0", (1,), (), 2)

    (words,) = told(send(2_859_000, "ok", 1), *late, *polls, trace=(elected(1, 2, 3), change))

    assert words == (
        "Since healing began, at 5.000 s, none of the 2 sends to t-0 that ended later was acknowledged "
        "(NOT_ENOUGH_REPLICAS: 1, TIMED_OUT: 1). The last was acknowledged at 2.859 s. Of the 2 polls that ended later 1 was "
        "answered (TIMED_OUT: 1). In sync at the end, as far as the controller knows: broker 1. That is fewer than min ISR, 2: a "
        "leader that knows it refuses sends with acks=all."
    )


def test_some_that_were_acknowledged_are_counted():
    (words,) = told(send(OVER + 1, "ok", 1), send(OVER + 2, "info", 2, error="TIMED_OUT"), send(OVER + 3, "ok", 3))

    assert words.endswith("2 of the 3 sends to t-0 that ended later were acknowledged (TIMED_OUT: 1).")


def test_sends_to_other_partitions_and_polls_of_many_do_not_count():
    (words,) = told(send(OVER + 1, "ok", 1, "t-1"), poll(OVER + 2), partitions=2)

    assert words == "Since healing began, at 5.000 s, no send to t-0 ended in any way. None was before, either."


@pytest.mark.parametrize("meta", [{"acks": "1"}, {"isr": False}])
def test_where_acknowledgements_do_not_wait_for_an_isr_it_is_not_counted(meta):
    (words,) = told(send(OVER + 1, "ok", 1), trace=(elected(1),), **meta)

    assert "In sync" not in words


def test_of_a_history_that_does_not_say_when_faults_were_over_nothing_is_told():
    assert told(send(OVER + 1, "ok", 1), faults_end_us=None) == []
    assert seen_by_clients(History.of(faults_end_us=OVER), [Anomaly("lost-write", VIOLATION, 9, "t-0", "Lost.")]) == []


def test_the_page_of_a_stuck_run_tells_it(tmp_path):
    plan = generate_plan(1, 352, "intact", ClusterSpec())
    run = execute(plan, "kafka-2.1")
    page = render_run(plan.to_json(), run.history, run.verdict, tmp_path).read_text(encoding="utf-8")

    assert "<strong>For clients:</strong> Since healing began, at 4.830 s, none of the 3 sends to t-0" in page

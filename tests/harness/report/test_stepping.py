"""Stepping through a story: the page says of each broker at each moment what the trace says, and nothing where that is silent."""

from __future__ import annotations

import re
from dataclasses import astuple
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import Append, Follow, Hw, Lead, LogStart, Recovered, Stop, Truncate
from tidemark.checkers.verdict.verdict import Verdict
from tidemark.harness.report.broker_states import BrokerState, states_at, states_of_both
from tidemark.harness.report.environment import STEPS, digest_of
from tidemark.harness.report.lanes import lanes_of
from tidemark.harness.report.pages import render_run
from tidemark.harness.report.story import choose_anomaly, tell
from tidemark.harness.report.why_section import Deed, Repair, SideBySide, Why
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Plan, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec

PARTITION = "t-0"


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Plan 98 of seed 1, which the README runs."""
    return generate_plan(1, 98, "intact", ClusterSpec())


@pytest.fixture(scope="module")
def run(plan: Plan) -> JudgedRun:
    return execute(plan, "kafka-0.10")


@pytest.fixture(scope="module")
def page(plan: Plan, run: JudgedRun, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    return render_run(plan.to_json(), run.history, run.verdict, folder).read_text(encoding="utf-8")


def read(history: History, node: int, time: int) -> tuple[str, str, str, str]:
    """Role, epoch, log end and high watermark as the trace alone says, by another way than lanes: all of it is read again."""
    role = epoch = leo = hw = ""
    for event in history.trace:
        if event[1] != node or event[0] > time:
            continue
        match event[2]:
            case "lead":
                lead = Lead(event)
                role, epoch, leo, hw = "leader", str(lead.leader_epoch), str(lead.leo), str(lead.hw)
            case "follow":
                follow = Follow(event)
                role = f"follows {follow.leader}" if follow.leader > 0 else "no leader"
                epoch, leo, hw = str(follow.leader_epoch), str(follow.leo), str(follow.hw)
            case "append":
                leo = str(Append(event).base_offset + len(Append(event).values))
            case "truncate":
                leo = str(Truncate(event).to)
            case "log-start" if LogStart(event).how == "begin-anew":
                leo = str(LogStart(event).start)
            case "recovered":
                leo, hw = str(Recovered(event).leo), str(Recovered(event).hw)
            case "hw":
                hw = str(Hw(event).hw)
            case "stop":
                assert Stop(event).how
                role = epoch = leo = hw = ""
    return role, epoch, leo, hw


def tables(page: str) -> list[list[list[list[str]]]]:
    """Of each table of states: of each moment: of each row, its cells; the first row names the moment."""
    return [
        [
            [[unescape(cell).strip() for cell in re.split(r"<t[hd][^>]*>", row)[1:]] for row in body.split("<tr>")[1:]]
            for body in re.split("<tbody>", table)[1:]
        ]
        for table in re.findall(r'<details class="states">.*?<table[^>]*>(.*?)</table>', page, re.DOTALL)
    ]


def test_the_page_says_of_each_broker_at_each_moment_what_the_trace_says(run: JudgedRun, page: str) -> None:
    anomaly = choose_anomaly(run.verdict)
    assert anomaly is not None
    moments = tell(run.history, anomaly).moments
    (table,) = tables(page)

    assert len(table) == len(moments) > 10
    for moment, ((said,), *rows) in zip(moments, table, strict=True):
        assert said.startswith(f"{moment.number}, at {moment.time / 1e6:.4f}")
        assert [(row[0], *row[2:]) for row in rows] == [
            (str(node), *read(run.history, node, moment.time)) for node in (1, 2, 3)
        ]
    gives_up = next(moment for moment in moments if "gives up" in moment.sentence)
    assert table[gives_up.number - 1][1:] == [
        ["1", "down (fatal)", "", "", "", ""],
        ["2", "up", "leader", "2", "23", "23"],
        ["3", "up (slow)", "follows 2", "2", "23", "23"],
    ]
    for moment in moments:  # what the script marks
        assert page.count(f'-spacetime-moment-{moment.number}"') == 1
    assert len(re.findall(r'-spacetime-at-\d+"', page)) == len({moment.time for moment in moments})


def test_the_page_is_whole_without_its_script_which_its_policy_names(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert f"'{digest_of(STEPS)}'" in policy[1]
    assert page.count(f"<script>{STEPS}</script>") == 1
    body = page[page.index('<div class="stepped">') :]
    assert '<p class="zoom-buttons" hidden role="group" aria-label="Step through the moments of the story">' in body
    assert not re.search(r"<tbody[^>]* hidden", body)


def test_a_run_without_a_story_has_no_steps(plan: Plan, tmp_path: Path) -> None:
    verdict = Verdict("valid", "documented", (), None, {"acked": 1})
    page = render_run(plan.to_json(), history(), verdict, tmp_path).read_text(encoding="utf-8")
    assert STEPS not in page
    assert 'class="stepped"' not in page


TRACE: list[tuple[Any, ...]] = [
    (1_000, 1, "start", "", 1),
    (2_000, 2, "start", "", 1),
    (6_000, 1, "lead", PARTITION, 1, 0, 0, (1, 2)),
    (6_500, 2, "follow", PARTITION, 1, 1, 0, 0),
    (100_000, 1, "append", PARTITION, 0, 1, (101,)),
    (102_000, 2, "append", PARTITION, 0, 1, (101,)),
    (104_000, 1, "hw", PARTITION, 1, 1, True),
    (230_000, 2, "stop", "", "power"),
    (530_000, 2, "start", "", 2),
    (531_000, 2, "recovered", PARTITION, 0, 0, 1),
    (600_000, 2, "pause", ""),
    (700_000, 1, "removed", PARTITION, 1, 1),
]
NEMESIS = [
    (300_000, "strike", 0, "isolate", {"node": 1}),
    (310_000, "strike", 1, "slow", {"node": 1}),
    (400_000, "heal", 0, "isolate", {}),
    (410_000, "heal", 1, "slow", {}),
    (420_000, "strike", 2, "disconnect", {"node": 1}),
    (430_000, "heal", 2, "disconnect", {}),
]


def history(**meta: Any) -> History:
    """Broker 2 loses its power, and its only record; broker 1 is cut off, and loses its replica."""
    return History.of(trace=TRACE, nemesis=NEMESIS, replicas={PARTITION: [1, 2]}, end_us=1_000_000, **meta)


@pytest.mark.parametrize(
    ("time", "one", "two"),
    [
        (999, ("", "", None, None, None), ("", "", None, None, None)),
        (1_000, ("up", "", None, None, None), ("", "", None, None, None)),
        (6_000, ("up", "leader", 1, 0, 0), ("up", "", None, None, None)),
        (104_000, ("up", "leader", 1, 1, 1), ("up", "follows 1", 1, 1, 0)),
        (230_000, ("up", "leader", 1, 1, 1), ("down (power)", "", None, None, None)),
        (310_000, ("cut off (isolate, slow)", "leader", 1, 1, 1), ("down (power)", "", None, None, None)),
        (400_000, ("up (slow)", "leader", 1, 1, 1), ("down (power)", "", None, None, None)),
        (420_000, ("cut off (disconnect)", "leader", 1, 1, 1), ("down (power)", "", None, None, None)),
        (530_000, ("up", "leader", 1, 1, 1), ("up", "", None, None, None)),
        (531_000, ("up", "leader", 1, 1, 1), ("up", "", None, 0, 0)),
        (700_000, ("up", "", None, None, None), ("paused", "", None, 0, 0)),
    ],
)
def test_what_the_trace_does_not_say_is_blank(time: int, one: tuple[Any, ...], two: tuple[Any, ...]) -> None:
    found = states_at(lanes_of(history(), PARTITION, None), time)
    assert [astuple(state) for state in found] == [(1, *one), (2, *two)]


def test_of_logs_that_nobody_saw_meanwhile_nothing_is_said() -> None:
    (one, _) = states_at(lanes_of(history(untold=True), PARTITION, None), 104_000)
    assert (one.log_end, one.high_watermark) == (None, None)


def test_both_runs_are_seen_when_each_has_taken_its_step(plan: Plan, run: JudgedRun, page: str, tmp_path: Path) -> None:
    lanes = tuple(lanes_of(history(), PARTITION, None))
    later = History.of(trace=[event for event in TRACE if event[0] != 102_000], replicas={PARTITION: [1, 2]})
    others = tuple(lanes_of(later, PARTITION, None))
    rows = (
        SideBySide(Deed(100_000, "It writes."), Deed(100_000, "It writes.")),
        SideBySide(Deed(102_000, "It copies."), Deed(104_000, "It commits."), parts=True),
        SideBySide(None, Deed(104_000, "It commits.")),
    )
    repair = Repair("kafka-2.1", "", "", (), None, rows, (), (1, 0), "tidemark run", lanes=(lanes, others))

    seen = [list(states_of_both(repair, row, "kafka-0.10")) for row in rows]

    leads, follows = ("up", "leader", 1, 1), ("up", "follows 1", 1)
    assert seen[0] == [("both", BrokerState(1, *leads, 0)), ("both", BrokerState(2, *follows, 0, 0))]
    assert seen[1] == [
        ("kafka-0.10", BrokerState(1, *leads, 0)),
        ("kafka-2.1", BrokerState(1, *leads, 1)),
        ("kafka-0.10", BrokerState(2, *follows, 1, 0)),
        ("kafka-2.1", BrokerState(2, *follows, 0, 0)),
    ]
    assert seen[2][0] == ("both", BrokerState(1, *leads, 1))
    both = render_run(plan.to_json(), run.history, run.verdict, tmp_path, Why((), repair=repair)).read_text("utf-8")
    assert [len(moment) - 1 for moment in tables(both)[1]] == [2, 4, 3]
    assert both.count(f"<script>{STEPS}</script>") == 1
    assert tables(both)[0] == tables(page)[0]
    figure = re.compile("<figure.*?</figure>", re.DOTALL)
    assert figure.findall(both) == figure.findall(page)  # the same bytes each time

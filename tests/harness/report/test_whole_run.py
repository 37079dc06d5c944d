"""The whole run on one axis: what each panel draws of a small history, and what a page does without evidence or times."""

import re
from itertools import pairwise

import pytest

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly
from tidemark.harness.report.operations import Operations
from tidemark.harness.report.pages import render_run
from tidemark.harness.report.whole_run import whole_run
from tidemark.harness.report.whole_run_panels import MOST_STEPS, WIDTH
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec

TRACE = [
    (5_000, 0, "elect", "t-0", 1, 1, (1, 2), (), "initial", True, 0),
    (6_000, 1, "lead", "t-0", 1, 0, 0, (1, 2)),
    (6_500, 2, "follow", "t-0", 1, 1, 0, 0),
    (100_400, 1, "append", "t-0", 0, 1, (101,)),
    (102_000, 2, "append", "t-0", 0, 1, (101,)),
    (200_400, 1, "append", "t-0", 1, 1, (102,)),
    (202_000, 2, "append", "t-0", 1, 1, (102,)),
    (230_000, 2, "stop", "", "crash"),
    (530_000, 2, "start", "", 2),
    (560_000, 2, "follow", "t-0", 1, 1, 2, 1),
    (560_200, 2, "truncate", "t-0", 1, 2, "high watermark", 1),
    (561_000, 1, "stop", "", "crash"),
    (1_601_000, 0, "elect", "t-0", 2, 2, (2,), (), "online", True, 1),
    (1_602_500, 2, "lead", "t-0", 2, 1, 1, (2,)),
    (2_100_000, 1, "start", "", 2),
]
NEMESIS = [
    (230_000, "strike", 0, "crash", {"node": 2}),
    (530_000, "heal", 0, "crash", {}),
    (561_000, "strike", 1, "crash", {"node": 1}),
    (2_100_000, "heal", 1, "crash", {}),
]


def history():
    """Broker 2 cuts its log and leads; broker 1 is down."""
    return History.of(trace=TRACE, nemesis=NEMESIS, replicas={"t-0": [1, 2]}, end_us=3_000_000)


def anomaly():
    return Anomaly("lost-committed-write", VIOLATION, 1_602_500, "t-0", "A record is lost.")


def drawn(told, anomalies=()):
    return whole_run(told, Operations.of(told), anomalies)


def x(time):
    return pytest.approx(time / 3_000_000 * WIDTH, abs=0.01)


def test_leaders_faults_and_in_sync_replicas_lie_where_their_times_are():
    found = drawn(history(), [anomaly()])
    panels = {panel.title: panel for panel in found.panels}

    leaders = panels["t-0: leaders, as each broker sees it"]
    bar = next(one for one in leaders.bars if one.words.startswith("broker 2 leads in epoch 2"))
    assert (bar.x, bar.x + bar.width, bar.kind) == (x(1_602_500), x(3_000_000), "leads e2")
    assert [tick.words for tick in leaders.ticks] == ["broker 1", "broker 2"]
    assert [(one.x, one.x + one.width) for one in leaders.bars if one.kind == "stopped"] == [
        (x(561_000), x(2_100_000)),
        (x(230_000), x(530_000)),
    ]
    assert [tick.words for tick in panels["faults"].ticks] == ["crash"]
    assert found.shades == ((x(230_000), x(300_000)), (x(561_000), x(1_539_000)))
    one, other = panels["t-0: in-sync replicas, as committed"].bars
    assert (one.x + one.width, other.x + other.width) == (x(1_601_000), x(3_000_000))
    assert found.marks == ((x(1_602_500), "lost-committed-write"),)
    assert found.table[-1] == ("1.601 s", "t-0: broker 2 leads in epoch 2 (online); in sync: 2")


def test_a_log_that_was_cut_falls_in_its_line():
    found = drawn(history())
    panel = next(one for one in found.panels if "log ends" in one.title)
    line = next(one for one in panel.lines if one.words == "log end of broker 2")

    heights = [float(y) for y in re.findall(r"V([\d.]+)", line.path)]
    assert min(heights) == 0  # two records
    assert heights[2] > heights[1]  # cut to one


def test_of_ten_thousand_steps_few_are_drawn_and_no_fall_is_left_out():
    trace = [(0, 1, "lead", "t-0", 0, 0, 0, (1,))]
    trace += [(step * 100, 1, "append", "t-0", step - 1, 0, (step,)) for step in range(1, 10_000)]
    trace.append((500_000, 1, "truncate", "t-0", 10, 4_999, "x", 0))
    told = History.of(trace=sorted(trace), ops=[], replicas={"t-0": [1]})

    panel = next(one for one in drawn(told).panels if "log ends" in one.title)
    path = panel.lines[0].path

    assert path.count("V") <= MOST_STEPS + 5
    heights = [float(y) for y in re.findall(r"V([\d.]+)", path)]
    assert any(after > before + 40 for before, after in pairwise(heights))


def test_a_history_of_clients_alone_has_no_panels_of_replicas():
    ops = [
        Op(1_000, "p1", "invoke", "send", (("send", "k", 1),)),
        Op(9_000, "p1", "ok", "send", (("send", "k", (0, 1)),)),
    ]

    found = drawn(History.of(ops=ops))

    assert [panel.title.split(",")[0] for panel in found.panels] == [
        "latency of clients' operations",
        "operations that ended",
    ]
    assert "nothing of replicas" in found.missing


def test_a_history_without_times_has_none():
    ops = [Op(0, "p1", "invoke", "send", (("send", "k", 1),)), Op(1, "p1", "ok", "send", (("send", "k", (0, 1)),))]

    assert drawn(History.of(ops=[*ops, *ops, *ops])) is None
    assert drawn(History.of()) is None


def test_a_valid_run_looks_valid(tmp_path):
    plan = generate_plan(1, 0, "intact", ClusterSpec())
    run = execute(plan, "kafka-2.7")

    page = render_run(plan.to_json(), run.history, run.verdict, tmp_path).read_text(encoding="utf-8")

    body = page[page.index("</style>") :]
    assert '<span class="valid">valid</span>' in body
    assert 'class="message"' not in body  # the bar of what was broken
    assert not list(tmp_path.glob("*spacetime*"))  # and no picture of nothing
    assert body.index('id="whole-run"') < body.index("without breaking the promise")
    assert 'class="violated"' not in body
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+|xmlns\S+", "", body)

"""The page of one run: the same for the same history, with its plan, its faults, its verdict and the world it ran in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loss_of_kip_101 import history, plan, verdict

from tidemark.checkers.verdict.verdict import PERMITTED, Anomaly, Verdict
from tidemark.harness.report.faults import fault_lines
from tidemark.harness.report.pages import render_run
from tidemark.harness.report.style import inline
from tidemark.harness.report.what_ran import what_ran_of


def test_the_same_history_is_the_same_picture(run_page: Path, tmp_path: Path) -> None:
    render_run(plan(), history(), verdict(), tmp_path)

    for name in ("report.html", "report-spacetime.svg"):
        assert (run_page.parent / name).read_bytes() == (tmp_path / name).read_bytes()


def test_inline_figures_do_not_share_ids() -> None:
    svg = '<?xml version="1.0"?><svg x="1"><path id="p"/><use xlink:href="#p" clip-path="url(#p)"/></svg>'

    assert inline(svg, "a", 'say "<x>"') == (
        '<svg role="img" aria-label="say &quot;&lt;x>&quot;" x="1"><path id="a-p"/>'
        '<use xlink:href="#a-p" clip-path="url(#a-p)"/></svg>'
    )


def test_a_run_page_keeps_the_plan_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("mine")

    page = render_run(plan(), history(), verdict(), tmp_path / "report.html")

    assert "The promise “documented” was broken." in page.read_text(encoding="utf-8")
    assert "tidemark run --plan plan.json" in page.read_text(encoding="utf-8")
    assert (tmp_path / "plan.json").read_text() == "mine"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Verdict("valid", "documented", (), None, {}), "found no anomaly"),
        (Verdict("unknown", "documented", (), "nothing was acknowledged", {}), "nothing was acknowledged"),
    ],
)
def test_a_run_without_anomaly_says_so(given: Verdict, words: str, tmp_path: Path) -> None:
    assert words in render_run(plan(), history(), given, tmp_path).read_text(encoding="utf-8")


def test_a_fault_is_told_with_what_it_hit() -> None:
    first, second = fault_lines(plan(), history())

    assert (first.kind, first.planned, first.struck) == ("crash", "follower, at 0.230 s", "0.230 s")
    assert (first.hit, first.lasts) == ("broker 2 (follower of t-0)", "0.300 s")
    assert (second.left, second.width) == (18.7, 51.3)


def test_a_fault_that_waited_in_vain_did_not_strike() -> None:
    waiting = {**plan(), "faults": [{"kind": "crash", "at_us": 5, "after": {"event": "truncate", "nth": 9, "node": 2}}]}

    (line,) = fault_lines(waiting, replace(history(), nemesis=[]))

    assert line.struck == "did not strike"
    assert line.planned == "leader, at event “truncate” number 9 at broker 2 after 0.000 s"


def test_only_a_simulated_run_is_said_to_come_back_byte_for_byte(run_page: Path, tmp_path: Path) -> None:
    real = history()
    real.meta["world"] = "docker"

    pages = [page.read_text(encoding="utf-8") for page in (run_page, render_run(plan(), real, verdict(), tmp_path))]

    assert ["byte for byte" in page for page in pages] == [True, False]
    assert ["--world docker" in page for page in pages] == [False, True]


@pytest.mark.parametrize(
    ("meta", "first", "says"),
    [
        ({"variant": "kafka-2.7", "replicas": {}}, "Simulated models", "No real broker took part"),
        ({"variant": "kafka-2.7", "world": "docker"}, "Own brokers", "No broker of Apache Kafka took part"),
        (
            {"variant": "kafka-2.7", "world": "docker", "system": "kafka:3.9.1"},
            "Real brokers",
            "Apache Kafka 3.9.1 ran",
        ),
        (
            {"variant": "kafka-4.0", "world": "docker", "system": "kafka:4.4.0+0123456789ab@4.4"},
            "Real brokers",
            "Apache Kafka 4.4.0@4.4, as somebody built it (digest 0123456789ab), ran",
        ),
        ({"system": "redpanda"}, "A real system", "redpanda ran"),
        ({}, "Somebody's own history", "Tidemark ran nothing here"),
        ({"variant": "my-system", "replicas": {}}, "Somebody's own history", "Tidemark ran nothing here"),
        ({"variant": "kafka-2.7"}, "Somebody's own history", "Tidemark ran nothing here"),
    ],
)
def test_a_page_says_whether_brokers_were_real(meta: dict[str, Any], first: str, says: str) -> None:
    ran = what_ran_of(meta)
    assert ran[0] == first
    assert says in ran[1]


def test_every_clause_is_explained_where_it_is_read(tmp_path: Path) -> None:
    shrank = Anomaly("hw-regression", PERMITTED, 10, "t-0", "It shrank.", clause="across-leaderships")
    again = replace(shrank, message="It shrank again.")
    given = Verdict("valid", "documented", (shrank, again), None, {"acked": 1})
    text = render_run(plan(), history(), given, tmp_path).read_text(encoding="utf-8")
    assert text.count("a new leader knows no more than it had heard as a follower") == 1
    assert text.count("A leader&#39;s high watermark moved back.") == 1

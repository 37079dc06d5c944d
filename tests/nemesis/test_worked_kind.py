"""The kind of fault that docs/writing-a-variant.md writes: what a reader types in works as the page says, everywhere."""

import json
import re
from pathlib import Path

import pytest

from tidemark.harness.live.progress import RunProgress
from tidemark.harness.report.fault_words import in_general
from tidemark.harness.search.shrink.in_words import lines_of
from tidemark.harness.simulator import simulate
from tidemark.nemesis import KINDS, Plan, kinds, links
from tidemark.nodes.core.variant import parse_variant

PAGE = (Path(__file__).parents[2] / "docs/writing-a-variant.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## A kind of fault")[2].partition("## A checker")[0]


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", SECTION, re.DOTALL)


@pytest.fixture
def run(monkeypatch):
    shape, row = blocks("python")
    typed = dict(vars(links))
    exec(shape, typed)
    kind = eval(row, {**vars(kinds), **typed})
    monkeypatch.setitem(KINDS, kind.word, kind)
    (plan,) = blocks("json")
    return Plan.from_json(json.loads(plan)), simulate(Plan.from_json(json.loads(plan)), parse_variant("kafka-2.7"))


def test_the_history_is_the_page_s(run):
    told = [json.loads(line) for line in SECTION.splitlines() if line.startswith('{"kind":"nemesis"')]
    found = [
        {"kind": "nemesis", "time": time, "what": what, "index": index, "fault": fault, "detail": detail}
        for time, what, index, fault, detail in run[1].history.nemesis
    ]

    assert found == told
    assert run[1].history.meta["holds_back"] == {"bridge": "everyone"}


def test_it_is_told_and_ends_like_any_other(run):
    plan, simulated = run
    progress = RunProgress("faults")
    strike, heal, _ = simulated.history.nemesis
    progress.note(strike)

    assert in_general("bridge").startswith("cut the other brokers into two halves")
    assert any(line.endswith("bridge of b2, for 2.500 s") for line in lines_of(plan))
    assert str(progress) == "faults · bridge"
    progress.note(heal)
    assert str(progress) == "faults"

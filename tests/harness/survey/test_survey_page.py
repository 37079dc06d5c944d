"""The page that is sent around: what it says of numbers, and what it never leaves out."""

import re

import pytest

from tidemark.harness.survey.about import about
from tidemark.harness.survey.cells import Cell
from tidemark.harness.survey.entrants import FLUSH, USUAL, entrant
from tidemark.harness.survey.page import INTRODUCTION, NOT_TRIED, survey_page
from tidemark.harness.survey.troubles import TROUBLES
from tidemark.harness.systems.registry import find_system

ENTRANTS = [entrant(name, lambda text, settings: find_system(text, dict(settings))) for name in USUAL]


def cell(system, trouble="power-all", runs=5, lossy=0, broken=0, lost=0, **more):
    usual = {
        "low": 0.0,
        "high": 0.434,
        "acked": 1200,
        "unknown_records": 0,
        "others": {},
        "asked": 1000,
        "answered": 900,
        "silent_us": (1_000_000, 2_500_000, 4_000_000),
        "stale": 0,
        "looked": 0,
        "unknown": 0,
        "missing": 0,
        "refused": "",
        "told": None,
    }
    return Cell(system=system, trouble=trouble, runs=runs, lossy=lossy, broken=broken, lost=lost, **{**usual, **more})


def page(*found, entrants=ENTRANTS):
    return survey_page(entrants, found, [], "tidemark systems", "real-runs.md")


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (cell("nats:2.15.1"), "[0 of 5](real-runs.md#nats2151-power-all)<br>0 of 1,200<br>0 to 43 %"),
        (
            cell("nats:2.15.1", lossy=5, lost=612, low=0.566, high=1.0),
            "**[5 of 5](real-runs.md#nats2151-power-all)**<br>612 of 1,200<br>57 to 100 %<br>permitted",
        ),
        (cell("nats:2.15.1", lossy=2, broken=2, lost=3), "0 to 43 %<br>against its promise |"),
        (cell("nats:2.15.1", lossy=2, broken=1, lost=3), "0 to 43 %<br>1 against its promise |"),
        (cell("nats:2.15.1", lossy=1, lost=3, others={"stuck": 1}), "0 to 43 %<br>permitted<br>`stuck` 1 |"),
        (cell("nats:2.15.1", others={"divergence": 2}), "0 to 43 %<br>`divergence` 2 |"),
        (cell("nats:2.15.1", runs=0), "| NATS JetStream 2.15.1 | not tried |"),
        (cell("nats:2.15.1", runs=0, unknown=3), "| NATS JetStream 2.15.1 | unknown |"),
        (cell("nats:2.15.1", runs=0, refused="it cannot"), "| NATS JetStream 2.15.1 | cannot be run |"),
        (cell("nats:2.15.1"), "| NATS JetStream 2.15.1 (× 2) | 2.5 s, 4.0 s |"),
    ],
)
def test_a_cell_in_words(found, told):
    assert told in page(found)


def test_kafka_with_its_defaults_stands_beside_kafka_that_syncs():
    rows = [line for line in page(*(cell(name) for name in USUAL)).splitlines() if line.startswith("| Kafka 4.3.1")]

    assert rows[0].startswith("| Kafka 4.3.1 | [0 of 5]")
    assert rows[1].startswith("| Kafka 4.3.1, each append synced | [0 of 5]")


def test_what_every_system_promises_is_quoted_with_its_place():
    text = page(*(cell(name) for name in USUAL))

    for one in ENTRANTS:
        assert about(one).promised.endswith(")")
        for quoted in about(one).promised.split("<br>"):
            assert f"“{quoted.rpartition(' (')[0]}” (" in text
        assert f"`{one.name}`" in text
    assert "`log.flush.interval.messages=1`" in text
    assert "`sync_interval: always`" in text


def test_what_was_not_tried_is_said():
    text = page(cell("etcd:3.7.3"))

    assert NOT_TRIED in text
    for words in ("Clocks that jump", "Fluss", "More than three servers"):
        assert words in NOT_TRIED


def test_every_kind_of_trouble_is_told_in_a_sentence():
    text = page(*(cell("etcd:3.7.3", trouble) for trouble in TROUBLES))

    for trouble in TROUBLES.values():
        assert f"- *{trouble.words}*: {trouble.about}" in text


def test_late_reads_are_told_where_somebody_looked():
    text = page(cell("etcd:3.7.3", stale=1, looked=5), cell("nats:2.15.1"))

    assert "- etcd 3.7.3: 1 of 5 runs (power loss of all three 1 of 5)" in text
    assert "- NATS JetStream 2.15.1: not measured" in text


def test_the_tables_are_told_in_short():
    text = page(
        cell("kafka:4.3.1", "kill"),
        cell("kafka:4.3.1", lossy=4, lost=9),
        cell("etcd:3.7.3"),
        cell("nats:2.15.1", runs=0),
    )

    assert "- No acknowledged record was lost in 5 runs of these troubles: kill.\n" in text
    assert (
        "- *power loss of all three*: records were lost by Kafka 4.3.1 in 4 of 5 runs. No loss by etcd 3.7.3 (0 of 5).\n"
        in text
    )


def test_what_repairs_a_loss_is_said_of_every_system():
    text = page(
        cell("kafka:4.3.1", lossy=4, lost=9), cell(f"kafka:4.3.1+{FLUSH}"), cell("fluss:0.9.1", lossy=5, lost=9)
    )

    how_sure, repairs = text.partition("## What repairs a loss\n\n")[2].split("\n\n")[:2]
    assert "lost in 0 of 5, up to 43 % of all such runs may still" in how_sure
    repairs = repairs.splitlines()
    assert repairs[0] == (
        "- Kafka 4.3.1: with `log.flush.interval.messages=1` records were lost in 0 of 5 runs of *power loss of all three* "
        "(default: 4 of 5)."
    )
    assert "- Apache Fluss 0.9.1: no setting was tried." in repairs
    assert "- etcd 3.7.3: nothing was lost." in repairs


def test_a_cell_is_explained_by_one_that_is_there():
    text = page(
        cell("nats:2.15.1", "kill", lossy=5, lost=7), cell("nats:2.15.1", lossy=2, lost=3, low=0.118, high=0.769)
    )

    assert (
        "\nFor example NATS JetStream 2.15.1, *power loss of all three*: acknowledged records were lost in\n**2 of 5** runs"
        in text
    )
    assert "is 12 to 77 %." in text
    assert "For example" not in page(cell("nats:2.15.1"))


def test_whose_runs_are_missing_is_said():
    assert "Apache Fluss 0.9.1: 3 planned runs have not been made yet" in page(cell("fluss:0.9.1", missing=3))


def test_the_introduction_is_short():
    assert len(re.findall(r"[.?](?:\s|$)", INTRODUCTION)) <= 7
    assert len(INTRODUCTION.split()) < 140


def test_a_system_that_nobody_here_knows_is_told_by_its_own_words(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from tidemark import Install, Process, RealSystem\n"
        "class Mine(RealSystem):\n"
        "    name, promised = 'mine', 'nothing is lost (its README)'\n"
        "    def install(self): return Install()\n"
        "    def process(self, node, nodes, logs): return Process(('true',))\n"
        "    def client(self, workload): return None\n"
        "def system(argument): return Mine()\n"
    )
    name = f"{tmp_path}/mine.py"
    mine = entrant(name, lambda text, settings: find_system(text, dict(settings)))

    assert f"| {name}<br>`{name}` | as its file says | “nothing is lost” (its README) | × 1 |" in page(
        cell(name), entrants=[mine]
    )

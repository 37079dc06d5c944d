"""``tidemark compare --sweep``."""

import csv
import io
import json

import click
import pytest
from click.testing import CliRunner

from tidemark.cli.compare import compare_command
from tidemark.cli.report import report_command

SWEEP = ["--variants", "kafka-0.10,kafka-2.7", "--seed", "3", "--plans", "4", "--sweep", "replicas=3,5", "min-isr=2,4"]


def asked(*words):
    return CliRunner().invoke(compare_command, words, standalone_mode=False, catch_exceptions=False)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep") / "s"
    return folder, asked(*SWEEP, "--out", str(folder))


def test_a_grid_is_one_table_in_all_formats_and_one_figure(swept):
    folder, told = swept

    assert told.return_value == 0
    assert (
        "3 cells of 4 plans each, the same under every variant (seed 3, profile intact, intensity 1.0)." in told.output
    )
    assert "Left out: replication-factor 3, min-isr 4 (impossible cluster: min ISR 4 must lie between" in told.output
    rows = list(csv.DictReader(io.StringIO((folder / "sweep.csv").read_text())))
    assert [(row["replication-factor"], row["min-isr"], row["variant"], row["runs"]) for row in rows] == [
        (replicas, least, variant, "4")
        for replicas, least in (("3", "2"), ("5", "2"), ("5", "4"))
        for variant in ("kafka-0.10", "kafka-2.7")
    ]
    assert (folder / "sweep.tex").read_text().count("\\\\\n") == 5
    assert (folder / "sweep.md").read_text().splitlines()[-1].startswith("| all plans, each once |  | 12 |")
    assert (folder / "sweep.pdf").read_bytes().startswith(b"%PDF")
    found = json.loads((folder / "sweep.json").read_text())
    assert (len(found["cells"]), found["different"], found["axes"]["min-isr"]) == (3, 12, ["2", "4"])


def test_the_same_command_again_runs_nothing_and_prints_what_it_is_asked_for(swept, monkeypatch):
    monkeypatch.setattr("tidemark.pipeline.chunks.chunk._run", None)
    folder, _ = swept

    told = asked(*SWEEP, "--out", str(folder), "--format", "csv")

    assert told.stdout == (folder / "sweep.csv").read_text()
    assert next(csv.reader(io.StringIO(told.stdout)))[:3] == ["replication-factor", "min-isr", "variant"]


@pytest.mark.systems
def test_report_tells_of_each_cell_and_not_of_all_in_one(swept):
    folder, told = swept
    before = (folder / "sweep.json").read_text()

    again = CliRunner().invoke(report_command, [str(folder)], standalone_mode=False, catch_exceptions=False)

    assert again.stdout == told.stdout
    assert (folder / "sweep.json").read_text() == before
    assert not (folder / "report.html").exists()
    (folder / "sweep.json").unlink()
    again = CliRunner().invoke(report_command, [str(folder), "--json"], standalone_mode=False, catch_exceptions=False)
    assert (len(json.loads(again.stdout)["cells"]), json.loads(again.stdout)["settings"]) == (3, "seed 3")
    (folder / "sweep.json").write_text(before)


def test_a_sweep_beside_another_campaign_is_not_pooled(swept, tmp_path):
    folder, _ = swept

    with pytest.raises(
        click.ClickException, match="holds a sweep, whose cells differ in their settings; tidemark report"
    ):
        asked("--campaign", str(folder), "--campaign", str(tmp_path))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["--sweep", "contract=durable"],
            "--sweep contract=durable: it takes AXIS=VALUE,VALUE with an axis of brokers",
        ),
        (["--sweep", "min-isr"], "it takes AXIS=VALUE,VALUE"),
        (["--sweep", "min-isr=1,x"], "'x' is not a valid integer"),
        (["--sweep", "intensity=1,101"], "is not in the range 0<=x<=100"),
        (["--sweep", "min-isr=1,01"], "name at least one value, each once"),
        (["--sweep", "min-isr="], "name at least one value, each once"),
        (["--sweep", "min-isr=1,2", "--min-isr", "1"], "min-isr is swept, so give all its values once"),
        (["--sweep", "min-isr=4,5"], "makes no cell that can be: min-isr 4 (impossible cluster"),
        (["min-isr=1,2"], "unexpected extra argument min-isr=1,2 (an axis stands behind --sweep)"),
        (["--sweep", "min-isr=1,2", "--report"], "a sweep has its table and its figure without --report"),
        (["--sweep", "min-isr=1,2", "--world", "docker"], "--sweep is for the simulator"),
        (["--sweep", "min-isr=1,2", "--json", "--format", "csv"], "--json and --format csv are two formats"),
        (["--sweep", "rate=" + ",".join(map(str, range(1, 1002)))], "makes more than 1000 cells"),
    ],
)
def test_what_is_no_sweep_is_refused_and_leaves_nothing(words, complaint, tmp_path):
    told = CliRunner().invoke(compare_command, [*words, "--out", str(tmp_path / "s")])

    assert told.exit_code == 2
    assert complaint in " ".join(told.output.split())
    assert not (tmp_path / "s").exists()

"""``tidemark watch``: what is new is told once, in lines where nobody draws, and the exit code says how it ended."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from tidemark.cli.watch import _at_work as at_work
from tidemark.cli.watch import _on_screen, watch_command
from tidemark.harness.report.comparison import Rate
from tidemark.pipeline.folder.manifest import locked, open_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.watch import watch as watch_module
from tidemark.pipeline.watch.watch import Violation, Watched
from tidemark.pipeline.watch.watch_tally import NewViolation, WatchedVariant

FOLDER = Path("results/night")
NONE = Rate(0, 4, 0.0, 0.5)


def watched(status: Any, runs: int, *plans: int) -> Watched:
    hits = Rate(len(plans), 4, 0.1, 0.5)
    variant = WatchedVariant("kafka-2.0", runs, 8, 0, hits, NONE, (("stuck", hits, NONE),))
    newest = tuple(
        Violation(NewViolation(plan, "kafka-2.0", plan, ("stuck",), 1_500_000), f"tidemark run --index {plan}")
        for plan in reversed(plans)
    )
    pace = {"runs_a_second": 2.0, "seconds_left": 3725.0} if status == "running" else {}
    return Watched(status, FOLDER, "night", runs, 8, variants=(variant,), newest=newest, **pace)


def follow(monkeypatch: pytest.MonkeyPatch, *story: Watched, words: tuple[str, ...] = ()) -> Result:
    def told(*_: object, **__: object) -> Iterator[Watched]:
        yield from story

    monkeypatch.setattr(watch_module, "watch_campaign", told)
    return CliRunner().invoke(watch_command, [str(FOLDER), *words], standalone_mode=False)


RUNNING = (watched("waiting", 0), watched("starting", 0), *[watched("running", 4, 3)] * 3, watched("running", 6, 3, 5))


def test_in_a_pipe_each_news_is_a_line_and_each_violation_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = follow(monkeypatch, *RUNNING, watched("finished", 8, 3, 5))

    assert found.return_value == 0
    lines = found.stdout.splitlines()
    assert lines[:7] == [
        "results/night: there is no campaign yet",
        "results/night: counting what is there",
        "results/night: running, 4 of 8 runs, 2.0 runs/s, 1 h 02 min left; with a violation: kafka-2.0 1",
        "  kafka-2.0, plan 3 at 1.50 s: stuck: tidemark run --index 3",
        "results/night: running, 6 of 8 runs, 2.0 runs/s, 1 h 02 min left; with a violation: kafka-2.0 2",
        "  kafka-2.0, plan 5 at 1.50 s: stuck: tidemark run --index 5",
        "results/night: complete, 8 of 8 runs; with a violation: kafka-2.0 2",
    ]
    assert lines[8].split()[:6] == ["kafka-2.0", "8/8", "0", "2", "50.0", "%"]
    assert lines[9].split()[:2] == ["stuck", "2"]


def test_an_interrupted_campaign_says_so_and_leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    found = follow(monkeypatch, *RUNNING, watched("interrupted", 6, 3, 5))

    assert found.return_value == 2
    assert found.stdout.splitlines()[-1] == (
        "Nobody works on results/night here, and 2 runs are missing: the command that ran it goes on with it."
    )


def test_as_json_each_news_is_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    found = follow(monkeypatch, *RUNNING, watched("interrupted", 6, 3, 5), words=("--json",))

    assert found.return_value == 2
    told = [json.loads(line) for line in found.stdout.splitlines()]
    assert [(one["status"], one["runs"]) for one in told] == [
        ("waiting", 0),
        ("starting", 0),
        ("running", 4),
        ("running", 6),
        ("interrupted", 6),
    ]
    assert told[2]["variants"][0]["violation"] == {
        "hits": 1,
        "runs": 4,
        "low": 0.1,
        "high": 0.5,
        "unknown": 0,
        "least": 0.25,
        "most": 0.25,
    }
    assert [one["plan"] for one in told[3]["newest"]] == [5, 3]


def test_on_a_terminal_the_screen_is_drawn_again(tmp_path: Path) -> None:
    with (tmp_path / "screen").open("w+") as file:
        console = Console(file=file, force_terminal=True, width=100, highlight=False)
        _on_screen(iter([*RUNNING, watched("finished", 8, 3, 5)]), console)
        file.seek(0)
        text = file.read()

    assert "There is no campaign in results/night yet" in text
    assert "\x1b[1A" in text  # up again
    assert text.rindex("complete, 8 of 8 runs") < text.rindex("tidemark run --index 3")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_waits_for_a_campaign_can_be_stopped(number: int, tmp_path: Path) -> None:
    program = "from tidemark.cli import main; main()"
    command = [sys.executable, "-c", program, "watch", str(tmp_path / "nothing")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "there is no campaign yet" in process.stdout.readline()
        process.send_signal(number)
        try:
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()

    assert process.returncode == 130
    assert "Traceback" not in error


def test_of_a_campaign_of_several_parts_the_one_at_work_is_followed(tmp_path: Path) -> None:
    part = tmp_path / "parts" / "destructive"
    for folder, profile in ((tmp_path, "intact"), (part, "destructive")):
        open_campaign(folder, CampaignSpec("mine", ("kafka-2.7",), 2, 1, profile=profile))

    assert at_work(tmp_path) == tmp_path
    with locked(part):
        assert at_work(tmp_path) == part
        with locked(tmp_path):
            assert at_work(tmp_path) == tmp_path

"""``tidemark check`` of a campaign's folder."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tidemark.cli.check import check_command
from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.folder.manifest import open_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """Two variants on three plans, of which the third makes one of them lose something."""
    spec = CampaignSpec("demo", ("kafka-0.10", "kafka-2.7"), plans=3, seed=4, profile="destructive", keep="all")
    manifest = open_campaign(tmp_path / "demo", spec)
    for task in range(manifest.layout.tasks):
        run_chunk(Task(spec, tmp_path / "demo", manifest.identity, simulate), manifest.layout.task(task))
    return tmp_path / "demo"


def check(*words: object) -> Result:
    return CliRunner().invoke(check_command, [str(word) for word in words], standalone_mode=False)


def test_it_exits_as_a_check_does_and_says_what_is_new(demo: Path) -> None:
    found = check(demo)

    assert found.return_value == 1
    assert "6 of 6 runs were judged again" in found.stdout
    assert "No verdict changed." in found.stdout
    assert check(demo, "--variants", "kafka-2.7").return_value == 0
    assert "These checkers have judged all of it before" in check(demo).stdout


def test_a_campaign_that_may_not_be_written_to_is_told_in_a_sentence(demo: Path) -> None:
    (demo / "rechecks").symlink_to("/sys/kernel")

    assert f"{demo} cannot be written to" in str(check(demo).exception)


@pytest.mark.systems
def test_a_changed_verdict_is_listed_with_its_command(demo: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from tidemark.checkers import Anomaly\n"
        "def check(history):\n"
        "    if history.meta['plan'] < 2:\n"
        "        yield Anomaly('early-plan', 'violation', 5, 't-0', 'It is one of the first two.')\n"
    )

    found = check(demo, "--checker", mine, "--variants", "kafka-2.7", "--limit", 1)

    assert found.return_value == 1
    assert "kafka-2.7, plan 0: valid → invalid\n  early-plan: – → violation\n  tidemark run --variant" in found.stdout
    assert "… and 1 more: --limit 0 prints all." in found.stdout
    told = json.loads(check(demo, "--checker", mine, "--variants", "kafka-2.7", "--json").stdout)
    assert [(run["plan"], run["then"], run["now"]) for run in told["changed"]] == [
        (0, "valid", "invalid"),
        (1, "valid", "invalid"),
    ]
    assert told["variants"][0]["changes"] == {"": {"valid → invalid": 2}, "early-plan": {"– → violation": 2}}


def test_for_a_ci_system_each_variant_is_a_case(demo: Path, tmp_path: Path) -> None:
    check(demo, "--junit", tmp_path / "report.xml")

    text = (tmp_path / "report.xml").read_text()
    assert 'tests="2" failures="1"' in text
    assert "1 of 3 runs are invalid, 0 unknown, 0 changed" in text


def test_options_of_campaigns_and_of_histories_are_not_mixed_up(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_text("")
    for words in (("--again",), ("--variants", "raft"), ("--limit", "3"), ("--fresh",), ("--master", "local[1]")):
        found = check(tmp_path / "history.jsonl", *words)
        assert f"{words[0]} is for a campaign, and" in str(found.exception)
    assert "--model is for one history" in str(check(demo, "--model", "cas-register").exception)

"""Which violating runs come of a bug outside the rule: found by having their plans again, of runs that are simulated."""

from pathlib import Path

import pytest

from tidemark.harness.report.comparison import OtherCause
from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.compare.other_causes import other_causes
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.manifest import open_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate

PLANS = 5
VARIANTS = ("kafka-0.10", "kafka-0.10+bounce-detection", "kafka-2.7", "kafka-2.7+no-bounce-detection", "raft")
SPEC = CampaignSpec("demo", VARIANTS, PLANS, 1)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaign")
    manifest = open_campaign(folder, SPEC, chunk_size=PLANS)
    for variant in VARIANTS:
        run_chunk(Task(SPEC, folder, manifest.identity, simulate), Chunk(variant, 0, 0, PLANS))
    return folder


def violated(variant: str, plan: int) -> set[str]:
    return {one.name for one in simulate(SPEC, variant, plan)[1].verdict.anomalies if one.verdict == "violation"}


def test_a_run_that_is_valid_with_the_bug_alone_repaired_comes_of_it(finished: Path) -> None:
    assert violated("kafka-0.10", 3) >= {"lost-committed-write"}  # of the rule
    assert violated("kafka-0.10", 4) == {"stuck"}
    assert not violated("kafka-0.10+bounce-detection", 4)

    # What a modifier put back was asked for: it is what is compared.
    title = "A broker that bounces is told nothing"
    assert other_causes(finished) == {
        "kafka-0.10": (
            OtherCause("KAFKA-1120", title, "kafka-0.10+bounce-detection", 1, "2.2.0 (KIP-380, KAFKA-7235)"),
        )
    }


def test_of_very_many_runs_nothing_is_said(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark.pipeline.compare.other_causes.MOST", 0)

    assert other_causes(finished) == {}


def test_real_processes_are_not_run_again(tmp_path: Path) -> None:
    open_campaign(tmp_path, CampaignSpec("demo", VARIANTS[:1], PLANS, 1, world="docker"), chunk_size=PLANS)

    assert other_causes(tmp_path) is None
    assert other_causes(tmp_path / "nothing") is None

"""Which kinds of faults the plans of violating runs have: counted from plans that are drawn again, of runs that are simulated."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.compare.faults_present import faults_present
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.manifest import Manifest, open_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import Simulate, plan_of, simulate

OLD, NEW = "kafka-0.10", "kafka-2.7"
PLANS = 30
SPEC = CampaignSpec("demo", (OLD, NEW), PLANS, 1)


def campaign(folder: Path, spec: CampaignSpec = SPEC, run: Simulate = simulate) -> Path:
    """A campaign whose plans have run, in three chunks of each variant."""
    manifest = open_campaign(folder, spec, chunk_size=10)
    for variant in spec.variants:
        for number in range(3):
            chunk = Chunk(variant, number, 10 * number, 10 * number + 10)
            run_chunk(Task(spec, folder, manifest.identity, run), chunk)
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return campaign(tmp_path_factory.mktemp("campaign"))


def of(plans: list[int]) -> Counter[str]:
    return Counter(kind for plan in plans for kind in {fault.kind for fault in plan_of(SPEC, plan).faults})


def test_the_plans_of_violating_runs_are_held_against_all(finished: Path) -> None:
    violating = [plan for plan in range(PLANS) if simulate(SPEC, OLD, plan)[1].verdict.valid == "invalid"]
    assert len(violating) > 2

    found = faults_present(finished)

    assert found is not None
    assert (found.everywhere.plans, found.whole) == (PLANS, True)
    assert {kind: rate.hits for kind, rate in found.everywhere.kinds.items()} == of([*range(PLANS)])
    assert [*found.violating] == [OLD]  # the other one kept its promise
    there = found.violating[OLD]
    assert there.plans == len(violating)
    assert {kind: rate.hits for kind, rate in there.kinds.items() if rate.hits} == of(violating)
    assert there.mean == sum(len(plan_of(SPEC, plan).faults) for plan in violating) / len(violating)
    assert all(rate.runs == there.plans and rate.low <= rate.share <= rate.high for rate in there.kinds.values())


def test_of_very_many_plans_the_first_are_looked_at(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = faults_present(finished)
    monkeypatch.setattr("tidemark.pipeline.compare.faults_present.MOST", 2)

    found = faults_present(finished)

    assert found is not None
    assert everything is not None
    assert (found.everywhere.plans, found.violating[OLD].plans, found.whole) == (2, 2, False)
    assert {kind: rate.hits for kind, rate in found.everywhere.kinds.items() if rate.hits} == of([0, 1])


def test_plans_that_the_seed_does_not_give_any_more_are_not_counted(tmp_path: Path) -> None:
    def other(spec: CampaignSpec, variant: str, index: int):
        return simulate(replace(spec, seed=2), variant, index)

    assert faults_present(campaign(tmp_path, run=other)) is None


def test_where_nothing_was_violated_nothing_is_counted(tmp_path: Path) -> None:
    assert faults_present(campaign(tmp_path, replace(SPEC, variants=(NEW,)))) is None


def test_what_a_family_cannot_suffer_is_left_out(tmp_path: Path) -> None:
    spec = replace(SPEC, variants=("quorum-hwm",), profile="destructive")

    found = faults_present(campaign(tmp_path, spec))

    assert found is not None
    left_out = {*found.everywhere.kinds} - {*found.violating["quorum-hwm"].kinds}
    assert "from-controller" in left_out
    assert "crash" not in left_out


def test_imported_histories_have_no_plans(finished: Path, tmp_path: Path) -> None:
    manifest = Manifest.read(finished)
    assert manifest is not None
    replace(manifest, spec=replace(SPEC, world="imported", profile="imported")).write(tmp_path)

    assert faults_present(tmp_path) is None

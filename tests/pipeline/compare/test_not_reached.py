"""Known losses that no plan reached: told of Kafka's variants that lost nothing, and only where our models ran."""

from dataclasses import replace
from pathlib import Path

from tidemark.harness.zoo.entry import find
from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.compare.compare import compare
from tidemark.pipeline.compare.not_reached import not_reached
from tidemark.pipeline.engines.small_engine import SmallEngine
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.manifest import open_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate

PLANS = 4
VARIANTS = ("kafka-0.10", "kafka-2.7", "kafka-4.0+forget-log-ends", "fluss-0.9", "raft")
SPEC = CampaignSpec("demo", VARIANTS, PLANS, 1)


def test_bugs_that_lose_records_and_are_in_a_variant_without_losses_are_told(tmp_path: Path) -> None:
    manifest = open_campaign(tmp_path, SPEC, chunk_size=PLANS)
    for variant in VARIANTS:
        run_chunk(Task(SPEC, tmp_path, manifest.identity, simulate), Chunk(variant, 0, 0, PLANS))
    comparison = compare(SmallEngine(), tmp_path)
    assert [one.any_loss.hits for one in comparison.variants] == [1, 0, 0, 0, 0]

    found = not_reached(comparison)

    assert found is not None
    assert {variant: [one.key for one in losses] for variant, losses in found.items()} == {
        "kafka-2.7": ["missed-reign", "stale-log-start"],  # those that a release has repaired are not told
        "kafka-4.0+forget-log-ends": [
            "elr-switched", "min-isr-by-partition-0", "min-isr-unheard", "unheard-shrink", "stale-log-start",
        ],
    }  # fmt: skip
    assert (found["kafka-2.7"][0].title, found["kafka-2.7"][0].release) == (find("missed-reign").title, "4.3.1")
    assert not_reached(replace(comparison, world="docker")) is None
    assert not_reached(replace(comparison, system="kafka:4.3.1")) is None
    called = tuple(replace(one, variant=f"mine: {one.variant}") for one in comparison.variants)
    assert not_reached(replace(comparison, variants=called)) == {}

"""Whatever happens to a chunk's files is seen before they are counted."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.folder.finished_chunks import DamagedTableError, set_right, take_stock, whole
from tidemark.pipeline.folder.manifest import Manifest, open_campaign
from tidemark.pipeline.folder.tables import SCHEMAS, chunk_file, record_file
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

OLD, NEW = "kafka-0.10", "kafka-2.1+no-fetch-fence"


@pytest.fixture
def campaign(spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path) -> tuple[Path, Manifest]:
    """A finished one of six chunks."""
    return finished(tmp_path / "one", spec, simulate)


def finished(folder: Path, spec: CampaignSpec, simulate: Callable[..., Any]) -> tuple[Path, Manifest]:
    manifest = open_campaign(folder, spec, chunk_size=5)
    for number in range(manifest.layout.tasks):
        run_chunk(Task(spec, folder, manifest.identity, simulate), manifest.layout.task(number))
    return folder, manifest


def file(folder: Path, table: str, number: int, variant: str = OLD) -> Path:
    return chunk_file(folder, table, "demo", variant, number)


def test_a_finished_campaign_is_whole(campaign: tuple[Path, Manifest]) -> None:
    stock = take_stock(*campaign)

    assert (len(stock.finished), stock.damaged, stock.foreign) == (6, (), ())
    assert sum(chunk.runs for chunk in stock.finished.values()) == 24
    assert len(whole(*campaign, ("runs",)).finished) == 6


def bitten(folder: Path) -> None:
    content = bytearray(file(folder, "runs", 1).read_bytes())
    content[len(content) // 2] ^= 1
    file(folder, "runs", 1).write_bytes(content)


def other_record(folder: Path) -> None:
    shutil.copy(record_file(folder, "demo", OLD, 0), record_file(folder, "demo", OLD, 1))


DAMAGE = {
    "`runs` has other bytes": bitten,
    "`ops` has another size": lambda folder: file(folder, "ops", 1).write_bytes(b"PAR1"),
    "`anomalies` is missing": lambda folder: file(folder, "anomalies", 1).unlink(),
    "`runs` has": lambda folder: shutil.copy(file(folder, "runs", 0), file(folder, "runs", 1)),
    "record is another chunk's": other_record,
    "record cannot be read": lambda folder: record_file(folder, "demo", OLD, 1).write_text("{"),
}


@pytest.mark.parametrize("why", DAMAGE)
def test_a_damaged_chunk_counts_as_missing(why: str, campaign: tuple[Path, Manifest]) -> None:
    folder, manifest = campaign
    DAMAGE[why](folder)

    stock = take_stock(folder, manifest)

    assert [(damage.variant, damage.number) for damage in stock.damaged] == [(OLD, 1)]
    assert why in stock.damaged[0].words()
    assert len(stock.finished) == 5
    with pytest.raises(DamagedTableError, match=r"is damaged \(chunk 1 of kafka-0\.10: .* give the command"):
        whole(folder, manifest, tuple(SCHEMAS))
    set_right(folder, manifest, stock)
    assert take_stock(folder, manifest).damaged == ()


def test_files_that_no_chunk_wrote_are_set_aside(campaign: tuple[Path, Manifest]) -> None:
    folder, manifest = campaign
    copies = [file(folder, "runs", 99), file(folder, "runs", 0).with_name("copy.parquet")]
    for copy in copies:
        shutil.copy(file(folder, "runs", 0), copy)

    stock = take_stock(folder, manifest)
    set_right(folder, manifest, stock)

    assert sorted(stock.foreign) == sorted(copies)
    assert not any(copy.exists() for copy in copies)
    assert len(list((folder / "set-aside").rglob("*.parquet"))) == 2
    assert len(take_stock(folder, manifest).finished) == 6


def test_another_campaigns_chunk_is_none_of_this_one(
    campaign: tuple[Path, Manifest], spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    folder, manifest = campaign
    other, _ = finished(tmp_path / "other", replace(spec, seed=8), simulate)
    for table in SCHEMAS:
        shutil.copy(file(other, table, 2), file(folder, table, 2))
    shutil.copy(record_file(other, "demo", OLD, 2), record_file(folder, "demo", OLD, 2))

    assert [damage.words() for damage in take_stock(folder, manifest).damaged] == [
        "chunk 2 of kafka-0.10: its record is another chunk's"
    ]

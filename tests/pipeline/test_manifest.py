"""A folder takes one campaign, run by one state of the code."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline import manifest
from pipeline.campaign_spec import CampaignSpec
from pipeline.manifest import CampaignRefusedError, code_digest, locked, open_campaign


def test_the_same_campaign_goes_on_with_the_chunks_it_was_begun_with(spec: CampaignSpec, tmp_path: Path) -> None:
    begun = open_campaign(tmp_path, spec, chunk_size=5, fresh=False)

    assert open_campaign(tmp_path, spec, chunk_size=None, fresh=False) == begun
    assert begun.chunk_size == 5


def test_another_spec_is_refused_in_one_sentence(spec: CampaignSpec, tmp_path: Path) -> None:
    open_campaign(tmp_path, spec, chunk_size=5, fresh=False)

    with pytest.raises(CampaignRefusedError, match=r"with seed 7, not 8; .* --fresh\.$"):
        open_campaign(tmp_path, replace(spec, seed=8), chunk_size=5, fresh=False)


@pytest.mark.parametrize("other", [{"system": "kafka:3.9.1"}, {"broker_config": ("a.b=c",)}])
def test_results_of_another_system_are_not_mixed_in(other: dict[str, Any], spec: CampaignSpec, tmp_path: Path) -> None:
    begun = replace(spec, world="docker", system="kafka:2.8.2")
    open_campaign(tmp_path, begun, chunk_size=1, fresh=False)
    assert open_campaign(tmp_path, begun, chunk_size=1, fresh=False).spec == begun

    with pytest.raises(CampaignRefusedError, match=rf"with {next(iter(other))} .* --fresh\.$"):
        open_campaign(tmp_path, replace(begun, **other), chunk_size=1, fresh=False)


def test_another_chunk_size_is_refused(spec: CampaignSpec, tmp_path: Path) -> None:
    open_campaign(tmp_path, spec, chunk_size=5, fresh=False)

    with pytest.raises(CampaignRefusedError, match="5 plans per chunk, not 6"):
        open_campaign(tmp_path, spec, chunk_size=6, fresh=False)


def test_other_code_is_refused(spec: CampaignSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_campaign(tmp_path, spec, chunk_size=5, fresh=False)
    monkeypatch.setattr(manifest, "code_digest", lambda: "another")

    with pytest.raises(CampaignRefusedError, match="The code has changed"):
        open_campaign(tmp_path, spec, chunk_size=5, fresh=False)


def test_fresh_throws_away_the_tables_and_nothing_else(spec: CampaignSpec, tmp_path: Path) -> None:
    open_campaign(tmp_path, spec, chunk_size=5, fresh=False)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "old.parquet").touch()
    (tmp_path / "notes.txt").touch()

    open_campaign(tmp_path, replace(spec, seed=8), chunk_size=None, fresh=True)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "notes.txt"]


def test_a_manifest_that_cannot_be_read_is_refused(spec: CampaignSpec, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"spec": 3}')

    with pytest.raises(CampaignRefusedError, match="not a campaign's manifest"):
        open_campaign(tmp_path, spec, chunk_size=None, fresh=False)


def test_tables_of_unknown_origin_are_refused(spec: CampaignSpec, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()

    with pytest.raises(CampaignRefusedError, match="without a manifest"):
        open_campaign(tmp_path, spec, chunk_size=None, fresh=False)


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(CampaignRefusedError, match="Another campaign is running"), locked(tmp_path):
        pass


def test_the_code_digest_follows_what_can_change_a_run_and_nothing_else(tmp_path: Path) -> None:
    for name in (
        "nodes/core/log.py",
        "harness/simulator/execute.py",
        "harness/report/page.py",
        "pipeline/compare.py",
        "pipeline/rows.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    before = code_digest(tmp_path)

    (tmp_path / "harness/report/page.py").write_text("x = 2\n")
    (tmp_path / "pipeline/compare.py").write_text("x = 2\n")
    assert code_digest(tmp_path) == before

    for name in ("nodes/core/log.py", "harness/simulator/execute.py", "pipeline/rows.py"):
        (tmp_path / name).write_text("x = 2\n")
        assert code_digest(tmp_path) != before
        (tmp_path / name).write_text("x = 1\n")

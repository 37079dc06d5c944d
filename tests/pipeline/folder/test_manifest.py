"""A folder takes one campaign, run by one state of the code."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tidemark.pipeline.folder import manifest
from tidemark.pipeline.folder.manifest import CampaignRefusedError, Manifest, clear, locked, open_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec


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


def test_other_code_is_refused_by_name(spec: CampaignSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_campaign(tmp_path, spec, chunk_size=5)
    real = manifest.own_code_parts
    monkeypatch.setattr(manifest, "own_code_parts", lambda world: {**real(world), "checkers/check.py": "another"})

    with pytest.raises(CampaignRefusedError, match=r"The code has changed .* \(checkers/check\.py\)"):
        open_campaign(tmp_path, spec, chunk_size=5)


def test_more_plans_and_more_variants_are_growth_and_fewer_are_refused(spec: CampaignSpec, tmp_path: Path) -> None:
    begun = open_campaign(tmp_path, spec, chunk_size=5)
    grown = open_campaign(
        tmp_path, replace(spec, plans=40, variants=(*spec.variants, "kafka-2.7")), measured=lambda: 20
    )

    assert Manifest.read(tmp_path) == grown
    assert [(one.plans, one.chunk_size) for one in grown.layout.stretches] == [(12, 5), (28, 20)]
    assert (grown.first_variants, grown.identity) == (spec.variants, begun.identity)
    assert [asked.plans for asked in grown.asked] == [12, 40]
    with pytest.raises(CampaignRefusedError, match="it can grow, and not shrink"):
        open_campaign(tmp_path, spec)
    with pytest.raises(CampaignRefusedError, match="name them first and in this order"):
        open_campaign(tmp_path, replace(grown.spec, variants=("kafka-2.7", *spec.variants)))


def test_a_folder_that_was_moved_goes_on_under_its_name(spec: CampaignSpec, tmp_path: Path) -> None:
    begun = open_campaign(tmp_path / "here", spec, chunk_size=5)
    (tmp_path / "here").rename(tmp_path / "there")

    assert open_campaign(tmp_path / "there", replace(spec, name="there")) == begun


def test_an_older_campaign_can_be_read_and_a_newer_one_cannot(spec: CampaignSpec, tmp_path: Path) -> None:
    old = {"format": 1, "spec": spec.to_json(), "chunk_size": 25, "code": "x"}
    (tmp_path / "manifest.json").write_text(json.dumps(old))

    assert (found := Manifest.read(tmp_path)) is not None
    assert (found.format, found.spec, found.chunk_size) == (1, spec, 25)
    with pytest.raises(CampaignRefusedError, match=r"earlier version \(format 1\), and can be read but not go on"):
        open_campaign(tmp_path, spec)
    (tmp_path / "manifest.json").write_text(json.dumps(old | {"format": 3}))
    with pytest.raises(CampaignRefusedError, match="has format 3, and this version reads 1 and 2"):
        Manifest.read(tmp_path)


def test_fresh_moves_runs_aside_that_cannot_be_had_again(spec: CampaignSpec, tmp_path: Path) -> None:
    real = replace(spec, world="docker")
    for _ in range(2):
        begun = open_campaign(tmp_path, real, chunk_size=1, fresh=True)
        (tmp_path / "evidence" / "plan-00000").mkdir(parents=True)
    aside = clear(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["earlier-1", "earlier-2"]
    assert aside == tmp_path / "earlier-2"
    assert Manifest.read(aside) == begun
    assert (aside / "evidence" / "plan-00000").is_dir()


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

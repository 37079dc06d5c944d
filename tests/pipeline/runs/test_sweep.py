"""The plans of a sweep: those of all its cells, each once."""

from dataclasses import replace

import pytest

from tidemark.nemesis import AskedWorkload, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.pipeline.folder.manifest import CampaignRefusedError, open_campaign
from tidemark.pipeline.folder.replay_command import replay_command
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import plan_of
from tidemark.pipeline.runs.sweep import Cell, grid, places, plans_in_all

USUAL = ClusterSpec()
ONE_IN_SYNC = replace(USUAL, settings=replace(Settings(), min_isr=1))
UNCLEAN = replace(USUAL, settings=replace(Settings(), unclean_election=True))
CELLS = (
    Cell((("min-isr", "1"), ("intensity", "2")), ONE_IN_SYNC, intensity=2),
    Cell((("min-isr", "2"), ("intensity", "2")), USUAL, workload=AskedWorkload(rate=50), intensity=2),
)


def spec(cells, of_each):
    return CampaignSpec("s", ("kafka-2.7",), plans_in_all(5, cells, of_each), 5, cells=tuple(cells))


def test_the_last_axis_turns_fastest():
    assert list(grid({"a": ["1", "2"], "b": ["x", "y"]})) == [
        (("a", "1"), ("b", "x")), (("a", "1"), ("b", "y")), (("a", "2"), ("b", "x")), (("a", "2"), ("b", "y")),
    ]  # fmt: skip


def test_each_plan_is_its_cells():
    swept = spec(CELLS, 3)

    assert swept.plans == 6
    assert places(5, CELLS, 6).of_plan == ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2))
    assert places(5, CELLS, 6).in_cell == ((0, 2, 4), (1, 3, 5))
    assert plan_of(swept, 4) == generate_plan(5, 2, "intact", ONE_IN_SYNC, 2)
    assert plan_of(swept, 5).workload.interval_us == 20_000


def test_a_plan_that_two_cells_have_is_one_plan():
    cells = [Cell((("unclean-election", name),), of, "destructive") for name, of in (("no", USUAL), ("yes", UNCLEAN))]
    drawn = [generate_plan(5, i, "destructive", USUAL).cluster.settings.unclean_election for i in range(20)]
    swept = spec(cells, 20)

    assert 0 < sum(drawn) < 20
    assert swept.plans == 40 - sum(drawn)
    no, yes = places(5, cells, swept.plans).in_cell
    assert [mine == other for mine, other in zip(no, yes, strict=True)] == drawn


def test_more_plans_leave_the_numbers_of_those_before():
    few, many = (places(5, CELLS, plans_in_all(5, CELLS, of_each)).of_plan for of_each in (2, 4))

    assert many[: len(few)] == few


def test_a_run_is_had_again_by_its_cells_settings(tmp_path):
    command = "tidemark run --variant kafka-2.7 --seed 5 --index 1 --profile intact --rate 50 --intensity 2"

    assert replay_command(spec(CELLS, 2), tmp_path, "kafka-2.7", 3) == command
    assert replay_command(spec(CELLS, 2), tmp_path, "kafka-2.7", 2) == command.replace("--rate 50", "--min-isr 1")


def test_it_survives_json_and_goes_on_with_the_same_cells_only(tmp_path):
    swept = spec(CELLS, 2)
    assert CampaignSpec.from_json(swept.to_json()) == swept
    open_campaign(tmp_path, swept)

    assert open_campaign(tmp_path, spec(CELLS, 3)).spec.plans == 6
    with pytest.raises(CampaignRefusedError, match="a sweep of other cells"):
        open_campaign(tmp_path, spec(CELLS[:1], 6))

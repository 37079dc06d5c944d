"""A campaign gets a part of another profile or system, and what was there before stays as it was."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from tidemark.nemesis import cluster_of_plans
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.pipeline.campaign.campaign import CampaignOutcome, run_campaign
from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.compare.across_campaigns import compare_campaigns, differences
from tidemark.pipeline.compare.compare import compare
from tidemark.pipeline.compare.part_lines import part_lines
from tidemark.pipeline.engines.query import ask
from tidemark.pipeline.engines.spark_engine import SparkEngine
from tidemark.pipeline.folder.campaign_list import list_campaigns
from tidemark.pipeline.folder.campaign_parts import (
    PARTS,
    Place,
    find_place,
    part_of,
    parts_of,
    refuse_mixture,
    several_parts,
)
from tidemark.pipeline.folder.evidence import run_folder
from tidemark.pipeline.folder.found_campaign import NothingToCompareError
from tidemark.pipeline.folder.manifest import CampaignRefusedError, Manifest, open_campaign
from tidemark.pipeline.folder.run_list import NoCampaignError, Wanted, list_runs, list_runs_of_all_parts
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate as really_simulate

OLD, NEW = "kafka-0.10", "kafka-2.1+no-fetch-fence"
WALL = {"runs": ["wall_us"], "anomalies": [], "ops": [], "trace": []}
"""What differs between repetitions: how long a run took."""
INTACT = CampaignSpec("real", ("kafka-0.10", "kafka-2.7"), 4, 1, cluster=ClusterSpec().to_json())
DESTRUCTIVE = replace(INTACT, profile="destructive")
ON_KAFKA = replace(INTACT, world="docker", system="kafka:4.3.1", time_scale=3, plans=2)


class InTurn:
    """Stands for `Contained`: the simulator, in place of containers."""

    def __call__(self, spec: CampaignSpec, variant: str, index: int) -> Any:
        return really_simulate(spec, variant, index)

    def now_running(self) -> str:
        return "working"


class Tripping(InTurn):
    """Is stopped by a person before it is through."""

    def __init__(self) -> None:
        self.left = 3

    def __call__(self, spec: CampaignSpec, variant: str, index: int) -> Any:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().__call__(spec, variant, index)


def quiet() -> Console:
    return Console(file=io.StringIO())


def run(folder: Path, spec: CampaignSpec, **more: Any) -> CampaignOutcome:
    """As `tidemark compare` does, here and one plan after the other."""
    named = ("profile", "world", "system")
    place = find_place(folder, spec, named=named, fresh=more.get("fresh", False))
    refuse_mixture(folder, place, spec, fresh=more.get("fresh", False))
    contained = more.pop("contained", InTurn())
    return run_campaign(spec, place.folder, chunk_size=1, console=quiet(), contained=contained, **more)


def content(folder: Path) -> dict[str, bytes]:
    """Every file of the first part."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and PARTS not in path.relative_to(folder).parts
    }


def rows(folder: Path) -> list[Any]:
    """Every run, with all that a person sees of it."""
    return [run_.to_json() for wanted in (Wanted(), Wanted(unknown=True)) for run_ in list_runs(folder, wanted)]


def begun(folder: Path, spec: CampaignSpec) -> Manifest:
    place = find_place(folder, spec, named=("profile", "world", "system"), fresh=False)
    refuse_mixture(folder, place, spec, fresh=False)
    return open_campaign(place.folder, spec, chunk_size=2)


def refusal(folder: Path, spec: CampaignSpec, named: Any = ("profile", "world", "system"), **more: Any) -> str:
    with pytest.raises(CampaignRefusedError) as refused:
        refuse_mixture(
            folder, find_place(folder, spec, named=named, **{"fresh": False} | more), spec, **{"fresh": False} | more
        )
    return str(refused.value)


def test_a_profile_is_added_and_what_was_there_stays_byte_for_byte(tmp_path: Path) -> None:
    run(tmp_path / "mine", INTACT)
    before = content(tmp_path / "mine")
    run(tmp_path / "mine", DESTRUCTIVE)
    run(tmp_path / "alone", DESTRUCTIVE)

    assert content(tmp_path / "mine") == before
    added = tmp_path / "mine" / "parts" / "destructive"
    assert [part.folder for part in parts_of(tmp_path / "mine")] == [tmp_path / "mine", added]
    tables = [path.relative_to(added) for path in sorted(added.rglob("*.parquet"))]
    assert len(tables) == 4 * 2 * 4
    for path in tables:
        mine, alone = (pq.read_table(folder / path, partitioning=None) for folder in (added, tmp_path / "alone"))
        assert mine.drop_columns(WALL[path.parts[0]]) == alone.drop_columns(WALL[path.parts[0]])
    assert rows(added) == rows(tmp_path / "alone")


@pytest.mark.systems
def test_a_system_is_added_and_its_runs_are_kept_with_it(tmp_path: Path) -> None:
    class Keeping(InTurn):
        def __call__(self, spec: CampaignSpec, variant: str, index: int) -> Any:
            run_folder(tmp_path / "parts" / "intact-kafka-4.3.1", variant, index).mkdir(parents=True)
            return super().__call__(spec, variant, index)

    run(tmp_path, INTACT)
    before = content(tmp_path)
    run(tmp_path, ON_KAFKA, contained=Keeping())

    assert content(tmp_path) == before
    first, second = several_parts(tmp_path)
    assert (first.title, second.title) == ("intact", "intact, kafka:4.3.1 in containers")
    assert second.apart == {"profile": "intact", "world": "docker", "system": "kafka:4.3.1"}
    assert [(line.part, line.variant, line.runs) for line in part_lines(tmp_path)] == [
        ("intact", "kafka-0.10", 4),
        ("intact", "kafka-2.7", 4),
        ("intact, kafka:4.3.1 in containers", "kafka-0.10", 2),
        ("intact, kafka:4.3.1 in containers", "kafka-2.7", 2),
    ]

    run(tmp_path, replace(ON_KAFKA, plans=3, variants=("kafka-2.7",)), fresh=True)

    assert content(tmp_path) == before
    assert (second.folder / "earlier-1" / "evidence").is_dir()
    (again,) = [part for part in parts_of(tmp_path) if part.spec.world == "docker"]
    assert (again.folder, again.spec.plans, again.spec.variants) == (second.folder, 3, ("kafka-2.7",))


def test_a_part_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    for folder in (tmp_path / "whole", tmp_path / "stopped"):
        run(folder, INTACT)
    run(tmp_path / "whole", DESTRUCTIVE)
    assert run(tmp_path / "stopped", DESTRUCTIVE, contained=Tripping()).status == "interrupted"
    first, second = parts_of(tmp_path / "stopped")
    assert [line.runs for line in part_lines(tmp_path / "stopped")] == [4, 4, 2, 1]
    identity = second.manifest.identity

    run(tmp_path / "stopped", DESTRUCTIVE)

    assert Manifest.read(second.folder).identity == identity  # type: ignore[union-attr]
    assert Manifest.read(first.folder) == first.manifest
    assert rows(second.folder) == rows(tmp_path / "whole" / "parts" / "destructive")
    run(tmp_path / "stopped", replace(DESTRUCTIVE, plans=6))
    assert [line.runs for line in part_lines(tmp_path / "stopped")] == [4, 4, 6, 6]


def test_a_part_begun_anew_leaves_the_others(tmp_path: Path) -> None:
    run(tmp_path, INTACT)
    run(tmp_path, DESTRUCTIVE)
    first, second = parts_of(tmp_path)
    before = content(second.folder)

    run(tmp_path, replace(INTACT, plans=2), fresh=True)

    assert [part.spec.plans for part in parts_of(tmp_path)] == [2, 4]
    assert Manifest.read(tmp_path).identity != first.manifest.identity  # type: ignore[union-attr]
    assert content(second.folder) == before


def test_parts_are_begun_by_way_of_their_campaign(tmp_path: Path) -> None:
    begun(tmp_path, INTACT)
    begun(tmp_path, DESTRUCTIVE)
    part = tmp_path / "parts" / "destructive"
    sentence = f"is for a part of the campaign in {tmp_path}: give that folder, with the part's --profile or --system."

    assert sentence in refusal(part, replace(INTACT, seed=5), named=(), fresh=True)
    assert sentence in refusal(tmp_path / "parts" / "mine", INTACT, named=())
    assert find_place(part, DESTRUCTIVE, named=("profile",), fresh=False).folder == part  # which goes on


def test_a_part_whose_manifest_cannot_be_read_can_be_begun_anew(tmp_path: Path) -> None:
    begun(tmp_path, INTACT)
    begun(tmp_path, DESTRUCTIVE)
    part = tmp_path / "parts" / "destructive"
    whole = (tmp_path / "manifest.json").read_text()
    (part / "manifest.json").write_text("[]")

    with pytest.raises(CampaignRefusedError, match=r"destructive/manifest\.json is not a campaign's manifest"):
        find_place(tmp_path, DESTRUCTIVE, named=("profile",), fresh=False)
    place = find_place(tmp_path, DESTRUCTIVE, named=("profile",), fresh=True)
    assert (place.folder, [other.title for other in place.others]) == (part, ["intact"])
    open_campaign(place.folder, DESTRUCTIVE, fresh=True)

    (tmp_path / "manifest.json").write_text("[]")
    place = find_place(tmp_path, INTACT, named=(), fresh=True)
    assert (place.folder, [other.title for other in place.others]) == (tmp_path, ["destructive"])
    (tmp_path / "manifest.json").write_text(whole)
    assert [other.title for other in parts_of(tmp_path)] == ["intact", "destructive"]


def test_a_campaign_of_one_part_is_begun_anew_as_ever(tmp_path: Path) -> None:
    run(tmp_path, INTACT)

    assert find_place(tmp_path, DESTRUCTIVE, named=("profile",), fresh=True) == Place(tmp_path, None, ())
    (tmp_path / "manifest.json").write_text("[]")
    assert find_place(tmp_path, INTACT, named=(), fresh=True) == Place(tmp_path, None, ())


def test_what_nobody_named_adds_no_part(tmp_path: Path) -> None:
    begun(tmp_path, DESTRUCTIVE)

    assert find_place(tmp_path, INTACT, named=(), fresh=False) == Place(tmp_path, None, ())
    begun(tmp_path, ON_KAFKA)
    added = tmp_path / "parts" / "intact-kafka-4.3.1"
    assert find_place(tmp_path, ON_KAFKA, named=(), fresh=False).folder == added


@pytest.mark.systems
def test_imported_histories_get_no_part(tmp_path: Path) -> None:
    begun(tmp_path, CampaignSpec("theirs", ("unnamed",), 1, 1, "imported", world="imported"))

    assert find_place(tmp_path, DESTRUCTIVE, named=("profile",), fresh=False) == Place(tmp_path, None, ())
    with pytest.raises(CampaignRefusedError, match="holds imported histories"):
        open_campaign(tmp_path, DESTRUCTIVE)


def test_what_cannot_be_mixed_is_refused(tmp_path: Path) -> None:
    begun(tmp_path, INTACT)
    begun(tmp_path, DESTRUCTIVE)
    other = replace(INTACT, profile="deletions")

    assert "holds a campaign with seed 1, not 2: its parts differ" in refusal(tmp_path, replace(other, seed=2))
    assert "with contract None, not 'durable'" in refusal(tmp_path, replace(other, contract="durable"))
    assert "with keep 'violations', not 'all'" in refusal(tmp_path, replace(other, keep="all"))
    assert "with workload {}, not {'rate': 5.0}" in refusal(tmp_path, replace(other, workload={"rate": 5.0}))
    one = replace(ClusterSpec(), acks="1").to_json()
    assert "with acks 'all', not '1'" in refusal(tmp_path, replace(other, cluster=one))
    assert "with seed 1, not 2" in refusal(tmp_path, replace(DESTRUCTIVE, seed=2))
    assert "with seed 1, not 2" in refusal(tmp_path, replace(DESTRUCTIVE, seed=2), fresh=True)
    assert "leave it out to add deletions" in refusal(tmp_path, other, fresh=True)
    assert "to add a part, say that with --world too" in refusal(
        tmp_path, replace(other, world="docker"), named=("profile",)
    )
    inside = tmp_path / "parts" / "destructive"
    assert "is a part of the campaign in" in refusal(inside, other)
    assert part_of(inside) == tmp_path
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == ["destructive"]


def test_parts_of_one_system_have_its_settings_in_common(tmp_path: Path) -> None:
    begun(tmp_path, INTACT)
    begun(tmp_path, replace(ON_KAFKA, broker_config=("a=b",)))
    other = replace(ON_KAFKA, profile="destructive")

    assert "with broker_config ('a=b',), not ()" in refusal(tmp_path, other)
    other = replace(other, broker_config=("a=b",))
    assert "with clients 'confluent', not 'aiokafka'" in refusal(tmp_path, replace(other, clients="aiokafka"))
    assert begun(tmp_path, other).spec == other


def test_a_part_of_other_code_is_refused_and_one_that_is_there_goes_on(tmp_path: Path) -> None:
    begun(tmp_path, INTACT)
    there = begun(tmp_path, replace(INTACT, profile="deletions"))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["parts"]["nemesis/plan.py"] = "another"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))

    assert "The code has changed since" in refusal(tmp_path, DESTRUCTIVE)
    assert "(nemesis/plan.py)" in refusal(tmp_path, replace(DESTRUCTIVE, world="docker"))
    assert begun(tmp_path, there.spec) == there  # its own manifest says that it is of this code


def test_where_replicas_move_there_is_a_broker_more(tmp_path: Path) -> None:
    begun(tmp_path, INTACT)
    more = cluster_of_plans("reassignments", ClusterSpec())
    moving = replace(INTACT, profile="reassignments", cluster=more.to_json())

    assert more.brokers == 4
    begun(tmp_path, moving)
    assert [part.spec.cluster["brokers"] for part in parts_of(tmp_path)] == [3, 4]


def test_systems_of_nearly_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    begun(tmp_path, INTACT)
    for name in ("mine/a.py", "mine-a.py"):
        begun(tmp_path, replace(ON_KAFKA, system=name))

    found = {part.spec.system: part.folder.name for part in parts_of(tmp_path)}
    assert found == {"tidemark": tmp_path.name, "mine/a.py": "intact-mine-a.py", "mine-a.py": "intact-mine-a.py-2"}


def test_parts_are_listed_behind_their_campaign(
    tmp_path: Path, spec: CampaignSpec, simulate: Callable[..., Any]
) -> None:
    folder = tmp_path / "deep" / "down" / "mine"
    begun(folder, spec)
    other = replace(spec, profile="destructive")
    manifest = begun(folder, other)
    part = folder / "parts" / "destructive"
    run_chunk(Task(other, part, manifest.identity, simulate), manifest.layout.task(0))
    begun(tmp_path / "parts", spec)  # a campaign may be called so

    one, two, three = list_campaigns(tmp_path)

    assert (one.folder, one.profile, one.runs, one.part_of) == (folder, "intact", 0, None)
    assert (two.folder, two.profile, two.runs, two.part_of) == (part, "destructive", 2, folder)
    assert (three.folder, three.part_of) == (tmp_path / "parts", None)
    assert "part_of" not in one.to_json()
    assert two.to_json()["part_of"] == str(folder)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.systems
def test_all_parts_are_asked_with_their_profile_and_system(
    spark: SparkSession, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    mine, alone = tmp_path / "mine", tmp_path / "alone"
    other = replace(spec, profile="destructive", plans=9)
    run_campaign(spec, mine, chunk_size=5, console=quiet(), simulate=simulate)
    before = ask(spark, mine, "SELECT * FROM runs", 1).columns
    part = find_place(mine, other, named=("profile",), fresh=False).folder
    run_campaign(other, part, chunk_size=5, console=quiet(), simulate=simulate)
    run_campaign(replace(other, name="alone"), alone, chunk_size=5, console=quiet(), simulate=simulate)

    of = "SELECT * EXCEPT (wall_us, campaign) FROM runs ORDER BY variant, plan"
    assert ask(spark, part, of, 0) == ask(spark, alone, of, 0)
    told = ask(spark, mine, "SELECT profile, world, system, count(*) FROM runs GROUP BY ALL ORDER BY ALL", 0)
    assert told.rows == (("destructive", "sim", "tidemark", 18), ("intact", "sim", "tidemark", 24))
    assert ask(spark, mine, "SELECT * FROM runs", 1).columns == (*before, "profile", "world", "system")
    marks = ask(spark, mine, "SELECT profile, plan FROM marks WHERE mark = 'follower-paused' ORDER BY ALL", 0)
    assert marks.rows == (("destructive", 6), ("intact", 6), ("intact", 9))
    with pytest.raises(NothingToCompareError, match="was not judged again yet"):
        ask(spark, mine, "SELECT * FROM changes", 1)

    # Each part is compared by itself, in pairs; beside each other there are none, unless the plans are the same, as here.
    assert [variant.runs for variant in compare(SparkEngine(spark), mine).variants] == [12, 12]
    assert replace(compare(SparkEngine(spark), part), campaign="", begun="").variants[1].anomalies == (
        compare(SparkEngine(spark), alone).variants[1].anomalies
    )
    beside = compare_campaigns(spark, (mine, part))
    assert [variant.variant for variant in beside.variants] == [
        *(f"mine: {variant}" for variant in spec.variants),
        *(f"mine/destructive: {variant}" for variant in spec.variants),
    ]
    assert "profile: mine intact, mine/destructive destructive" in differences((mine, part))

    listed = list(list_runs_of_all_parts(mine, Wanted(variant=OLD)))
    assert [(one.part["profile"], one.plan) for one in listed] == [
        *(("intact", plan) for plan in (0, 4, 8)),
        *(("destructive", plan) for plan in (0, 4, 8)),
    ]
    assert listed[-1].command.endswith("--profile destructive")
    assert listed[-1].to_json()["system"] == "tidemark"
    assert "profile" not in next(list_runs_of_all_parts(alone, Wanted())).to_json()
    with pytest.raises(NoCampaignError, match="kafka-9 is none of the campaign's variants"):
        list(list_runs_of_all_parts(mine, Wanted(variant="kafka-9")))

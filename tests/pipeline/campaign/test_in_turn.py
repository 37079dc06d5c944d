"""Campaigns whose runs cannot be spread: one after the other, without Spark, kept run by run."""

import io
import threading
from pathlib import Path

import pytest
from rich.console import Console

from tidemark.harness.runs.folder import store_history, store_verdict
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.pipeline.campaign import campaign
from tidemark.pipeline.campaign.campaign import run_campaign
from tidemark.pipeline.folder.evidence import run_folder, stored_runs
from tidemark.pipeline.runs.campaign_spec import CampaignSpec, SpecError
from tidemark.pipeline.runs.simulate import plan_of, simulate


class Counted:
    """Stands for `Contained`: the simulator, with a count of what it was asked."""

    def __init__(self, trip=()):
        self.asked = []
        self.trip = trip

    def __call__(self, spec, variant, index):
        self.asked.append((variant, index))
        if (variant, index) in self.trip:
            raise RuntimeError("the engine is gone")
        return simulate(spec, variant, index)

    def now_running(self):
        return "working"


def spec_of(plans=3, variants=("kafka-0.10", "kafka-2.7"), **more):
    cluster = ClusterSpec().to_json()
    return CampaignSpec("real", variants, plans, 1, cluster=cluster, world="docker", **more)


def quiet():
    return Console(file=io.StringIO())


def go(spec, folder: Path, counted):
    return run_campaign(spec, folder, chunk_size=1, console=quiet(), contained=counted)


def test_every_variant_meets_a_plan_before_the_next_plan(tmp_path):
    counted = Counted()
    outcome = go(spec_of(2), tmp_path, counted)

    assert counted.asked == [("kafka-0.10", 0), ("kafka-2.7", 0), ("kafka-0.10", 1), ("kafka-2.7", 1)]
    assert (outcome.status, outcome.runs, outcome.errors) == ("finished", 4, 0)


def test_what_is_finished_is_not_run_again(tmp_path):
    go(spec_of(2), tmp_path, Counted())
    (tmp_path / "chunks/campaign=real/variant=kafka-2.7/chunk-00001.json").unlink()
    counted = Counted()
    go(spec_of(2), tmp_path, counted)

    assert counted.asked == [("kafka-2.7", 1)]


def test_a_run_that_raises_is_unknown_and_costs_no_other(tmp_path):
    outcome = go(spec_of(2), tmp_path, Counted(trip={("kafka-0.10", 0)}))

    assert (outcome.runs, outcome.errors, outcome.unknown) == (4, 1, 1)


def test_ctrl_c_keeps_what_is_finished(tmp_path, monkeypatch):
    shown = threading.Event()

    class Impatient(campaign.CampaignProgress):
        def show(self, chunks, now_running=""):
            if list(chunks) and not shown.is_set():
                shown.set()
                raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "CampaignProgress", Impatient)
    counted = Counted()
    outcome = go(spec_of(40), tmp_path, counted)

    assert outcome.status == "interrupted"
    assert 0 < outcome.runs < 80


def test_a_campaign_ends_at_the_first_violation_if_that_is_wanted_and_goes_on(tmp_path):
    spec = spec_of(12, variants=("kafka-0.10",))
    whole = go(spec, tmp_path / "whole", Counted())
    counted = Counted()
    stopped = run_campaign(spec, tmp_path / "x", chunk_size=1, console=quiet(), contained=counted, stop_at_first=True)

    assert stopped.status == "stopped"
    assert stopped.violating == {"kafka-0.10": 1}
    assert 0 < stopped.runs < 12
    assert "without --stop-at-first it goes on" in stopped.sentences()
    assert simulate(spec, *counted.asked[-1])[1].verdict.valid == "invalid"
    # Again: the violation is there already.
    nothing = Counted()
    assert (
        run_campaign(spec, tmp_path / "x", chunk_size=1, console=quiet(), contained=nothing, stop_at_first=True)
        == stopped
    )
    assert nothing.asked == []
    assert go(spec, tmp_path / "x", Counted()) == whole


def test_the_time_scale_is_part_of_the_plan():
    plan = generate_plan(1, 4, "intact", ClusterSpec())

    assert plan_of(spec_of(time_scale=3.0), 4) == plan.scaled(3)
    assert plan_of(spec_of(), 4) == plan


def test_stored_runs_are_looked_up(tmp_path):
    spec = spec_of()
    plan, result = simulate(spec, "kafka-0.10", 2)
    where = run_folder(tmp_path, "kafka-0.10", 2)
    store_history(where, plan, result.history)
    store_verdict(where, result.verdict, result.digest)

    again, found = stored_runs(tmp_path)(spec, "kafka-0.10", 2)

    assert again == plan
    assert (found.digest, found.verdict.to_json()) == (result.digest, result.verdict.to_json())


def test_a_variants_name_makes_one_folder(tmp_path):
    assert run_folder(tmp_path, "kafka-2.0+truncation=fetch", 3).relative_to(tmp_path).parts == (
        "evidence",
        "kafka-2.0+truncation%3Dfetch",
        "plan-00003",
    )


def test_an_unknown_world_is_refused():
    with pytest.raises(SpecError, match="World 'moon' is none of sim, docker"):
        CampaignSpec("x", ("kafka-2.7",), 1, 1, world="moon")


def test_a_spec_of_before_there_were_worlds_is_the_simulators():
    data = spec_of().to_json()
    for name in ("world", "time_scale", "clients"):
        del data[name]

    assert CampaignSpec.from_json(data).world == "sim"

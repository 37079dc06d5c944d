import json
from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.pipeline.folder.manifest import CampaignRefusedError, open_campaign
from tidemark.pipeline.folder.replay_command import replay_command
from tidemark.pipeline.runs.campaign_spec import CampaignSpec, SpecError
from tidemark.pipeline.runs.simulate import plan_of


def test_a_spec_survives_json() -> None:
    spec = CampaignSpec("a", ("kafka-0.10", "kafka-2.1"), 5, 7, "destructive", {"brokers": 4}, "durable", "all")

    assert CampaignSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": ".hidden"},
        {"variants": ()},
        {"variants": ("x", "x")},
        {"plans": 0},
        {"profile": "gentle"},
        {"keep": "some"},
    ],
)
def test_what_cannot_be_run_is_refused(wrong: dict[str, object]) -> None:
    right = {"name": "a", "variants": ("x",), "plans": 1, "seed": 1}
    with pytest.raises(SpecError):
        CampaignSpec(**{**right, **wrong})


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(SpecError, match="colour"):
        CampaignSpec.from_json({"name": "a", "variants": ["x"], "plans": 1, "seed": 1, "colour": "red"})


KAFKA = CampaignSpec(
    "a", ("kafka-0.10", "kafka-2.7"), 5, 7, world="docker", time_scale=3, clients="aiokafka", system="kafka:2.8.2",
    broker_config=("log.flush.interval.messages=1", "a.b=c=d"),
)  # fmt: skip


def test_what_ran_in_the_containers_survives_json() -> None:
    read = CampaignSpec.from_json(json.loads(json.dumps(KAFKA.to_json())))

    assert read == KAFKA
    assert (read.system, read.broker_config) == ("kafka:2.8.2", ("log.flush.interval.messages=1", "a.b=c=d"))


def test_a_spec_of_earlier_times_ran_our_own_nodes() -> None:
    data = {name: value for name, value in KAFKA.to_json().items() if name not in ("system", "broker_config")}

    assert (CampaignSpec.from_json(data).system, CampaignSpec.from_json(data).broker_config) == ("tidemark", ())


BUSY = CampaignSpec("a", ("kafka-2.7",), 5, 7, workload={"producers": 5, "rate": 40.0})


def test_what_is_asked_of_clients_is_part_of_a_campaign_and_of_the_command_that_has_a_run_again() -> None:
    assert CampaignSpec.from_json(json.loads(json.dumps(BUSY.to_json()))) == BUSY
    assert CampaignSpec.from_json({n: v for n, v in BUSY.to_json().items() if n != "workload"}).workload == {}
    assert (plan_of(BUSY, 3).workload.producers, plan_of(BUSY, 3).workload.interval_us) == (5, 25_000)
    assert replay_command(BUSY, Path("x"), "kafka-2.7", 3) == (
        "tidemark run --variant kafka-2.7 --seed 7 --index 3 --profile intact --producers 5 --rate 40"
    )


def test_a_campaign_with_other_clients_is_another_one(tmp_path: Path) -> None:
    open_campaign(tmp_path, BUSY)

    with pytest.raises(CampaignRefusedError, match=r"holds a campaign with workload .*'rate': 40.0.*, not \{\};"):
        open_campaign(tmp_path, replace(BUSY, workload={}))


def test_what_cannot_be_asked_of_clients_is_refused() -> None:
    with pytest.raises(SpecError, match="colour"):
        replace(BUSY, workload={"colour": 3})

import json

import pytest

from pipeline.campaign_spec import CampaignSpec, SpecError


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

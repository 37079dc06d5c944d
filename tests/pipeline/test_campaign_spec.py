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

"""Apache Kafka as a system under test: what it does with a run's wishes."""

import pytest

from tidemark.harness.systems.kafka.system import KafkaSystem


@pytest.fixture
def kafka():
    return KafkaSystem.parse("kafka:2.8.2", {})


def test_rules_for_messages_go_to_every_keeper(kafka):
    rule = {"kind": "fetch requests", "to": 1, "effect": "drop", "amount": 0}

    spread = kafka.spread({0: [], 2: [rule]}, (0, 1, 2))

    wanted = [{"kind": "fetch requests", "from": 2, "to": 1, "effect": "drop", "amount": 0}]
    assert spread == {0: wanted, 1: wanted, 2: wanted}
    assert kafka.spread({0: [], 2: []}, (0, 1, 2)) == {}


def test_leadership_is_heard_from_whichever_broker_is_the_controller(kafka):
    rules = [
        {"kind": "leadership", "to": 2, "effect": "drop", "amount": 0},
        {"kind": None, "to": 2, "effect": "delay", "amount": 9},
    ]

    spread = kafka.spread({0: rules}, (0,))

    assert [(rule["kind"], rule["from"]) for rule in spread[0]] == [("leadership", None), (None, 0)]


def test_a_killed_container_keeps_what_its_broker_wrote(kafka):
    assert kafka.container_kill == "crash"

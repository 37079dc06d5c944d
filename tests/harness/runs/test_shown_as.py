"""A person who ran a release of Kafka reads its number, and not the name of the model that judges it."""

import pytest

from tidemark.harness.runs.shown_as import shown_as


@pytest.mark.parametrize(
    ("system", "shown"),
    [
        ("kafka:3.9.2@3.9", "Apache Kafka 3.9.2"),
        ("kafka:4.3.1", "Apache Kafka 4.3.1"),
        ("kafka:2.8.2@2.8", "Apache Kafka 2.8.2"),
        ("kafka:2.8.2@0.10.2", "Apache Kafka 2.8.2 under protocol 0.10.2"),
        ("kafka:4.3.1@4.3@3-controllers", "Apache Kafka 4.3.1 with 3 controllers"),
        ("kafka:4.3.1@3-controllers", "Apache Kafka 4.3.1 with 3 controllers"),
        ("tidemark", "kafka-3.7"),
        ("nats:2.15.1", "kafka-3.7"),
    ],
)
def test_by_the_system_that_ran(system, shown):
    assert shown_as({"variant": "kafka-3.7", "system": system}) == shown


def test_in_the_simulator_it_is_the_variant():
    assert shown_as({"variant": "kafka-2.7+no-isr-fence"}) == "kafka-2.7+no-isr-fence"

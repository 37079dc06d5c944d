"""Which systems take plans that move replicas."""

import pytest

from tidemark.harness.systems.kafka.system import KafkaSystem
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

MOVES = Plan(0, 0, 1, "by hand", ClusterSpec(brokers=4), WorkloadSpec(), (Fault("reassignment", 1),), 2)


def check(system):
    system.check(MOVES, system.variant(system.default_variant))


class MovesNothing(TidemarkSystem):
    """A system of which nobody says that it can."""

    name = "still"
    reassign = None


@pytest.mark.parametrize(
    "system", [TidemarkSystem(), KafkaSystem.parse("kafka:2.8.2", {}), KafkaSystem.parse("kafka:4.1.1", {})]
)
def test_ours_and_kafka_do(system):
    check(system)


def test_what_does_not_says_so():
    with pytest.raises(SystemRefusalError, match=r"^still .*, so it cannot do reassignment$"):
        check(MovesNothing())

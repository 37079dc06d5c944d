"""Which systems take plans that kill their controller."""

import pytest

from tidemark.harness.systems.kafka.system import KafkaSystem
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec


def plan(kind):
    return Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), (Fault(kind, 1),), 2)


def check(system, kind):
    system.check(plan(kind), system.variant(system.default_variant))


class KeepsNothing(TidemarkSystem):
    """Its controller begins with nothing if its process is killed, and cannot fail by itself."""

    fail_controller = None


def test_a_controller_that_keeps_nothing_is_not_killed():
    check(KeepsNothing(), "controller-isolated")
    with pytest.raises(
        SystemRefusalError, match=r"cannot do controller-crash: run this plan with --system kafka:VERSION$"
    ):
        check(KeepsNothing(), "controller-crash")


def test_ours_fails_and_is_replaced():
    check(TidemarkSystem(), "controller-crash")


@pytest.mark.parametrize("version", ["kafka:2.8.2", "kafka:4.1.1"])
def test_kafkas_is(version):
    check(KafkaSystem.parse(version, {}), "controller-crash")

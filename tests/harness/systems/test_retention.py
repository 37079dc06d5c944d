"""Which systems take plans whose brokers' retention deletes."""

import pytest

from tidemark.harness.systems.kafka.system import KafkaSystem
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec


def check(system, kind):
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), (Fault(kind, 1, target="any"),), 2)
    system.check(plan, system.variant(system.default_variant))


@pytest.mark.parametrize("kind", ["retention", "delete-records"])
def test_ours_deletes_either_way(kind):
    check(TidemarkSystem(), kind)


@pytest.mark.parametrize("version", ["kafka:2.8.2", "kafka:4.1.1"])
def test_kafkas_deletes_what_a_client_asks_for_only(version):
    kafka = KafkaSystem.parse(version, {})
    check(kafka, "delete-records")
    with pytest.raises(SystemRefusalError, match=r"nobody can tell a broker of kafka:\S+ when"):
        check(kafka, "retention")


def test_a_broker_is_told_so_by_its_admin_port():
    asked = []

    class Control:
        class admin:  # noqa: N801
            @staticmethod
            def ask(do, **entries):
                asked.append((do, entries))

    TidemarkSystem().retain(Control, "t-0", 3)

    assert asked == [("retention", {"partition": "t-0", "batches": 3})]

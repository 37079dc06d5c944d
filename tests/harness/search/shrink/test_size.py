"""What is smaller."""

from dataclasses import replace

import pytest

from tidemark.harness.search.shrink.size import records_of, size_of
from tidemark.nemesis import Send, Trigger, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

SECOND = 1_000_000


def smaller(one, other):
    return size_of(one) < size_of(other)


def test_faults_count_before_all_else(plan, fault):
    many = WorkloadSpec(producers=4, consumers=2)
    assert smaller(plan(fault(), work=many, cluster=ClusterSpec(5)), plan(fault(), fault()))


def test_a_workload_that_is_written_down_is_smaller_than_one_that_is_drawn(plan):
    hundred = WorkloadSpec(producers=4, sends=tuple(Send(i, records=10) for i in range(100)))
    assert smaller(plan(work=hundred), plan(work=WorkloadSpec(producers=1)))
    assert records_of(plan(work=hundred)) == 1_000


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"kind": "crash"}, {"kind": "power"}),
        ({"kind": "crash"}, {"kind": "crash-all"}),
        ({"kind": "forced-election"}, {"kind": "fast-failover"}),
        ({"target": "follower"}, {"target": "b2"}),
        ({"target": "leader"}, {"target": "any"}),
        ({"pick": 0}, {"pick": 3}),
        ({"clients": False}, {"clients": True}),
        ({"after": None}, {"after": Trigger("append", 1)}),
        ({"after": Trigger("append", 1)}, {"after": Trigger("append", 4)}),
        ({"at_us": 1_200_000}, {"at_us": 1_193_217}),
        ({"at_us": 500_000}, {"at_us": 2_000_000}),
        ({"lasts_us": 0}, {"lasts_us": 100_000}),
    ],
)
def test_a_plainer_fault_makes_a_smaller_plan(plan, fault, less, more):
    assert smaller(plan(fault(**less)), plan(fault(**more)))


def test_fixed_delays_are_smaller_than_noise_and_noise_is_as_small_as_any_other(plan):
    noisy = plan()
    assert smaller(replace(noisy, fixed_delay_us=1_000), noisy)
    assert size_of(replace(noisy, noise_seed=99)) == size_of(noisy)


def test_a_smaller_cluster(plan):
    usual = plan()
    assert smaller(plan(cluster=ClusterSpec(2, 2)), usual)
    assert smaller(usual, plan(cluster=ClusterSpec(partitions=2)))
    assert smaller(usual, plan(cluster=ClusterSpec(settings=Settings(unclean_election=True))))

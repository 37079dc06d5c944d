"""The garbage collector is paused while a run is checked, and has nothing to do afterwards."""

import gc

import pytest

from tidemark.checkers import check
from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant


@pytest.fixture(params=[True, False], ids=["collecting", "not collecting"])
def collecting(request):
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_afterwards_the_collector_is_as_it_was(collecting):
    with collector_paused():
        assert not gc.isenabled()

    assert gc.isenabled() is collecting


def test_also_when_something_goes_wrong(collecting):
    with pytest.raises(ZeroDivisionError), collector_paused():
        _ = 1 // 0

    assert gc.isenabled() is collecting


@pytest.mark.parametrize("profile", ["intact", "destructive"])
def test_a_checked_run_leaves_no_circles_of_objects(profile):
    history = simulate(generate_plan(1, 0, profile, ClusterSpec()), parse_variant("kafka-2.7")).history
    check(history)
    gc.collect()
    with collector_paused():
        check(history)

        assert gc.collect() == 0

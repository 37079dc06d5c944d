"""Real runs, shrunk: how small they get, that they show the same, and that nothing is left to luck or lost."""

import pytest

from tidemark.harness.search.shrink import INTERRUPTED, SPENT, WHOLE, Budget, causes_of, how_often, shrink
from tidemark.harness.search.shrink.choice import chosen
from tidemark.harness.search.shrink.size import records_of, size_of
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Plan, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec


def hit(variant, profile, seed, index):
    """A random plan, how to replay it, and the cause of what it shows."""
    plan = generate_plan(seed, index, profile, ClusterSpec())
    found = execute(plan, variant)
    cause = causes_of(chosen(found.verdict), found.verdict, found.history)[0]
    return plan, (lambda plan: execute(plan, variant)), cause


@pytest.fixture(scope="module")
def lost_write():
    """KIP-101's loss, with 13 faults and 148 records."""
    return hit("kafka-0.10", "intact", 1, 3)


@pytest.fixture(scope="module")
def shrunk(lost_write):
    plan, run, cause = lost_write
    return shrink(plan, cause, run, budget=Budget(2_000))


def test_a_lost_write_takes_one_failover_and_one_record(shrunk):
    assert [fault.kind for fault in shrunk.after.faults] == ["fast-failover"]
    assert records_of(shrunk.after) == shrunk.run.verdict.stats["acked"] == 1
    assert shrunk.after.workload.consumers == 0
    assert shrunk.ended == WHOLE


def test_it_needs_no_luck_and_its_times_are_round(shrunk, lost_write):
    _, run, cause = lost_write
    assert shrunk.after.fixed_delay_us is not None
    assert all(fault.at_us % 100_000 == 0 and fault.after is None for fault in shrunk.after.faults)
    seen, tried = how_often(shrunk.after, cause, run, 4)
    assert (seen, tried) == (4, 4)


def test_what_is_left_shows_the_same_when_it_is_read_back_and_replayed(shrunk, lost_write):
    _, run, cause = lost_write
    again = run(Plan.from_json(shrunk.after.to_json()))
    assert again.digest == shrunk.run.digest
    assert cause in causes_of(shrunk.anomaly, again.verdict, again.history)
    assert cause.facts[0] == "the later leader had cut it from its log (to high watermark)"


def test_the_same_twice_gives_the_same_bytes(shrunk, lost_write):
    plan, run, cause = lost_write
    again = shrink(plan, cause, run, budget=Budget(2_000))
    assert again.after.to_text() == shrunk.after.to_text()
    assert (again.replays, again.candidates) == (shrunk.replays, shrunk.candidates)


@pytest.mark.parametrize("most", [1, 5, 20])
def test_a_budget_ends_with_the_best_so_far(lost_write, most):
    plan, run, cause = lost_write
    found = shrink(plan, cause, run, budget=Budget(most))
    assert found.ended == SPENT
    assert found.replays == most
    assert size_of(found.after) <= size_of(plan)
    replayed = run(found.after)
    assert any(
        cause in causes_of(one, replayed.verdict, replayed.history) for one in replayed.verdict.named(cause.name)
    )


def test_an_interrupt_ends_with_the_best_so_far(lost_write):
    plan, run, cause = lost_write
    left = [12]

    def interrupted(candidate):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return run(candidate)

    found = shrink(plan, cause, interrupted, budget=Budget(2_000))
    assert found.ended == INTERRUPTED
    assert len(found.after.faults) < len(plan.faults)


def test_progress_is_told(lost_write):
    plan, run, cause = lost_write
    told = []
    shrink(plan, cause, run, budget=Budget(100), watch=told.append)
    assert told[0].doing == "dropping faults"
    sizes = [size_of(progress.best) for progress in told]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0]


def test_what_does_not_show_it_cannot_be_shrunk(lost_write):
    _, _, cause = lost_write
    plan = generate_plan(1, 0, "intact", ClusterSpec())
    assert shrink(plan, cause, lambda plan: execute(plan, "kafka-2.7"), budget=Budget(100)) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "profile", "index", "faults", "records"),
    [
        ("kafka-0.10", "intact", 12, 2, 1),  # a broker that gives up since its leader has less
        ("kafka-0.10", "intact", 65, 1, 1),
        ("kafka-0.10", "intact", 73, 1, 1),
        pytest.param("kafka-0.11", "destructive", 14, 2, 1, marks=pytest.mark.systems),  # the same after a lost disk
        pytest.param(
            "kafka-0.11", "destructive", 47, 2, 4, marks=pytest.mark.systems
        ),  # KIP-279: divergence after two fast elections
        ("kafka-2.0", "intact", 112, 2, 1),  # KIP-320: a leader that has not heard of its epoch answers
        ("kafka-2.1", "intact", 352, 1, 0),  # KAFKA-1120: a bounce that nobody notices
    ],
)
def test_small_as_by_hand(variant, profile, index, faults, records):
    plan, run, cause = hit(variant, profile, 1, index)
    found = shrink(plan, cause, run, budget=Budget(5_000))
    assert len(found.after.faults) <= faults
    assert records_of(found.after) <= records
    assert cause in causes_of(found.anomaly, found.run.verdict, found.run.history)

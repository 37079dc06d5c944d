"""After healing: what a partition is said to wait for."""

import pytest

from tidemark.harness.runs.at_rest import restored, waiting_for
from tidemark.harness.simulator import simulate
from tidemark.harness.simulator.at_rest import view_of
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.variant import parse_variant

T = "t-0"
SECOND = 1_000_000


def test_a_healthy_world_waits_for_nothing(simulation):
    w = simulation()

    assert waiting_for(view_of(w, T)) == ""
    assert restored(view_of(w, T))


def test_a_world_that_has_not_begun_has_no_leader(simulation):
    w = simulation(until=0)

    assert waiting_for(view_of(w, T)) == "no leader: ISR [1, 2, 3], ELR []"
    assert not restored(view_of(w, T))


def test_a_broker_that_does_not_run(simulation):
    w = simulation()
    w.stop(3, "crash")

    assert waiting_for(view_of(w, T)) == "broker 3 is not running"


def test_a_broker_in_an_older_leader_epoch(simulation):
    w = simulation()
    w.set_link_fault(0, ((0, 3),), "lost-leadership", 0)
    w.elect(T, "forced", 2)
    w.run_until(2 * SECOND)

    assert waiting_for(view_of(w, T)) == "broker 3 is in leader epoch 0, not 1"


def test_a_follower_that_lacks_records(simulation):
    w = simulation()
    w.broker(1).replicas[T].log.append(Batch(0, 0, (7, 8)))
    w.broker(1).replicas[T].hw = 2

    assert waiting_for(view_of(w, T)) == "broker 2 has log end 0, the leader 2"


def test_a_follower_that_refuses_a_batch(simulation):
    """Its log ends inside one of the leader's batches, as after a truncation by a wrong rule; so the leader's HW stands too."""
    w = simulation()
    w.broker(1).replicas[T].log.append(Batch(0, 0, (7, 8)))
    w.broker(2).replicas[T].log.append(Batch(0, 0, (7,)))
    w.run_until(2 * SECOND)

    assert waiting_for(view_of(w, T)) == (
        "broker 2 has log end 1, the leader 2: it refuses the leader's batch at offset 0 as out of order"
    )


def test_a_high_watermark_below_the_logs_end(simulation):
    w = simulation()
    for broker in (1, 2, 3):
        w.broker(broker).replicas[T].log.append(Batch(0, 0, (7,)))

    assert waiting_for(view_of(w, T)) == "broker 1 has high watermark 0, the leader's log ends at 1"


def test_an_isr_that_is_not_full(simulation):
    w = simulation()
    w.controller.partitions[T].isr = (1, 2)

    assert waiting_for(view_of(w, T)) == "ISR is [1, 2] (leader: [1, 2, 3]), replicas are [1, 2, 3]"
    assert not restored(view_of(w, T))


def test_being_restored_does_not_ask_for_equal_logs(simulation):
    w = simulation()
    w.broker(1).replicas[T].log.append(Batch(0, 0, (7,)))

    assert restored(view_of(w, T))
    assert waiting_for(view_of(w, T)) != ""


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-0.11", "kafka-2.1", "kafka-2.7", "kafka-4.0"])
def test_a_run_says_that_it_converged(plan, variant):
    trace = simulate(plan(end=SECOND), parse_variant(variant)).history.trace

    assert [entry[3:] for entry in trace if entry[2] == "converged"] == [(T, True, "")]

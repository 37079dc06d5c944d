"""What happens to real processes happens to the scripts here: commands take effect late, messages take different times,
brokers start one after the other, and slowly. A script that depends on none of that comes out as in the best of worlds.
"""

import pytest

from tidemark.harness.scenario import all_scenarios, parse_scenario, run_scenario, variants_of
from tidemark.harness.scenario.simulated.slow_hand import SlowHand
from tidemark.nodes.core.variant import parse_variant

PAIRS = [(scenario, variant) for scenario in all_scenarios() for variant in variants_of(scenario)]


@pytest.mark.parametrize("reaction_ms", [pytest.param(10, marks=pytest.mark.systems), 60, 300])
@pytest.mark.parametrize(("scenario", "variant"), PAIRS, ids=lambda value: getattr(value, "name", value))
def test_a_script_does_not_depend_on_exact_moments(scenario, variant, reaction_ms, monkeypatch):
    monkeypatch.setattr(SlowHand, "reaction_us", reaction_ms * 1_000)

    assert run_scenario(scenario, variant, SlowHand).mismatches == []


SLEEPING = """\
name: sleeping
title: A leader sleeps through a reign
source: none
brokers: A, B, C
cluster: acks all, min ISR 2, unclean election off, session 18 s

about:
  Nothing is lost.

1. A sleeps while B is elected, and then it.
   > pause A
   > {rests}
   > elect B
   > until C follows B in epoch 1
   > elect A
   > until C follows A in epoch 2
   > resume A
   > until A leads epoch 2

outcome kafka-0.10: valid
  truncations: none
  A: leader | empty | HW 0 | epochs none
  B: follower | empty | HW 0 | epochs none
  C: follower | empty | HW 0 | epochs none
"""


@pytest.mark.parametrize(
    ("variant", "rests", "heard"),
    [("kafka-4.0", "run 10 ms", True), ("kafka-4.0", "run 1 s", False), ("kafka-2.7", "run 10 ms", True)],
)
def test_a_broker_that_sleeps_hears_of_what_its_waiting_fetch_was_answered_with(variant, rests, heard):
    """By itself, before all that came later; after half a second the fetch is answered with nothing (`KafkaRaftClient`). Without
    a metadata log each state is a request.
    """
    played = run_scenario(parse_scenario(SLEEPING.format(rests=rests)), variant, SlowHand)

    followed = [event for event in played.history.trace if event[1:3] == (1, "follow")]
    assert [event[4:6] for event in followed] == ([(1, 2)] if heard else [])


def test_ways_are_uneven_for_a_whole_run():
    class Uneven(SlowHand):
        uneven = 50

    target = Uneven(PAIRS[0][0], parse_variant("kafka-4.0"))
    ways = [(a, b) for a in range(4) for b in range(4) if a != b]
    means = [target._mean(*way) for way in ways]

    assert {*means} == {SlowHand.message_us, 50 * SlowHand.message_us}
    assert [target._mean(*way) for way in ways] == means

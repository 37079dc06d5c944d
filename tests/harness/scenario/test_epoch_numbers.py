"""Leader epochs in a script's numbers, on a system that counts them otherwise."""

from dataclasses import replace

import pytest

from tidemark.harness.evidence.partition_disk import Disk
from tidemark.harness.evidence.replica_evidence import ReplicaEvidence
from tidemark.harness.scenario import parse_scenario, run_scenario
from tidemark.harness.scenario.live.epoch_numbers import UNKNOWN, EpochNumbers
from tidemark.harness.scenario.live.target import LiveTarget
from tidemark.harness.scenario.snapshots import ReplicaSnapshot
from tidemark.harness.systems.kafka.epochs_of_old_formats import attribute
from tidemark.harness.systems.tidemark import TidemarkSystem

TIME_SCALE = 0.2


def elected(leader, epoch):
    """What the controller traces of an election."""
    return [1_000, 0, "elect", "t-0", leader, epoch, [1, 2, 3], [], "online", True, 1]


def numbers(*elections, first=0):
    made = EpochNumbers(first)
    for leader, epoch in elections:
        made.heard(elected(leader, epoch))
    return made


def test_a_reign_is_what_a_script_counts():
    found = numbers((1, 0), (2, 1), (1, 2))

    assert [found.number(epoch) for epoch in range(3)] == [0, 1, 2]


def test_the_first_reign_has_the_scripts_first_epoch_whatever_the_system_calls_it():
    found = numbers((1, 5), (2, 6), first=3)

    assert [found.number(epoch) for epoch in (5, 6)] == [3, 4]


def test_epochs_in_which_the_same_broker_goes_on_are_one_reign():
    """A change of the ISR's order, or a follower's shutdown, costs Kafka a leader epoch."""
    found = numbers((1, 0), (1, 1), (1, 2), (2, 5), (2, 6))

    assert [found.number(epoch) for epoch in (0, 1, 2, 5, 6)] == [0, 0, 0, 1, 1]


def test_a_time_without_a_leader_is_a_reign():
    found = numbers((1, 0), (-1, 1), (1, 2))

    assert [found.number(epoch) for epoch in range(3)] == [0, 1, 2]


def test_an_epoch_that_was_skipped_belongs_to_the_reign_before_it():
    assert numbers((1, 0), (2, 4)).number(3) == 0


def test_an_epoch_that_nobody_was_told_of_belongs_to_the_latest_reign():
    assert numbers((1, 0), (2, 1)).number(9) == 1
    assert numbers(first=3).number(0) == 3


def test_no_epoch_stays_none():
    assert numbers((1, 0), first=3).number(-1) == UNKNOWN


def test_other_events_are_no_elections():
    found = numbers((1, 0))
    found.heard([1_000, 0, "isr-change", "t-0", 2, 5])

    assert found.number(5) == 0


def test_entries_of_a_cache_that_are_one_reign_are_one_entry():
    found = numbers((1, 0), (1, 1), (2, 4), first=3)

    assert found.cache(((0, 0), (1, 5), (4, 9))) == ((3, 0), (4, 9))
    assert found.cache(()) == ()


def replica(*log):
    return ReplicaSnapshot(2, "leader", 6, log, len(log), 0, ())


@pytest.mark.parametrize(
    ("broker", "knew", "reign"),
    [
        (1, 5, 3),
        pytest.param(2, 5, 4, id="one-that-does-not-know-yet-that-it-leads"),
        pytest.param(1, 6, 5, id="a-former-leader-that-leads-again"),
        pytest.param(3, 6, 4, id="one-that-never-led"),
    ],
)
def test_a_record_without_an_epoch_is_of_the_reign_in_which_its_broker_took_it(broker, knew, reign):
    found = numbers((1, 5), (2, 6), (1, 7), first=3)
    found.sent(["m1"], broker, knew)

    assert found.of_replica(replica((-1, "m1"), (6, "m2"))).log == ((reign, "m1"), (4, "m2"))


def test_a_record_that_nobody_sent_has_no_reign():
    assert numbers((1, 5)).of_replica(replica((-1, "m1"))).log == ((UNKNOWN, "m1"),)


# On a target


class CountsOtherwise(TidemarkSystem):
    """Its first leader epoch is another than the script's, and its disks do not say of which epoch a record is."""

    renumbers_epochs = True

    def __init__(self, *, old_format):
        self.old_format = old_format

    def read_disk(self, control, partition):
        disk = super().read_disk(control, partition)
        if not self.old_format:
            return disk
        return Disk([(base, -1, values) for base, _, values in disk.batches], disk.epochs, disk.hw)

    def interpret(self, found):
        attributed = attribute(found.events, found.segments)
        return ReplicaEvidence(attributed.events, attributed.segments)


SCRIPT = """\
name: two
title: Two brokers
source: none
brokers: A, B
cluster: acks all, min ISR 1, first epoch 3

1. A leads, then B.
   > expect A: leader | empty | epoch 3
   > write m1
   > until A, B have HW 1
   > elect B
   > until A follows B
   > write m2
   > until A, B have HW 2
   > expect B: leader | 3:m1 4:m2 | HW 2

outcome kafka-2.7: valid
  truncations: none
  A: follower | 3:m1 4:m2 | HW 2 | epochs 3@0 4@1
  B: leader | 3:m1 4:m2 | HW 2 | epochs 3@0 4@1
"""


@pytest.fixture
def play(tmp_path, local_nodes):
    """Acts the script out on nodes whose first leader epoch is 7."""

    def play(system):
        def set_up(scenario, variant):
            nodes = local_nodes(tmp_path, replace(scenario, first_epoch=7), variant, TIME_SCALE)
            nodes.system = system
            return LiveTarget(scenario, variant, nodes, TIME_SCALE)

        return run_scenario(parse_scenario(SCRIPT), "kafka-2.7", set_up)

    return play


@pytest.mark.slow
@pytest.mark.parametrize("old_format", [False, True])
def test_a_stage_tells_reigns_in_the_scripts_numbers_and_traces_what_was(play, old_format):
    outcome = play(CountsOtherwise(old_format=old_format))

    assert outcome.mismatches == []
    assert [event[5] for event in outcome.history.trace if event[2] == "elect"] == [7, 8]
    appended = {event[5] for event in outcome.history.trace if event[2] == "append"}
    assert appended == {7, 8}


@pytest.mark.slow
def test_a_system_that_counts_as_scripts_do_is_taken_at_its_word(play):
    assert play(TidemarkSystem()).mismatches[0] == "line 8: A should know leader epoch 3, but knows 7"

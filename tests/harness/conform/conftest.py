"""Worlds to compare: the simulator, and simulators in which something is otherwise."""

import pytest

from tidemark.harness.conform.pairing import Pairing
from tidemark.harness.conform.play_pairing import conform
from tidemark.harness.conform.players import MachinePlayer, SimulatorPlayer
from tidemark.harness.scenario import parse_scenario
from tidemark.harness.scenario.simulated import SimulatedTarget

SCRIPT = """\
name: two
title: Two brokers
source: none
brokers: A, B
cluster: acks all, min ISR 1, lag time 5 s

1. m1 is written.
   > write m1
   > [kafka-0.10] write old
   > [kafka-2.7] write new

2. B leads.
   > until A, B have HW 2
   > elect B
   > until B leads
   > until A follows B
   > write m2
   > expect B: leader | LEO 3 | HW 3

outcome kafka-0.10, kafka-2.7: unknown
  truncations: none
  A: follower | 0:m1 | HW 1 | epochs 0@0
  B: leader | 0:m1 | HW 1 | epochs 0@0
"""


class LateEpochs(SimulatedTarget):
    """Its first leader epoch is 7."""

    def prepare(self):
        super().prepare()
        self.simulation.lead_from(7)


class ToldInTheScriptsNumbers(LateEpochs):
    """The same, but its replicas are told as if the first epoch were 0, and without any in their logs."""

    def state(self, broker):
        seen = super().state(broker)
        log = tuple((-1, record) for _, record in seen.log)
        return seen._replace(epoch=seen.epoch - 7, log=log, cache=tuple((e - 7, start) for e, start in seen.cache))


class LowHighWatermark(SimulatedTarget):
    """Says in the end that B's high watermark is 2."""

    def state(self, broker):
        seen = super().state(broker)
        return seen._replace(hw=2) if broker == 2 and seen.leo == 3 else seen


@pytest.fixture
def pairing():
    return Pairing(parse_scenario(SCRIPT), "kafka-2.7", "kafka-2.7", "kafka:9.9.9@9.9")


@pytest.fixture
def compare(pairing):
    """Compares the simulator with targets of another kind."""

    def compare(target, *, times=1, findings=(), of=pairing, tell=lambda words: None):
        other = MachinePlayer("kafka", lambda: target, lambda: None, real=True)
        return conform(of, [SimulatorPlayer(), other], times=times, findings=findings, tell=tell)

    return compare


@pytest.fixture
def late_epochs():
    return LateEpochs


@pytest.fixture
def told_in_the_scripts_numbers():
    return ToldInTheScriptsNumbers


@pytest.fixture
def low_high_watermark():
    return LowHighWatermark

"""Consumers driven by hand: positions, time-outs, and the final read of everything."""

from random import Random

import pytest

from tidemark.harness.simulator.workload import Consumer, FinalReader
from tidemark.nodes.core.messages import ConsumeRequest, ConsumeResponse, MetadataRequest, MetadataResponse
from tidemark.nodes.families.kafka import KAFKA

MS = 1_000
ME = 201


class SimulationByHand:
    """What a client uses of a simulation; time moves only when told to."""

    def __init__(self, partitions):
        self.family = KAFKA
        self.now = 0
        self.ops, self.actors, self.sent, self.timers = [], {}, [], []
        self._partitions = partitions

    def partitions(self):
        return self._partitions

    def brokers(self):
        return (1, 2, 3)

    def stream(self, name):
        return Random(name)

    def send(self, source, to, message):
        assert source == ME
        self.sent.append((to, message))

    def push(self, at, actor, event):
        self.timers.append((at, event))


class Hand:
    """One consumer in such a simulation; broker 1 leads everything unless ``leaders`` says otherwise."""

    def __init__(self, partitions=("t-0",), leaders=None, *, final=False):
        self.simulation = SimulationByHand(partitions)
        if final:
            self.consumer = FinalReader(self.simulation, ME)
        else:
            self.consumer = Consumer(self.simulation, ME, "c1", 200 * MS)
        self.consumer.leaders = dict.fromkeys(partitions, 1) if leaders is None else leaders
        self.consumer.begin()

    def ring(self):
        """The last timer set rings."""
        self.simulation.now, event = self.simulation.timers[-1]
        self.simulation.sent.clear()
        self.consumer.handle(self.simulation.now, event)

    def gets(self, message):
        self.simulation.now += 5 * MS
        self.simulation.sent.clear()
        self.consumer.handle(self.simulation.now, message)

    def answer(self, *records, hw=9, error=None):
        request = self.request
        self.gets(ConsumeResponse(1, request.partition, request.correlation, list(records), hw, error))

    @property
    def request(self):
        return next(m for _, m in reversed(self.simulation.sent) if isinstance(m, ConsumeRequest))

    def requests(self):
        return [(to, m.partition, m.offset) for to, m in self.simulation.sent if isinstance(m, ConsumeRequest)]

    def asked(self):
        return [to for to, m in self.simulation.sent if isinstance(m, MetadataRequest)]

    def said(self):
        return [(op.type, op.f, op.value, op.error) for op in self.simulation.ops]


@pytest.fixture
def hand():
    return Hand


def test_a_consumer_begins_at_the_start_after_a_pause(hand):
    one = hand()
    assert 100 * MS <= one.simulation.timers[-1][0] < 300 * MS
    one.ring()

    assert one.requests() == [(1, "t-0", 0)]
    assert one.said() == [("invoke", "poll", (("poll", {}),), None)]


def test_it_goes_on_behind_the_last_record(hand):
    one = hand()
    one.ring()
    one.answer((0, 70), (1, 71))
    one.ring()

    assert one.requests() == [(1, "t-0", 2)]
    assert one.said()[1] == ("ok", "poll", (("poll", {"t-0": [(0, 70), (1, 71)]}),), None)


def test_an_empty_poll_does_not_move_it(hand):
    one = hand()
    for _ in range(2):
        one.ring()
        one.answer()

    one.ring()
    assert one.requests() == [(1, "t-0", 0)]
    assert one.said()[1] == ("ok", "poll", (("poll", {"t-0": []}),), None)


def test_it_polls_its_partitions_in_turn(hand):
    one = hand(("t-0", "t-1"))
    polled = []
    for _ in range(4):
        one.ring()
        polled.append(one.request.partition)
        one.answer()

    assert polled == ["t-0", "t-1", "t-0", "t-1"]


def test_a_consumer_that_knows_no_leader_asks(hand):
    one = hand(leaders={})
    one.ring()
    assert one.requests() == []
    assert len(one.asked()) == 1

    one.gets(MetadataResponse(2, one.consumer._metadata_correlation, {"t-0": 2}))
    assert one.requests() == [(2, "t-0", 0)]
    assert len(one.said()) == 1


def test_a_poll_that_is_not_answered_fails_and_the_leader_is_looked_for_again(hand):
    one = hand()
    one.ring()
    begun = one.simulation.now
    one.ring()
    assert one.simulation.now == begun + 400 * MS
    assert one.said()[-1] == ("fail", "poll", (("poll", {}),), "REQUEST_TIMED_OUT")

    one.ring()
    assert len(one.asked()) == 1


def test_a_broker_that_does_not_lead_is_not_asked_again(hand):
    one = hand()
    one.ring()
    one.answer(error="NOT_LEADER_OR_FOLLOWER")
    assert one.said()[-1] == ("fail", "poll", (("poll", {}),), "NOT_LEADER_OR_FOLLOWER")

    one.ring()
    assert one.requests() == []
    assert len(one.asked()) == 1


def test_out_of_range_begins_again_at_the_start_and_says_so(hand):
    """The position of that partition moves, so it keeps none for it; the others stay."""
    one = hand(("t-0", "t-1"))
    one.ring()
    one.answer((0, 70))
    one.ring()
    one.answer((0, 80))
    one.ring()
    one.answer(error="OFFSET_OUT_OF_RANGE")

    assert one.said()[-2:] == [("invoke", "assign", ("t-1",), None), ("ok", "assign", ("t-1",), None)]
    one.ring()
    assert one.requests() == [(1, "t-1", 1)]
    one.answer()
    one.ring()
    assert one.requests() == [(1, "t-0", 0)]


def test_an_answer_that_comes_too_late_is_ignored(hand):
    one = hand()
    one.ring()
    late = one.request.correlation
    one.ring()
    before = one.said()
    one.gets(ConsumeResponse(1, "t-0", late, [(0, 70)], 1))

    assert one.said() == before


def test_a_stopped_consumer_finishes_its_poll_and_begins_no_other(hand):
    one = hand()
    one.ring()
    one.consumer.stopped = True
    timers = len(one.simulation.timers)
    one.answer((0, 70))

    assert one.said()[-1][0] == "ok"
    assert len(one.simulation.timers) == timers


# The final reader


def test_the_final_reader_marks_its_polls(hand):
    one = hand(final=True)
    one.ring()

    assert [(op.process, op.final) for op in one.simulation.ops] == [("final", True)]


def test_it_reads_until_the_high_watermark_and_is_done(hand):
    one = hand(final=True)
    one.ring()
    one.answer((0, 70), hw=2)
    assert not one.consumer.done
    one.ring()
    assert one.requests() == [(1, "t-0", 1)]

    one.answer((1, 71), hw=2)
    assert one.consumer.done
    assert one.consumer.stopped


def test_an_empty_partition_is_read_at_once(hand):
    one = hand(final=True)
    one.ring()
    one.answer(hw=0)

    assert one.consumer.done


def test_it_reads_all_partitions_and_none_twice(hand):
    one = hand(("t-0", "t-1", "t-2"), final=True)
    polled = []
    for hw in (1, 2, 1, 2):
        one.ring()
        polled.append((one.request.partition, one.request.offset))
        one.answer((one.request.offset, 70), hw=hw)

    assert sorted(polled) == [("t-0", 0), ("t-1", 0), ("t-1", 1), ("t-2", 0)]
    assert one.consumer.done


def test_it_tries_again_where_nobody_leads(hand):
    one = hand(leaders={}, final=True)
    one.ring()
    one.ring()
    assert one.said()[-1][0] == "fail"
    one.ring()
    one.gets(MetadataResponse(2, one.consumer._metadata_correlation, {"t-0": 2}))
    one.answer((0, 70), hw=1)

    assert one.consumer.done

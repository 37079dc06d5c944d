"""A producer driven by hand: unique values, one batch at a time, and honest about what it knows."""

from itertools import pairwise
from random import Random

import pytest

from tidemark.harness.simulator.workload import Producer
from tidemark.nemesis import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.events import TimerFired
from tidemark.nodes.core.messages import MetadataRequest, MetadataResponse, ProduceRequest, ProduceResponse

T = "t-0"
MS = 1_000
ME = 101


class SimulationByHand:
    """What a client uses of a simulation; time moves only when told to."""

    def __init__(self, acks="all", partitions=(T,), noise=1):
        self.cluster = ClusterSpec(acks=acks)
        self.now = 0
        self.ops, self.actors, self.sent, self.timers = [], {}, [], []
        self._partitions, self._noise = partitions, noise

    def partitions(self):
        return self._partitions

    def brokers(self):
        return (1, 2, 3)

    def stream(self, name):
        return Random(f"{self._noise}/{name}")

    def send(self, source, to, message):
        assert source == ME
        self.sent.append((to, message))

    def push(self, at, actor, event):
        self.timers.append((at, event))


class Hand:
    """One producer in such a simulation."""

    def __init__(self, acks="all", batch=3, leader=1, **kwargs):
        self.simulation = SimulationByHand(acks, **kwargs)
        self.producer = Producer(self.simulation, ME, 1, WorkloadSpec(interval_us=100 * MS, batch=batch))
        self.producer.leaders = {T: leader} if leader else {}
        self.producer.begin()

    def ring(self):
        """The last timer set rings."""
        self.simulation.now, event = self.simulation.timers[-1]
        self.simulation.sent.clear()
        self.producer.handle(self.simulation.now, event)

    def gets(self, message, after=5 * MS):
        self.simulation.now += after
        self.simulation.sent.clear()
        self.producer.handle(self.simulation.now, message)

    def answer(self, base, error=None, after=5 * MS):
        self.gets(ProduceResponse(1, T, self.request.correlation, base, error), after)

    @property
    def request(self):
        return next(m for _, m in reversed(self.simulation.sent) if isinstance(m, ProduceRequest))

    def requests(self):
        return [(to, m) for to, m in self.simulation.sent if isinstance(m, ProduceRequest)]

    def asked(self):
        return [to for to, m in self.simulation.sent if isinstance(m, MetadataRequest)]

    def said(self):
        return [(op.type, op.value, op.error) for op in self.simulation.ops]


@pytest.fixture
def hand():
    return Hand


@pytest.fixture
def sent(hand):
    """A producer whose first batch, of one record, is on its way to broker 1."""

    def make(acks="all"):
        one = hand(acks, batch=1)
        one.ring()
        return one

    return make


def test_the_first_batch_comes_after_a_pause(hand):
    one = hand()
    assert one.simulation.sent == []

    (at, event) = one.simulation.timers[-1]
    assert event.name == "send"
    assert 50 * MS <= at < 150 * MS


def test_a_batch_goes_to_the_leader(sent):
    one = sent()

    assert one.requests() == [(1, ProduceRequest(ME, T, (1_000_000,), "all", 1))]
    assert one.said() == [("invoke", (("send", T, 1_000_000),), None)]


def test_values_are_never_used_twice(hand):
    one = hand(batch=3)
    values = []
    for _ in range(30):
        one.ring()
        values += one.request.values
        one.answer(0)

    assert values == list(range(1_000_000, 1_000_000 + len(values)))
    assert {len(op.value) for op in one.simulation.ops} == {1, 2, 3}


def test_another_producer_has_other_values(hand):
    simulation = SimulationByHand()
    Producer(simulation, ME, 2, WorkloadSpec())
    second = Producer(simulation, ME, 2, WorkloadSpec())
    second.leaders = {T: 1}
    second.handle(0, TimerFired("send", second._generation))

    assert simulation.sent[0][1].values[0] == 2_000_000


def test_all_partitions_get_batches(hand):
    one = hand(leader=None, partitions=("t-0", "t-1", "t-2"))
    one.producer.leaders = {"t-0": 1, "t-1": 2, "t-2": 3}
    targets = set()
    for _ in range(30):
        one.ring()
        targets.add((one.requests()[0][0], one.request.partition))
        one.gets(ProduceResponse(1, one.request.partition, one.request.correlation, 0))

    assert targets == {(1, "t-0"), (2, "t-1"), (3, "t-2")}


def test_an_answer_gives_the_records_their_offsets(hand):
    one = hand(batch=3)
    while True:
        one.ring()
        values = one.request.values
        one.answer(40)
        if len(values) == 3:
            break
    first = values[0]

    assert one.said()[-1] == (
        "ok",
        (("send", T, (40, first)), ("send", T, (41, first + 1)), ("send", T, (42, first + 2))),
        None,
    )


def test_acks_0_is_done_when_it_is_sent_and_knows_no_offset(sent):
    one = sent(acks="0")

    assert one.said()[-1] == ("ok", (("send", T, (None, 1_000_000)),), None)
    assert {op.acks for op in one.simulation.ops} == {"0"}


def test_who_does_not_lead_wrote_nothing_so_the_same_batch_is_sent_again(sent):
    one = sent()
    one.answer(-1, "NOT_LEADER_OR_FOLLOWER")
    assert len(one.said()) == 1
    one.ring()
    assert one.requests() == []
    assert len(one.asked()) == 1

    one.gets(MetadataResponse(2, one.producer._metadata_correlation, {T: 2}))
    assert one.requests() == [(2, ProduceRequest(ME, T, (1_000_000,), "all", 2))]
    assert len(one.said()) == 1


def test_brokers_are_asked_for_the_leader_in_turn(hand):
    one = hand(leader=None)
    asked = []
    for _ in range(4):
        one.ring()
        asked += one.asked()

    assert len(asked) >= 4
    assert all(after == before % 3 + 1 for before, after in pairwise(asked))


def test_an_answer_that_names_no_leader_is_waited_out(hand):
    one = hand(leader=None)
    one.ring()
    one.gets(MetadataResponse(1, one.producer._metadata_correlation, {T: -1}))

    assert one.requests() == []


def test_an_older_metadata_answer_is_ignored(hand):
    one = hand(leader=None)
    one.ring()
    one.gets(MetadataResponse(1, one.producer._metadata_correlation - 1, {T: 2}))

    assert one.requests() == []


def test_a_batch_that_never_found_a_leader_has_failed(hand):
    one = hand(leader=None, batch=1)
    one.ring()
    begun = one.simulation.now
    while len(one.said()) == 1:
        one.ring()

    assert one.simulation.now == begun + 1_500 * MS
    assert one.said()[-1] == ("fail", (("send", T, 1_000_000),), "REQUEST_TIMED_OUT")


def test_a_batch_that_is_never_answered_is_unknown(sent):
    one = sent()
    begun = one.simulation.now
    one.ring()

    assert one.simulation.now == begun + 1_500 * MS
    assert one.said()[-1] == ("info", (("send", T, 1_000_000),), "REQUEST_TIMED_OUT")


def test_a_batch_that_was_refused_by_all_has_failed_when_its_time_is_up(sent):
    one = sent()
    begun = one.simulation.now
    one.answer(-1, "NOT_LEADER_OR_FOLLOWER")
    while len(one.said()) == 1:
        one.ring()

    assert one.simulation.now == begun + 1_500 * MS
    assert one.said()[-1][0] == "fail"


def test_a_batch_whose_last_try_is_unanswered_is_unknown(sent):
    one = sent()
    one.answer(-1, "NOT_LEADER_OR_FOLLOWER")
    one.ring()
    one.gets(MetadataResponse(2, one.producer._metadata_correlation, {T: 2}))
    one.ring()

    assert one.said()[-1][0] == "info"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        pytest.param("NOT_ENOUGH_REPLICAS", "fail", id="refused before the append"),
        pytest.param("NOT_ENOUGH_REPLICAS_AFTER_APPEND", "info", id="written, perhaps not for good"),
        pytest.param("REQUEST_TIMED_OUT", "info", id="written by a leader that was deposed"),
    ],
)
def test_an_error_is_certain_or_unknown(sent, error, kind):
    one = sent()
    one.answer(-1, error)

    assert one.said()[-1] == (kind, (("send", T, 1_000_000),), error)


def test_an_answer_that_comes_after_the_time_is_up_is_ignored(sent):
    one = sent()
    late = one.request.correlation
    one.ring()
    before = one.said()
    one.gets(ProduceResponse(1, T, late, 7))

    assert one.said() == before


def test_an_answer_is_taken_once(sent):
    one = sent()
    number = one.request.correlation
    one.answer(7)
    one.gets(ProduceResponse(1, T, number, 7))

    assert [kind for kind, _, _ in one.said()] == ["invoke", "ok"]


def test_the_next_batch_comes_after_a_pause(sent):
    one = sent()
    one.answer(7)
    at, event = one.simulation.timers[-1]

    assert event.name == "send"
    assert 50 * MS <= at - one.simulation.now < 150 * MS


def test_a_cancelled_timer_does_nothing(sent):
    one = sent()
    _, timeout = one.simulation.timers[-1]
    one.answer(7)
    before = one.said()
    one.gets(timeout)

    assert one.said() == before


def test_a_stopped_producer_finishes_and_begins_nothing(sent):
    one = sent()
    one.producer.stopped = True
    timers = len(one.simulation.timers)
    one.answer(7)

    assert one.said()[-1][0] == "ok"
    assert len(one.simulation.timers) == timers

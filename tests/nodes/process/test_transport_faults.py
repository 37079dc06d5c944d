"""What a rule concerns, and what it does."""

from random import Random

import pytest

from nodes.core.messages import FetchRequest, FetchResponse, Heartbeat, ProduceResponse
from nodes.process.transport_faults import Rule, RuleError, TransportFaults

FETCH = FetchRequest(1, "t-0", 0, 0, 0, 0, 1)
FETCHED = FetchResponse(1, "t-0", 1, [], 0, 0)
BEAT = Heartbeat(1, 1)
ACK = ProduceResponse(1, "t-0", 1, 0)


class Wire:
    def __init__(self):
        self.sent = []
        self.lost = []
        self.later = []
        self.faults = TransportFaults(lambda seconds, deed: self.later.append((seconds, deed)), Random(1))

    def send(self, to, message, name=None):
        name = name or f"{type(message).__name__} to {to}"
        self.faults.judge(to, message, lambda: self.sent.append(name), lambda: self.lost.append(name))


@pytest.fixture
def wire():
    return Wire()


def test_without_faults_everything_is_sent(wire):
    wire.send(2, FETCH)
    assert wire.sent == ["FetchRequest to 2"]
    assert wire.faults.keys == []


def test_a_rule_concerns_its_kind_and_its_peer(wire):
    wire.faults.put("k", [Rule("fetch requests", 2, "drop")])
    for to, message in ((2, FETCH), (3, FETCH), (2, FETCHED), (0, BEAT)):
        wire.send(to, message)
    assert wire.lost == ["FetchRequest to 2"]
    assert len(wire.sent) == 3


def test_a_rule_for_everything_leaves_clients_alone(wire):
    wire.faults.put("k", [Rule(None, None, "drop")])
    for to, message in ((2, FETCH), (0, None), (1000, ACK)):
        wire.send(to, message)
    assert wire.lost == ["FetchRequest to 2", "NoneType to 0"]
    assert wire.sent == ["ProduceResponse to 1000"]
    wire.faults.put("k", [Rule("acks", None, "drop")])
    wire.send(1000, ACK)
    assert wire.lost[-1] == "ProduceResponse to 1000"


def test_held_messages_are_sent_in_order_when_it_ends(wire):
    wire.faults.put(1, [Rule("fetch requests", None, "hold")])
    for name in "abc":
        wire.send(2, FETCH, name)
    wire.send(2, BEAT, "not held")
    assert wire.sent == ["not held"]
    assert wire.faults.clear(1)
    assert wire.sent == ["not held", "a", "b", "c"]
    assert not wire.faults.clear(1)


def test_what_one_fault_lets_go_another_may_keep_or_lose(wire):
    wire.faults.put(1, [Rule("fetch requests", 2, "hold"), Rule("fetch requests", 3, "hold")])
    wire.send(2, FETCH, "two")
    wire.send(3, FETCH, "three")
    wire.faults.put(2, [Rule(None, 2, "hold")])
    wire.faults.put(3, [Rule(None, 3, "drop")])
    wire.faults.clear(1)
    assert (wire.sent, wire.lost) == ([], ["three"])
    wire.faults.clear(2)
    assert wire.sent == ["two"]


def test_a_fault_with_the_same_key_takes_the_place_of_the_first(wire):
    wire.faults.put("k", [Rule(None, None, "hold")])
    wire.send(2, FETCH, "held")
    wire.faults.put("k", [Rule(None, 3, "drop")])
    wire.send(2, FETCH, "free")
    assert wire.sent == ["held", "free"]
    assert wire.faults.keys == ["k"]


def test_delays_are_drawn_and_add_up(wire):
    wire.faults.put(1, [Rule(None, None, "delay", 1_000)])
    wire.faults.put(2, [Rule(None, None, "delay", 1_000_000)])
    for _ in range(50):
        wire.send(2, FETCH, "late")
    assert wire.sent == []
    assert len({seconds for seconds, _ in wire.later}) > 40
    assert all(0 < seconds <= 1.001 for seconds, _ in wire.later)
    for _, deed in wire.later:
        deed()
    assert wire.sent == ["late"] * 50


def test_loss_is_per_mille(wire):
    wire.faults.put(1, [Rule(None, None, "lose", 250)])
    for _ in range(2_000):
        wire.send(2, FETCH)
    assert 400 < len(wire.lost) < 600


def test_whether_acknowledgements_get_lost(wire):
    assert not wire.faults.loses("acks")
    wire.faults.put(1, [Rule(None, None, "drop"), Rule("acks", None, "hold")])
    assert not wire.faults.loses("acks")
    wire.faults.put(2, [Rule("acks", None, "lose", 1)])
    assert wire.faults.loses("acks")


def test_rules_from_outside():
    assert Rule.from_json({"effect": "drop"}) == Rule(None, None, "drop", 0)
    full = {"kind": "leadership", "peer": 2, "effect": "delay", "amount": 5}
    assert Rule.from_json(full) == Rule("leadership", 2, "delay", 5)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("drop", "a rule has an effect"),
        ({}, "a rule has an effect"),
        ({"effect": "drop", "extra": 1}, "a rule has an effect"),
        ({"effect": "explode"}, "effect must be one of drop, hold, delay, lose"),
        ({"effect": "drop", "kind": "letters"}, "kind must be null or one of fetch requests"),
        ({"effect": "drop", "peer": "two"}, "peer must be null"),
        ({"effect": "drop", "peer": -1}, "peer must be null"),
        ({"effect": "delay", "amount": -1}, "amount must be"),
        ({"effect": "delay", "amount": 1.5}, "amount must be"),
        ({"effect": "lose", "amount": 1001}, "amount must be"),
    ],
)
def test_rules_that_cannot_be(data, words):
    with pytest.raises(RuleError, match=words):
        Rule.from_json(data)

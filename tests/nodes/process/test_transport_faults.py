"""What becomes of messages that rules concern."""

from random import Random

import pytest

from tidemark.nodes.admin.message_rules import MessageRule
from tidemark.nodes.core.messages import FetchRequest, FetchResponse, Heartbeat, ProduceResponse
from tidemark.nodes.process.transport_faults import TransportFaults

FETCH = FetchRequest(1, "t-0", 0, 0, 0, 0, 1)
FETCHED = FetchResponse(1, "t-0", 1, [], 0, 0)
BEAT = Heartbeat(1, 1)
ACK = ProduceResponse(1, "t-0", 1, 0)


def rule(kind, to, effect, amount=0):
    return MessageRule(kind, None, to, effect, amount)


class Wire:
    def __init__(self):
        self.sent = []
        self.lost = []
        self.later = []
        self.faults = TransportFaults(1, lambda seconds, deed: self.later.append((seconds, deed)), Random(1))

    def send(self, to, message, name=None):
        name = name or f"{type(message).__name__} to {to}"
        self.faults.pass_on(to, message, lambda: self.sent.append(name), lambda: self.lost.append(name))


@pytest.fixture
def wire():
    return Wire()


def test_without_faults_everything_is_sent(wire):
    wire.send(2, FETCH)
    assert wire.sent == ["FetchRequest to 2"]
    assert wire.faults.rules.keys == []


def test_a_rule_concerns_its_kind_and_its_receiver(wire):
    wire.faults.rules.put("k", [rule("fetch requests", 2, "drop")])
    for to, message in ((2, FETCH), (3, FETCH), (2, FETCHED), (0, BEAT)):
        wire.send(to, message)
    assert wire.lost == ["FetchRequest to 2"]
    assert len(wire.sent) == 3


def test_a_rule_for_everything_leaves_clients_alone(wire):
    wire.faults.rules.put("k", [rule(None, None, "drop")])
    for to, message in ((2, FETCH), (0, None), (1000, ACK)):
        wire.send(to, message)
    assert wire.lost == ["FetchRequest to 2", "NoneType to 0"]
    assert wire.sent == ["ProduceResponse to 1000"]
    wire.faults.rules.put("k", [rule("acks", None, "drop")])
    wire.send(1000, ACK)
    assert wire.lost[-1] == "ProduceResponse to 1000"


def test_held_messages_are_sent_in_order_when_it_ends(wire):
    wire.faults.rules.put(1, [rule("fetch requests", None, "hold")])
    for name in "abc":
        wire.send(2, FETCH, name)
    wire.send(2, BEAT, "not held")
    assert wire.sent == ["not held"]
    assert wire.faults.rules.clear(1)
    assert wire.sent == ["not held", "a", "b", "c"]
    assert not wire.faults.rules.clear(1)


def test_what_one_fault_lets_go_another_may_keep_or_lose(wire):
    wire.faults.rules.put(1, [rule("fetch requests", 2, "hold"), rule("fetch requests", 3, "hold")])
    wire.send(2, FETCH, "two")
    wire.send(3, FETCH, "three")
    wire.faults.rules.put(2, [rule(None, 2, "hold")])
    wire.faults.rules.put(3, [rule(None, 3, "drop")])
    wire.faults.rules.clear(1)
    assert (wire.sent, wire.lost) == ([], ["three"])
    wire.faults.rules.clear(2)
    assert wire.sent == ["two"]


def test_a_fault_with_the_same_key_takes_the_place_of_the_first(wire):
    wire.faults.rules.put("k", [rule(None, None, "hold")])
    wire.send(2, FETCH, "held")
    wire.faults.rules.put("k", [rule(None, 3, "drop")])
    wire.send(2, FETCH, "free")
    assert wire.sent == ["held", "free"]
    assert wire.faults.rules.keys == ["k"]


def test_late_messages_are_sent_later(wire):
    wire.faults.rules.put(1, [rule(None, None, "delay", 1_000)])
    for _ in range(50):
        wire.send(2, FETCH, "late")
    assert wire.sent == []
    assert len({seconds for seconds, _ in wire.later}) > 40
    assert all(0 < seconds <= 0.001 for seconds, _ in wire.later)
    for _, deed in wire.later:
        deed()
    assert wire.sent == ["late"] * 50


def test_an_unlucky_draw_loses_a_message(wire):
    wire.faults.rules.put(1, [rule(None, None, "lose", 250)])
    for _ in range(2_000):
        wire.send(2, FETCH)
    assert 400 < len(wire.lost) < 600
    assert len(wire.sent) == 2_000 - len(wire.lost)


def test_rules_for_messages_of_others_do_nothing(wire):
    wire.faults.rules.put(1, [MessageRule(None, 3, None, "drop")])
    wire.send(2, FETCH)
    wire.faults.rules.put(1, [MessageRule(None, 1, None, "drop")])
    wire.send(2, FETCHED)
    assert (wire.sent, wire.lost) == (["FetchRequest to 2"], ["FetchResponse to 2"])

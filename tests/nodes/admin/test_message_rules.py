"""Rules: what is refused, what a rule carries, and which of several counts."""

from random import Random

import pytest

from tidemark.nodes.admin.message_rules import UNHARMED, MessageRule, MessageRules, RuleError
from tidemark.nodes.sidecar.proxy.speech import PROXIED_KINDS

FETCH = ("fetch requests",)


def test_rules_from_outside():
    assert MessageRule.from_json({"effect": "drop"}) == MessageRule(None, None, None, "drop", 0)
    full = {"kind": "leadership", "from": 0, "to": 2, "effect": "delay", "amount": 5}
    assert MessageRule.from_json(full) == MessageRule("leadership", 0, 2, "delay", 5)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("drop", "a rule has an effect"),
        ({}, "a rule has an effect"),
        ({"effect": "drop", "peer": 1}, "a rule has an effect"),
        ({"effect": "explode"}, "effect must be one of drop, hold, delay, lose"),
        ({"effect": "drop", "kind": "letters"}, "kind must be null or one of fetch requests"),
        ({"effect": "drop", "extra": 1}, "a rule has an effect"),
        ({"effect": "drop", "kind": 3}, "kind must be null or one of fetch requests"),
        ({"effect": "drop", "from": "two"}, "from must be null or a node's number, not 'two'"),
        ({"effect": "drop", "from": True}, "from must be null"),
        ({"effect": "drop", "to": -1}, "to must be null"),
        ({"effect": "delay", "amount": -1}, "amount must be"),
        ({"effect": "delay", "amount": 1.5}, "amount must be"),
        ({"effect": "lose", "amount": 1001}, "amount must be"),
    ],
)
def test_rules_that_cannot_be(data, words):
    with pytest.raises(RuleError, match=words):
        MessageRule.from_json(data)


def test_a_kind_that_cannot_be_told_apart_is_refused():
    assert MessageRule.from_json({"effect": "drop", "kind": "acks"}).kind == "acks"
    with pytest.raises(RuleError, match=r"kind must be null or one of fetch requests, .*heartbeat answers, not 'acks'"):
        MessageRule.from_json({"effect": "drop", "kind": "acks"}, PROXIED_KINDS)


def test_a_rule_concerns_its_kind_sender_and_receiver():
    rules = MessageRules(Random(1))
    rules.put("k", [MessageRule("fetch requests", 2, 1, "drop")])
    assert rules.judge(FETCH, 2, 1) == ("drop", "k", 0)
    assert rules.judge(("heartbeats", "fetch requests"), 2, 1).effect == "drop"
    for kinds, source, to in ((FETCH, 3, 1), (FETCH, 2, 3), (("fetch responses",), 2, 1), ((), 2, 1)):
        assert rules.judge(kinds, source, to) is UNHARMED


def test_a_rule_for_everything_leaves_clients_alone():
    rules = MessageRules(Random(1))
    rules.put("k", [MessageRule(None, None, None, "drop")])
    assert rules.judge((), 1, 999).effect == "drop"
    assert rules.judge(("acks",), 1, 1_000) is UNHARMED
    rules.put("k", [MessageRule("acks", None, None, "drop")])
    assert rules.judge(("acks",), 1, 1_000).effect == "drop"


def test_what_a_machine_says_to_itself_is_left_alone():
    rules = MessageRules(Random(1))
    rules.put("k", [MessageRule(None, None, None, "drop")])
    assert rules.judge((), 2, 1).effect == "drop"
    assert rules.judge((), 1, 1) is UNHARMED


def test_losing_beats_holding_beats_delaying():
    rules = MessageRules(Random(1))
    rules.put(1, [MessageRule(None, None, None, "delay", 1000)])
    assert rules.judge((), 2, 1).effect == "delay"
    rules.put(2, [MessageRule(None, None, None, "hold")])
    rules.put(3, [MessageRule(None, None, None, "hold")])
    assert rules.judge((), 2, 1) == ("hold", 2, 0)
    rules.put(4, [MessageRule(None, None, None, "drop")])
    assert rules.judge((), 2, 1) == ("drop", 4, 0)
    assert rules.keys == [1, 2, 3, 4]


def test_delays_add_up_and_are_the_same_for_the_same_seed():
    def drawn(seed):
        rules = MessageRules(Random(seed))
        rules.put(1, [MessageRule(None, None, None, "delay", 1_000)])
        rules.put(2, [MessageRule(None, None, None, "delay", 1_000_000)])
        return [rules.judge((), 2, 1).late_us for _ in range(50)]

    late = drawn(1)
    assert len(set(late)) > 40
    assert max(late) <= 1_001_000
    assert drawn(1) == late != drawn(2)


def test_loss_is_per_mille():
    rules = MessageRules(Random(1))
    rules.put(1, [MessageRule(None, None, None, "lose", 250)])
    assert 400 < sum(rules.judge((), 2, 1).effect == "lose" for _ in range(2_000)) < 600


def test_every_rule_draws_in_turn_until_one_loses_the_message():
    class Noise:
        def __init__(self, *drawn):
            self.drawn = list(drawn)

        def random(self):
            return self.drawn.pop(0)

    noise = Noise(0.5, 0.25, 0.25, 0.5, 0.2)
    rules = MessageRules(noise)
    rules.put(1, [MessageRule(None, None, None, "delay", 99)])
    rules.put(2, [MessageRule(None, None, None, "lose", 250), MessageRule(None, None, None, "delay", 199)])
    assert rules.judge((), 2, 1) == ("delay", "", 100)
    assert rules.judge((), 2, 1) == ("lose", 2, 0)
    assert noise.drawn == []


def test_whether_acknowledgements_get_lost():
    rules = MessageRules(Random(1))
    assert not rules.loses("acks")
    rules.put(1, [MessageRule(None, None, None, "drop"), MessageRule("acks", None, None, "hold")])
    assert not rules.loses("acks")
    rules.put(2, [MessageRule("acks", None, None, "lose", 1)])
    assert rules.loses("acks")


def test_clearing_tells_those_who_watch():
    rules, told = MessageRules(Random(1)), []
    rules.on_clear(told.append)
    assert not rules.clear("k")
    rules.put("k", [MessageRule(None, None, None, "hold")])
    rules.put("k", [MessageRule(None, None, None, "drop")])
    assert told == ["k"]
    assert rules.clear("k")
    rules.off_clear(told.append)
    rules.put("k", [])
    assert rules.clear("k")
    assert (told, rules.keys) == (["k", "k"], [])

"""The truncation rule that docs/writing-a-variant.md writes: what a reader types in works as the page says."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tidemark.nodes.core.describe import differences
from tidemark.nodes.core.truncation import RULES
from tidemark.nodes.core.variant import parse_variant

PAGE = (Path(__file__).parents[3] / "docs" / "writing-a-variant.md").read_text(encoding="utf-8")
RULE, TEST = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[:2]


@pytest.fixture
def rule(monkeypatch):
    """The page's rule, in a module of the page's name, and registered."""
    module = ModuleType("tidemark.nodes.core.truncation.unknown_epoch")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(RULE, vars(module))
    made = module.UnknownEpochRule()
    monkeypatch.setitem(RULES, made.name, made)
    return made


def test_the_page_has_the_rule_as_it_is_in_the_code():
    path = Path(__file__).parents[3] / "nodes" / "core" / "truncation" / "unknown_epoch.py"

    assert path.read_text(encoding="utf-8") == RULE


def test_its_own_test_passes(rule):
    names = {}
    exec(TEST, names)
    tests = [value for name, value in names.items() if name.startswith("test_")]

    assert len(tests) == 1
    tests[0]()


def test_it_is_then_a_word_of_every_preset(rule):
    variant = parse_variant("kafka-2.1+truncation=unknown-epoch")

    assert variant.rule is rule


def test_and_says_what_differs(rule):
    found = differences(parse_variant("kafka-2.1"), parse_variant("kafka-2.1+truncation=unknown-epoch"))

    assert [(d.topic, d.other) for d in found] == [
        ("truncation", "The rule unknown-epoch: KIP-279's rejected alternative 1."),
        (
            "after the answer",
            "A follower cuts to the end of the epoch if the leader knows it; else it drops it, and asks for the one before.",
        ),
    ]


def test_with_it_a_follower_asks_until_the_leader_knows_the_epoch(rule, broker, batch, talk):
    """KIP-279's scenario 1 in small: broker 1 led epochs 1 and 3, broker 2 has a record of epoch 2 instead."""
    one = broker("kafka-2.1+truncation=unknown-epoch", node=1, batches=[batch(0, 1, 70), batch(1, 3, 73)])
    two = broker("kafka-2.1+truncation=unknown-epoch", node=2, batches=[batch(0, 1, 70), batch(1, 2, 72)])
    one.lead(1_000, 4, (1, 2), replicas=(1, 2))
    two.told(1_000, 1, 4, (1, 2), replicas=(1, 2))
    talk(2_000, one, two)

    assert two.records() == [(1, 70), (3, 73)]

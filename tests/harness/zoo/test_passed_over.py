"""Known bugs are repaired in a variant, and what somebody put back is not."""

import pytest

from tidemark.harness.runs.own_rules import forget, learn, rules_of
from tidemark.harness.zoo import ZooError
from tidemark.harness.zoo.passed_over import past

OWN = """
from tidemark.nodes.core.truncation.kip101 import Kip101Rule

class Mine(Kip101Rule):
    name, title = "mine", "KIP-101's, by another name"
"""


@pytest.fixture
def own_rule(tmp_path):
    """A rule with a known flaw is known by its own name."""
    (tmp_path / "mine.py").write_text(OWN)
    learn(rules_of(str(tmp_path / "mine.py")))
    yield
    forget()


@pytest.mark.parametrize(
    ("variant", "keys", "passed"),
    [
        ("kafka-3.7", (), {}),
        ("kafka-3.7", ("missed-reign",), {"missed-reign": "forget-log-ends"}),
        ("kafka-3.7", ("known",), {"missed-reign": "forget-log-ends"}),
        ("kafka-3.7", ("kafka-15665", "known"), {"KAFKA-15665": "whole-target", "missed-reign": "forget-log-ends"}),
        ("kafka-2.1+no-fetch-fence", ("known",), {"missed-reign": "forget-log-ends"}),
        ("kafka-2.7+truncation=hw", ("known",), {"missed-reign": "forget-log-ends"}),
    ],
)
def test_known_bugs_are_repaired_and_those_that_were_put_back_are_not(variant, keys, passed):
    assert past(variant, keys) == ("+".join([variant, *passed.values()]), passed)


def test_a_repair_that_brings_another_known_bug_is_repaired_too():
    _, passed = past("kafka-0.10", ("known",))
    assert passed["KIP-101-divergence"] == "truncation=kip101"
    assert passed["KAFKA-6361"] == "truncation=kip279"


def test_what_the_variant_does_not_have_is_refused():
    with pytest.raises(ZooError, match="KAFKA-6880 cannot be passed over under"):
        past("kafka-3.7", ("KAFKA-6880",))


@pytest.mark.usefixtures("own_rule")
@pytest.mark.parametrize(
    ("variant", "passed_over"),
    [
        ("kafka-2.1+truncation=mine", "kafka-2.1+truncation=mine+forget-log-ends"),
        ("kafka-0.11+truncation=mine+all-fences", "kafka-0.11+truncation=mine+all-fences+forget-log-ends"),
        ("kafka-2.1+truncation@2=mine", "kafka-2.1+truncation@2=mine+forget-log-ends"),
    ],
)
def test_a_rule_of_ones_own_stays_whatever_its_flaw(variant, passed_over):
    assert past(variant, ("known",))[0] == passed_over
    with pytest.raises(ZooError, match="KAFKA-6361 cannot be passed over under"):
        past(variant, ("KAFKA-6361",))

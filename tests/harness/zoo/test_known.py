"""What is known of a variant steps back in its hunts, and nothing else does."""

from itertools import islice

import pytest

from tidemark.harness.search.hunt import Hunt, Quarry
from tidemark.harness.search.hunt.hunt import Attempt
from tidemark.harness.search.hunt.known import Known
from tidemark.harness.zoo import find
from tidemark.harness.zoo.known import known_of
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import parse_variant


def hunted(variant, known, rounds, names=()):
    hunt = Hunt(Attempt(variant, Quarry(names), known=known), None, ClusterSpec(), 1, free=True)
    progress = list(islice(hunt.rounds(), rounds))
    return [one for each in progress for one in each.found], [one for each in progress for one in each.known]


def test_presets_have_what_the_zoo_and_the_pages_tell_of_them():
    known = known_of("kafka-4.0")

    assert {"kafka-4.0+forget-log-ends", "kafka-4.0+rebuild-epochs", "kafka-4.0+obey-last-order"} <= {
        one.variant for one in known.repairs
    }
    assert ("kafka-3.7+elr", "KIP-966: The last replica standing has lost its log") in known_of("kafka-3.7").repairs
    assert known_of("kafka-4.0+forget-log-ends").all_repaired.startswith("kafka-4.0+forget-log-ends+")
    assert not known_of("raft")


def test_what_is_repaired_is_without_the_bugs_that_the_repairs_brought():
    """Truncation by KIP-101 has KAFKA-6361, which truncation to the high watermark has not."""
    repaired = parse_variant(known_of("kafka-0.10").all_repaired)

    assert not find("KAFKA-6361").is_in(repaired)
    assert find("KAFKA-6361").is_in(parse_variant("kafka-0.10+truncation=kip101"))


def test_a_bug_that_was_put_back_is_what_is_hunted():
    known = known_of("kafka-4.0+KAFKA-15586")

    assert all("+KAFKA-15586" in one.variant for one in known.repairs)
    assert known.preset == "kafka-4.0"
    assert "forget-log-ends" not in known_of("kafka-4.0", hunted=lambda name: "forget-log-ends" in name).all_repaired


@pytest.mark.parametrize(
    ("variant", "preset"),
    [
        ("kafka-4.0+forget-log-ends", ""),
        ("kafka-4.0+forget-log-ends+begin-anew", ""),
        ("kafka-4.0+repaired", ""),
        ("kafka-4.0+forget-log-ends+KAFKA-15586", "kafka-4.0"),
        ("kafka-2.7+truncation=kip279", "kafka-2.7"),
    ],
)
def test_what_only_repairs_puts_nothing_back(variant, preset):
    """A hunt on a repaired preset told of the stale log start as something new, as the preset loses otherwise under its plan."""
    assert known_of(variant).preset == preset


def test_it_is_what_it_was_after_json():
    known = known_of("kafka-4.0")

    assert Known.from_json(known.to_json()) == known


def test_a_planted_bug_is_found_beside_what_is_known():
    found, _ = hunted("kafka-2.7+KAFKA-13141", known_of("kafka-2.7+KAFKA-13141"), 6)

    assert found
    assert not any(one.trial.known for one in found)


@pytest.mark.systems
def test_what_is_known_is_counted_and_not_found():
    found, known = hunted("kafka-0.10", known_of("kafka-0.10"), 3)
    anyhow, _ = hunted("kafka-0.10", None, 3)

    assert len(found) < len(anyhow) / 2
    assert 4 * len(found) < len(known)
    assert all(one.trial.known for one in known)

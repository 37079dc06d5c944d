"""Variants of all families are found by the name that is typed."""

import pytest

from tidemark.nodes.core.describe import describe
from tidemark.nodes.core.variant import Variant, VariantError
from tidemark.nodes.families import FAMILIES, family_of, parse_variant


@pytest.mark.parametrize("preset", [(family, name) for family in FAMILIES for name in family.presets])
def test_every_preset_belongs_to_its_family_and_describes_itself(preset):
    family, name = preset
    variant = parse_variant(name)

    assert family_of(variant) == family.of(variant)
    assert variant.name == name
    assert describe(variant)


def test_kafkas_presets_are_what_they_were():
    assert isinstance(parse_variant("kafka-2.7+no-isr-fence"), Variant)


def test_modifiers_of_a_family_are_its_own():
    assert parse_variant("quorum-hwm+majority-index").majority_index
    with pytest.raises(VariantError, match="unknown modifier 'majority-index' of raft: use vote-for-anyone"):
        parse_variant("raft+majority-index")


def test_what_no_family_knows_is_answered_with_all_presets():
    with pytest.raises(VariantError, match=r"unknown variant 'paxos': known are kafka-0\.10, .*, quorum-hwm.*, raft"):
        parse_variant("paxos")


@pytest.mark.parametrize(
    ("release", "preset"), [("0.8", "0.10"), ("1.1", "0.11"), ("2.7.1", "2.7"), ("3.9", "3.7"), ("4.3", "4.0")]
)
def test_a_release_of_kafka_without_a_preset_is_told_by_which_it_goes(release, preset):
    with pytest.raises(VariantError, match=rf"\(Apache Kafka {release} goes by kafka-{preset}\): known are"):
        parse_variant(f"kafka-{release}")


def test_repaired_is_all_repairs_at_once():
    repaired = parse_variant("quorum-hwm+repaired")
    one_by_one = parse_variant("quorum-hwm+majority-index+own-generation+compared+rejoin=conflict")

    for field in ("majority_index", "own_generation", "compared", "rejoin"):
        assert getattr(repaired, field) == getattr(one_by_one, field)

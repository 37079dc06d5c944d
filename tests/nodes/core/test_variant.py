"""Presets and modifiers: which point of the protocol space a text names (docs/protocol.md, "Axes and presets")."""

import pytest

from tidemark.nodes.core.describe import modifiers
from tidemark.nodes.core.truncation import RULES
from tidemark.nodes.core.variant import BUGS, PRESETS, VariantError, parse_variant

ALL = {"fetch", "truncation", "hw", "isr"}


@pytest.mark.parametrize(
    ("name", "truncation", "fences", "bounce", "gate", "broker_epochs", "elr"),
    [
        ("kafka-0.10", "hw", set(), False, False, False, False),
        ("kafka-0.11", "kip101", set(), False, False, False, False),
        ("kafka-2.0", "kip279", set(), False, False, False, False),
        ("kafka-2.1", "kip279", ALL, False, False, False, False),
        ("kafka-2.7", "fetch", ALL, True, False, False, False),
        ("kafka-3.7", "fetch", ALL, True, True, True, False),
        ("kafka-4.0", "fetch", ALL, True, True, True, True),
    ],
)
def test_a_preset_is_the_design_of_its_version(name, truncation, fences, bounce, gate, broker_epochs, elr):
    v = parse_variant(name)

    assert (v.name, v.truncation, v.fences) == (name, truncation, fences)
    assert (v.bounce_detection, v.min_isr_gates_hw, v.broker_epoch_checks, v.elr) == (bounce, gate, broker_epochs, elr)
    assert v.bugs == frozenset()


def test_there_are_seven_presets():
    assert list(PRESETS) == [
        "kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1", "kafka-2.7", "kafka-3.7", "kafka-4.0",
    ]  # fmt: skip


def test_only_0_11_assigns_no_epoch_on_becoming_leader():
    assert [name for name, v in PRESETS.items() if not v.epoch_on_lead] == ["kafka-0.11"]


def test_only_0_10_goes_by_the_leaders_id():
    assert [name for name, v in PRESETS.items() if not v.restart_on_epoch] == ["kafka-0.10"]


def test_only_0_10_keeps_no_epochs():
    assert [name for name, v in PRESETS.items() if not v.has_epoch_cache] == ["kafka-0.10"]


def test_only_4_0_promises_more_than_the_documentation():
    assert {name: v.contract for name, v in PRESETS.items() if v.contract != "documented"} == {"kafka-4.0": "kip-966"}


@pytest.mark.parametrize(
    ("text", "fences"),
    [
        ("kafka-2.1+no-fetch-fence", {"truncation", "hw", "isr"}),
        ("kafka-2.1+no-truncation-fence", {"fetch", "hw", "isr"}),
        ("kafka-2.1+no-hw-fence", {"fetch", "truncation", "isr"}),
        ("kafka-2.1+no-isr-fence", {"fetch", "truncation", "hw"}),
        ("kafka-2.1+no-isr-fence+no-hw-fence", {"fetch", "truncation"}),
        ("kafka-2.1+no-fences", set()),
        ("kafka-2.0+all-fences", ALL),
        ("kafka-2.0+fetch-fence", {"fetch"}),
        ("kafka-2.1+no-fences+isr-fence", {"isr"}),
    ],
)
def test_fences_are_put_on_and_off(text, fences):
    assert parse_variant(text).fences == fences


@pytest.mark.parametrize("rule", ["hw", "kip101", "kip279", "fetch"])
def test_the_truncation_rule_can_be_chosen(rule):
    v = parse_variant(f"kafka-2.1+truncation={rule}")

    assert v.truncation == rule
    assert v.fences == ALL


def test_one_broker_may_have_another_rule():
    v = parse_variant("kafka-2.1+truncation@2=kip101+truncation@3=hw")

    assert [v.rule_of(broker).name for broker in (1, 2, 3)] == ["kip279", "kip101", "hw"]
    assert {"truncation@2=kip101", "truncation@3=hw"} <= set(modifiers(v))


@pytest.mark.parametrize("word", ["truncation@2=nothing", "truncation@0=hw", "truncation@=hw", "truncation@x=hw"])
def test_a_rule_for_no_broker_is_refused(word):
    with pytest.raises(VariantError, match="truncation@BROKER"):
        parse_variant(f"kafka-2.1+{word}")


def test_there_are_kafkas_four_truncation_rules_three_that_were_rejected_and_flusss():
    assert list(RULES) == ["hw", "kip101", "kip279", "fetch", "unknown-epoch", "lineage", "hw-epoch", "log-end"]


def test_fluss_has_kafkas_isr_without_its_epochs_and_fences():
    v = parse_variant("fluss-0.9")

    assert (v.truncation, v.fences, v.has_epoch_cache, v.contract) == ("log-end", frozenset(), False, "documented")
    assert (v.min_isr_gates_hw, v.restart_on_epoch, v.forget_log_ends) == (True, True, True)
    assert (v.leader_writes_isr, v.shrink_raises_epoch, v.metadata_log, v.delete_records) == (False,) * 4
    assert v.bugs == {"KAFKA-7128"}


@pytest.mark.parametrize(
    ("word", "field"),
    [
        ("bounce-detection", "bounce_detection"),
        ("min-isr-gate", "min_isr_gates_hw"),
        ("broker-epochs", "broker_epoch_checks"),
        ("elr", "elr"),
    ],
)
def test_a_switch_can_be_put_on_and_off(word, field):
    assert getattr(parse_variant(f"kafka-2.1+{word}"), field) is True
    assert getattr(parse_variant(f"kafka-4.0+no-{word}"), field) is False


@pytest.mark.parametrize("key", list(BUGS))
def test_a_bug_can_be_put_back(key):
    v = parse_variant(f"kafka-2.7+{key}")

    assert v.bugs == {key}
    assert BUGS[key].says


def test_two_bugs_change_a_field_as_well():
    assert parse_variant("kafka-2.1+KAFKA-7164").restart_on_epoch is False
    assert parse_variant("kafka-2.1+KAFKA-7415").epoch_on_lead is False


def test_the_promise_follows_the_design():
    assert parse_variant("kafka-4.0+no-elr").contract == "documented"
    assert parse_variant("kafka-2.7+elr").contract == "kip-966"


def test_the_name_is_what_was_typed():
    assert parse_variant(" kafka-2.1+no-fetch-fence+KAFKA-7128 ").name == "kafka-2.1+no-fetch-fence+KAFKA-7128"


def test_variants_are_values():
    assert parse_variant("kafka-2.1+no-hw-fence") == parse_variant("kafka-2.1+no-hw-fence")
    assert parse_variant("kafka-2.1") == PRESETS["kafka-2.1"]


def test_an_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(VariantError, match=r"^unknown variant 'kafka-9': known are kafka-0\.10, .*kafka-4\.0"):
        parse_variant("kafka-9")


@pytest.mark.parametrize(
    "modifier",
    ["fast", "", "no-", "-fence", "no-such-fence", "truncation=guess", "truncation=", "KAFKA-1", "no-KAFKA-7128"],
)
def test_an_unknown_modifier_is_refused_with_the_known_ones(modifier):
    with pytest.raises(VariantError, match=r"unknown modifier .*: use no-fences, .*truncation=.*KAFKA-7128"):
        parse_variant(f"kafka-2.1+{modifier}")

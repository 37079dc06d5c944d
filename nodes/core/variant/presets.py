"""The presets that Kafka shipped, those of its relatives, and the variant that a person typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tidemark.nodes.core.switches import parse
from tidemark.nodes.core.truncation import RULES
from tidemark.nodes.core.variant.bugs import BUGS
from tidemark.nodes.core.variant.design import SWITCHES, Variant
from tidemark.nodes.core.variant.fences import ALL_FENCES, FencesOption

_ZOOKEEPER = Variant(
    "",
    "hw",
    leader_writes_isr=True,
    shrink_raises_epoch=True,
    fresh_answers=False,
    failures_stay_apart=False,
)
_KRAFT = Variant(
    "kafka-3.7",
    "fetch",
    ALL_FENCES,
    bounce_detection=True,
    min_isr_gates_hw=True,
    broker_epoch_checks=True,
    metadata_log=True,
    reassignments_replace=True,
    whole_target_in_sync=False,
)
_ALTER_ISR = replace(
    _ZOOKEEPER,
    leader_writes_isr=False,
    fresh_answers=True,
    failures_stay_apart=True,
    reassignments_replace=True,
    refuses_strangers=False,
)
PRESETS: dict[str, Variant] = {
    v.name: v
    for v in (
        replace(_ZOOKEEPER, name="kafka-0.10", restart_on_epoch=False, out_of_range_cuts=False, delete_records=False),
        replace(_ZOOKEEPER, name="kafka-0.11", truncation="kip101", epoch_on_lead=False, out_of_range_cuts=False),
        replace(_ZOOKEEPER, name="kafka-2.0", truncation="kip279", refuses_strangers=False),
        replace(
            _ZOOKEEPER,
            name="kafka-2.1",
            truncation="kip279",
            fences=ALL_FENCES,
            fresh_answers=True,
            refuses_strangers=False,
            elects_when_allowed=True,
        ),
        replace(
            _ALTER_ISR,
            name="kafka-2.7",
            truncation="fetch",
            fences=ALL_FENCES,
            bounce_detection=True,
            elects_when_allowed=True,
        ),
        _KRAFT,
        replace(_KRAFT, name="kafka-4.0", elr=True, whole_target_in_sync=True),
    )
}


RELATIVES: dict[str, Variant] = {
    v.name: v
    for v in (
        Variant(
            "fluss-0.9",
            "log-end",
            bounce_detection=True,
            min_isr_gates_hw=True,
            forget_log_ends=True,
            delete_records=False,
            bugs=frozenset({"KAFKA-7128"}),
        ),
    )
}
"""Presets of other systems whose replication was made after Kafka's (docs/protocol.md, "Apache Fluss")."""
EVERY = PRESETS | RELATIVES

REPAIRED = dict.fromkeys(
    (
        "forget_log_ends",
        "rebuild_epochs",
        "log_start_with_cut",
        "log_start_first",
        "keep_last_epoch",
        "cut_ends_at_batch",
        "begin_anew",
        "obeys_last_order",
        "shrink_raises_epoch",
        "cancel_keeps_min_isr",
        "elr_of_replicas",
        "min_isr_keeps_elr",
        "own_replicas_bound_min_isr",
        "answers_tell_min_isr",
        "safe_elr_switch",
    ),
    True,
)
"""The switches that would repair what the pages of docs/findings tell of Kafka."""
BUNDLES = {"repaired": REPAIRED}


def parse_variant(text: str) -> Variant:
    """The variant a person typed.

    Args:
        text: a preset, followed by any number of ``+modifier``: ``no-fences``, ``all-fences``, ``no-FENCE-fence``,
            ``FENCE-fence``, ``truncation=RULE``, ``truncation@BROKER=RULE``, ``KAFKA-NNNN``, ``repaired``, ``elr``, ``no-elr``
            and the other switches.

    Raises:
        VariantError: with one sentence that lists what is possible.
    """
    return parse(text, EVERY, BUNDLES, known)


def known(_preset: str, _words: Sequence[str]) -> str:
    """What a refusal says of the modifiers there are: by what they are, for there are many."""
    switches = ", ".join(switch.word for switch in SWITCHES.values() if switch.word)
    return (
        f": use {', '.join(FencesOption.words)}, truncation={'|'.join(RULES)}, truncation@BROKER=…, {switches} (or no-…), "
        f"{', '.join(BUNDLES)}, or a bug: {', '.join(BUGS)}"
    )

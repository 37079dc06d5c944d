"""All findings whose anomalies can be told by their cause; docs/findings tells the stories.

Not here: what needs a broker to be seen (a pending ISR change that nobody answers), and what is a bug that a variant's name says
(KAFKA-14704).
"""

from __future__ import annotations

from tidemark.harness.search.findings.finding import Finding
from tidemark.harness.search.shrink.cause import (
    AT_LOG_START,
    CANCELLED,
    REMOVED_LEADER,
    UNHEARD_MIN_ISR,
    UNHEARD_SHRINK,
    Cause,
)
from tidemark.harness.search.shrink.origin import (
    FORGOTTEN_ELR,
    FORGOTTEN_LOG_START,
    MISSED_REIGN,
    NO_REPLICA_ELIGIBLE,
    NOBODY_LEFT,
    OTHER_PARTITION,
    REPLACED_ORDER,
    STALE_LOG_START,
    SWITCHED_ELR,
    TAKEN_BACK,
)
from tidemark.nodes.core.variant import Variant

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "the missed reign",
        "docs/findings/missed-reign.md",
        "a leader that missed a reign commits a record that a member of its ISR has cut off meanwhile",
        MISSED_REIGN,
        lambda variant: isinstance(variant, Variant) and not variant.forget_log_ends,
        "forget-log-ends",
    ),
    Finding(
        "the forgotten log start",
        "docs/findings/forgotten-log-start.md",
        "a crash takes a log start back, and not the epochs that went with it",
        FORGOTTEN_LOG_START,
        lambda variant: isinstance(variant, Variant) and not variant.rebuild_epochs,
        "rebuild-epochs",
    ),
    Finding(
        "a truncation that is taken back",
        "docs/findings/truncation-taken-back.md",
        "a power loss takes a truncation back, and leaves the epochs that were synced after it (on file systems such as Btrfs)",
        TAKEN_BACK,
        lambda variant: isinstance(variant, Variant) and not variant.rebuild_epochs,
        "rebuild-epochs",
    ),
    Finding(
        "the stale log start",
        "docs/findings/stale-log-start.md",
        "a broker that is killed soon after it cut its log below its log start deletes what was written there since",
        STALE_LOG_START,
        lambda variant: isinstance(variant, Variant) and not variant.log_start_with_cut,
        "log-start-with-cut",
    ),
    Finding(
        "min ISR is raised, and the leader does not know",
        "docs/findings/min-isr-unheard.md",
        "a leader that has not heard that min ISR was raised commits alone, while others count as eligible",
        UNHEARD_MIN_ISR,
        lambda variant: isinstance(variant, Variant) and variant.elr and not variant.answers_tell_min_isr,
        "answers-tell-min-isr",
    ),
    Finding(
        "the unheard shrink",
        "docs/findings/unheard-shrink.md",
        "a leader that does not hear that its ISR has shrunk acknowledges with fewer than min ISR",
        UNHEARD_SHRINK,
        lambda variant: isinstance(variant, Variant) and variant.metadata_log and not variant.shrink_raises_epoch,
        "shrink-raises-epoch",
    ),
    Finding(
        "eligibility forgotten with min ISR",
        "docs/findings/eligibility-forgotten.md",
        "a change of min ISR makes the controller forget who may lead, also where nobody is in the ISR",
        FORGOTTEN_ELR,
        lambda variant: isinstance(variant, Variant) and variant.elr and not variant.min_isr_keeps_elr,
        "min-isr-keeps-elr",
        ("stuck", "no-leader", "elr-forgotten"),
    ),
    Finding(
        "ELR switched off and on",
        "docs/findings/elr-switched.md",
        "ELR is switched while brokers are down: the controller forgets who may lead, or takes another for the last leader",
        SWITCHED_ELR,
        lambda variant: isinstance(variant, Variant) and variant.elr and not variant.safe_elr_switch,
        "safe-elr-switch",
    ),
    Finding(
        "min ISR by partition 0",
        "docs/findings/min-isr-by-partition-0.md",
        "where partition 0 of a topic has fewer replicas than min ISR, who leaves the ISR of another partition is not eligible",
        OTHER_PARTITION,
        lambda variant: isinstance(variant, Variant) and variant.elr and not variant.own_replicas_bound_min_isr,
        "own-replicas-bound-min-isr",
    ),
    Finding(
        "eligible, but no replica",
        "docs/findings/eligible-but-no-replica.md",
        "who leaves the ISR with a reassignment goes into the ELR, and keeps all others from being elected",
        NO_REPLICA_ELIGIBLE,
        lambda variant: isinstance(variant, Variant) and variant.elr and not variant.elr_of_replicas,
        "elr-of-replicas",
        ("stuck", "no-leader"),
    ),
    Finding(
        "cancelled below min ISR",
        "docs/findings/eligible-but-no-replica.md",
        "a reassignment that is cancelled takes the copies that a record was acknowledged for, and leaves fewer than min ISR",
        CANCELLED,
        lambda variant: isinstance(variant, Variant) and variant.metadata_log and not variant.cancel_keeps_min_isr,
        "cancel-keeps-min-isr",
    ),
    Finding(
        "back below its log start",
        "docs/findings/back-below-its-log-start.md",
        "after an unclean election a replica whose log starts beyond its leader's records is in sync without them",
        "the later leader's log start had moved beyond it (recovered)",
        lambda variant: isinstance(variant, Variant) and variant.delete_records and not variant.keep_last_epoch,
        "keep-last-epoch",
    ),
    Finding(
        "a cut at a log start",
        "docs/findings/cut-at-a-log-start.md",
        "a follower that cuts its log to its leader's log start, inside a batch, never follows again",
        AT_LOG_START,
        lambda variant: isinstance(variant, Variant) and not variant.begin_anew,
        "begin-anew",
    ),
    Finding(
        "a reassignment that is replaced",
        "docs/findings/reassignment-replaced.md",
        "an order that takes the place of a pending reassignment is accepted and disobeyed, or never ends",
        REPLACED_ORDER,
        lambda variant: isinstance(variant, Variant) and variant.metadata_log and not variant.obeys_last_order,
        "obey-last-order",
    ),
    Finding(
        "a reassignment that is taken back (KAFKA-14424)",
        "docs/zoo.md",
        "with ZooKeeper, a reassignment that is taken back or replaced may leave an ISR of which nobody is a replica",
        NOBODY_LEFT,
        lambda variant: isinstance(variant, Variant) and not variant.metadata_log,
    ),
    Finding(
        "leadership after removal",
        "docs/findings/late-leadership-after-removal.md",
        "with ZooKeeper, a late copy of an old request makes a broker lead a partition that was taken from it",
        REMOVED_LEADER,
        lambda variant: isinstance(variant, Variant) and not variant.metadata_log,
    ),
    Finding(
        "a hole behind a cut",
        "docs/findings/hole-behind-a-cut.md",
        "a cut inside a batch removes the whole batch, and the log goes on behind it",
        "a cut fell inside a batch, and the whole batch went",
        lambda variant: (
            isinstance(variant, Variant) and variant.truncation == "kip101" and not variant.cut_ends_at_batch
        ),
        "cut-ends-at-batch",
        ("broken-log",),
    ),
)
"""The more particular first."""


def known(variant: str, cause: Cause) -> Finding | None:
    """The finding that an anomaly of this cause is, under this variant; None if it is none that is known.

    >>> cause = Cause("lost-write", "violation", None, ("the later leader never had the record", MISSED_REIGN))
    >>> known("kafka-4.0", cause).page
    'docs/findings/missed-reign.md'
    >>> known("kafka-4.0+forget-log-ends", cause), known("raft", cause)
    (None, None)
    """
    return next((one for one in FINDINGS if one.explains(variant, cause)), None)

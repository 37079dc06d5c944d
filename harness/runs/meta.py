"""What a history's meta line says of every run, whatever world it happened in (docs/history.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.checkers.replicas.liveness.bounds import TIMES
from tidemark.harness.runs.own_rules import digests
from tidemark.nodes.families import family_of

if TYPE_CHECKING:
    from tidemark.nemesis import Plan
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.core.settings import Settings
    from tidemark.nodes.families import AnyVariant


def times_of(settings: Settings) -> dict[str, int]:
    """The times by which a checker can tell what takes too long; µs."""
    return {name: getattr(settings, name) for name in TIMES}


def holds_back(plan: Plan) -> dict[str, str]:
    """Kind of fault of a plan → whom it keeps from what they should do."""
    return {fault.kind: fault.row.holds_back for fault in plan.faults}


def run_meta(cluster: ClusterSpec, variant: AnyVariant, contract: str | None = None) -> dict[str, Any]:
    """The cluster's shape and the promise it is judged by: the variant's own, or one that is asked for and counts alone.

    Where a majority or a quorum decides and not an ISR, ``min_isr`` is that, and there are no unclean elections.
    ``rules`` has the digest of each truncation rule that somebody brought.
    ``replaces`` says that an order may replace a reassignment that is under way, or take it back (KIP-455).
    Where reads are promised to be linearizable, ``reads_within`` says how many offsets from its position a poll looks at, at least.
    ``cuts_committed`` says that servers cut what they know to be committed, and fetch it again.
    """
    chosen: dict[str, Any] = {} if contract is None else {"contract_alone": True}
    family = family_of(variant)
    min_isr, unclean_election = cluster.settings.min_isr, cluster.settings.unclean_election
    if not family.has_isr:
        chosen |= {"family": family.name, "isr": False}
        majority = cluster.replication_factor // 2 + 1
        enough = getattr(variant, "enough", None)
        min_isr, unclean_election = majority if enough is None else enough(cluster.replication_factor), False
        if not getattr(variant, "votes", True):
            chosen["votes"] = False
    if getattr(variant, "reassignments_replace", False):
        chosen["replaces"] = True
    if getattr(variant, "linearizable_reads", False):
        chosen["reads_within"] = cluster.settings.max_fetch_batches
    if getattr(variant, "cuts_committed", False):
        chosen["cuts_committed"] = True
    rules = digests(variant.name)
    return {
        "variant": variant.name,
        **({"rules": rules} if rules else {}),
        "contract": contract or variant.contract,
        **chosen,
        "replicas": {name: list(replicas) for name, replicas in cluster.assignment().items()},
        "min_isr": min_isr,
        "acks": cluster.acks,
        "unclean_election": unclean_election,
        "epoch_cache": variant.has_epoch_cache,
    }

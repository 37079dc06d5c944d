"""A replica falls behind, the others end, and an operator lets it lead: what random faults seldom come to by themselves."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from tidemark.nemesis.fault import Fault
from tidemark.nemesis.kind import log_uniform
from tidemark.nemesis.kinds import ALLOWED, SECOND, kinds_drawn_with
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS

_ENDS = ("crash", "crash", "restart", "isolate", "pause")
_SHARE = 0.6
"""Of the plans of a profile in which unclean elections are allowed for a while."""
AFTER_US = 500 * MS
"""A plan goes on so long behind the last of these faults."""


def left_behind(rng: Random, known: Collection[str], cluster: ClusterSpec) -> list[Fault]:
    """These faults of the profile's `known` kinds, in a share of the plans.

    The allowance begins before the others end, or when they have, and ends at any time.
    """
    allowances = [kind for kind in kinds_drawn_with(ALLOWED) if kind in known]
    ends = [kind for kind in _ENDS if kind in known]
    if not (allowances and ends) or rng.random() > _SHARE:
        return []
    session, partition = cluster.settings.session_us, rng.randrange(cluster.partitions)
    last, *others = rng.sample(cluster.assignment()[f"t-{partition}"], cluster.replication_factor)
    goes = rng.randrange(SECOND // 2, 2 * SECOND)
    others_go = goes + int(session * rng.uniform(1.1, 2))
    gone = others_go + log_uniform(rng, 5 * MS, 400 * MS)
    back = gone + log_uniform(rng, 5 * MS, 400 * MS)
    others_back = back + int(session * rng.uniform(0.5, 2.5))
    allowed = rng.choice((rng.randrange(goes, others_go), back + log_uniform(rng, 20 * MS, 2 * session)))
    spans = [
        (rng.choice(ends), goes, back, last),
        *((rng.choice(ends), rng.randrange(others_go, gone), others_back, broker) for broker in others),
        (allowances[0], allowed, allowed + log_uniform(rng, 100 * MS, 3 * SECOND), last),
    ]
    return [Fault(kind, at, until - at, f"b{broker}", partition=partition) for kind, at, until, broker in spans]


def end_of_left_behind(faults: list[Fault]) -> int:
    """When a plan with these faults may end, at the earliest."""
    return max((one.at_us + one.lasts_us + AFTER_US for one in faults), default=0)

"""The registry line of replication reconciliation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.families.family import Family
from tidemark.nodes.families.reconciliation.member import STEPS, ReconcilingMember
from tidemark.nodes.families.reconciliation.messages import LatestRequest, LatestResponse, Leading
from tidemark.nodes.families.reconciliation.variant import PRESETS, ReconciliationVariant, parse_reconciliation
from tidemark.nodes.families.switches import describe, modifiers
from tidemark.nodes.families.voting.faults import COUNTERPARTS, FROM_FOLLOWER, FROM_LEADER, NOT_SUFFERED, UNHEARD
from tidemark.nodes.families.voting.marks import MARKS
from tidemark.nodes.families.voting.messages import VoteRequest
from tidemark.nodes.families.voting.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.nodes.core.recovery import Recovered
    from tidemark.nodes.core.settings import Settings


def _server(
    node_id: int,
    incarnation: int,
    variant: ReconciliationVariant,
    settings: Settings,
    recovered: Recovered,
    assignment: Mapping[str, tuple[int, ...]],
) -> Server:
    return Server(node_id, incarnation, variant, settings, recovered, assignment, ReconcilingMember, STEPS)


def _tells_leadership(message: object) -> bool:
    """Requests for votes, and a leader's word that it is one."""
    return isinstance(message, VoteRequest | Leading)


RECONCILIATION = Family(
    name="reconciliation",
    title="Replication reconciliation",
    page="reconciliation.md",
    presets=PRESETS,
    parse=parse_reconciliation,
    describe=describe,
    modifiers=modifiers,
    kind=ReconciliationVariant,
    machine=_server,
    counterparts=COUNTERPARTS,
    not_suffered=NOT_SUFFERED,
    unheard=UNHEARD,
    tells_leadership=_tells_leadership,
    marks=MARKS | {"rounds-2", "rounds-3"},
    kinds={LatestResponse: FROM_LEADER, LatestRequest: FROM_FOLLOWER},
)

"""The registry line of replication reconciliation."""

from __future__ import annotations

from functools import partial

from tidemark.nodes.families.reconciliation.member import ReconcilingMember
from tidemark.nodes.families.reconciliation.messages import LatestRequest, LatestResponse, Leading
from tidemark.nodes.families.reconciliation.variant import PRESETS
from tidemark.nodes.families.voting.family import voting_family
from tidemark.nodes.families.voting.faults import FROM_FOLLOWER, FROM_LEADER
from tidemark.nodes.families.voting.marks import VOTING
from tidemark.nodes.families.voting.messages import VoteRequest
from tidemark.nodes.families.voting.server import Server


def _tells_leadership(message: object) -> bool:
    """Requests for votes, and a leader's word that it is one."""
    return isinstance(message, VoteRequest | Leading)


RECONCILIATION = voting_family(
    name="reconciliation",
    title="Replication reconciliation",
    presets=PRESETS,
    messages=ReconcilingMember.steps,
    machine=partial(Server, member=ReconcilingMember),
    tells_leadership=_tells_leadership,
    marks=VOTING | {"rounds-2", "rounds-3"},
    kinds={LatestResponse: FROM_LEADER, LatestRequest: FROM_FOLLOWER},
)

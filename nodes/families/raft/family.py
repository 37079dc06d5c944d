"""The registry line of Raft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.nodes.families.raft.changing import ChangingMember
from tidemark.nodes.families.raft.member import RaftMember
from tidemark.nodes.families.raft.messages import AppendEntries, AppendResponse
from tidemark.nodes.families.raft.variant import PRESETS, RaftVariant
from tidemark.nodes.families.voting.family import voting_family
from tidemark.nodes.families.voting.faults import COUNTERPARTS, FROM_FOLLOWER, FROM_LEADER, NOT_SUFFERED, UNHEARD
from tidemark.nodes.families.voting.marks import VOTING
from tidemark.nodes.families.voting.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.nodes.core.recovery import Recovered
    from tidemark.nodes.core.settings import Settings

MOVES = (
    "whoever leads adds the new server once that has all that is committed, and then takes the old one away, each by an entry of "
    "the log; an operator asks until it is done"
)


def _server(
    node_id: int,
    incarnation: int,
    variant: RaftVariant,
    settings: Settings,
    recovered: Recovered,
    assignment: Mapping[str, tuple[int, ...]],
) -> Server:
    member = ChangingMember if variant.membership_change else RaftMember
    return Server(node_id, incarnation, variant, settings, recovered, assignment, member)


def _differs(variant: RaftVariant) -> Mapping[str, Any]:
    """Where members change there are reassignments, and what waits for one waits for an entry of the log."""
    if not variant.membership_change:
        return {}
    return {
        "changes_members": True,
        "marks": VOTING | {"reassigned"},
        "counterparts": {**COUNTERPARTS, "reassignment": MOVES},
        "not_suffered": {
            **{kind: why for kind, why in NOT_SUFFERED.items() if kind != "reassignment"},
            "withdrawal": "who has come goes by another change only",
        },
        "unheard": {**UNHEARD, "reassign": "members", "removed": "members", "members": "members"},
    }


RAFT = voting_family(
    name="raft",
    title="Raft's log replication",
    presets=PRESETS,
    messages=RaftMember.steps,
    machine=_server,
    kinds={AppendEntries: FROM_LEADER, AppendResponse: FROM_FOLLOWER},
    differs=_differs,
)

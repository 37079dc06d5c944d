"""The registry line of Raft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.families.family import Family
from nodes.families.raft.member import STEPS, RaftMember
from nodes.families.raft.messages import AppendEntries, AppendResponse
from nodes.families.raft.variant import PRESETS, RaftVariant, parse_raft
from nodes.families.switches import describe, modifiers
from nodes.families.voting.faults import (
    COUNTERPARTS,
    FROM_FOLLOWER,
    FROM_LEADER,
    NOT_SUFFERED,
    UNHEARD,
    tells_leadership,
)
from nodes.families.voting.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nodes.core.recovery import Recovered
    from nodes.core.settings import Settings


def _server(
    node_id: int,
    incarnation: int,
    variant: RaftVariant,
    settings: Settings,
    recovered: Recovered,
    assignment: Mapping[str, tuple[int, ...]],
) -> Server:
    return Server(node_id, incarnation, variant, settings, recovered, assignment, RaftMember, STEPS)


RAFT = Family(
    name="raft",
    title="Raft's log replication",
    page="raft.md",
    presets=PRESETS,
    parse=parse_raft,
    describe=describe,
    modifiers=modifiers,
    kind=RaftVariant,
    machine=_server,
    counterparts=COUNTERPARTS,
    not_suffered=NOT_SUFFERED,
    unheard=UNHEARD,
    tells_leadership=tells_leadership,
    kinds={AppendEntries: FROM_LEADER, AppendResponse: FROM_FOLLOWER},
)

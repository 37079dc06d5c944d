"""The registry line of the high-water mark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.families.family import Family
from tidemark.nodes.families.quorum.member import STEPS, QuorumMember
from tidemark.nodes.families.quorum.messages import (
    HighWaterMarkRequest,
    HighWaterMarkResponse,
    ReplicationRequest,
    ReplicationResponse,
)
from tidemark.nodes.families.quorum.variant import PRESETS, QuorumVariant, parse_quorum
from tidemark.nodes.families.switches import describe, modifiers
from tidemark.nodes.families.voting.faults import (
    ASK_HOW_FAR,
    COUNTERPARTS,
    FROM_FOLLOWER,
    FROM_LEADER,
    HOW_FAR,
    NOT_SUFFERED,
    UNHEARD,
    tells_leadership,
)
from tidemark.nodes.families.voting.marks import MARKS
from tidemark.nodes.families.voting.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.nodes.core.recovery import Recovered
    from tidemark.nodes.core.settings import Settings


def _server(
    node_id: int,
    incarnation: int,
    variant: QuorumVariant,
    settings: Settings,
    recovered: Recovered,
    assignment: Mapping[str, tuple[int, ...]],
) -> Server:
    return Server(node_id, incarnation, variant, settings, recovered, assignment, QuorumMember, STEPS)


QUORUM = Family(
    name="quorum",
    title="The high-water mark of a quorum",
    page="quorum.md",
    presets=PRESETS,
    parse=parse_quorum,
    describe=describe,
    modifiers=modifiers,
    kind=QuorumVariant,
    machine=_server,
    counterparts=COUNTERPARTS,
    not_suffered=NOT_SUFFERED,
    unheard=UNHEARD,
    tells_leadership=tells_leadership,
    kinds={
        ReplicationRequest: FROM_LEADER,
        HighWaterMarkResponse: HOW_FAR,
        ReplicationResponse: FROM_FOLLOWER,
        HighWaterMarkRequest: ASK_HOW_FAR,
    },
    marks=MARKS | {"cut-to-high-watermark"},
    reads_anywhere=True,
)

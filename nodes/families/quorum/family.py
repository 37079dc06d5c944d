"""The registry line of the high-water mark."""

from __future__ import annotations

from functools import partial

from tidemark.nodes.families.quorum.member import QuorumMember
from tidemark.nodes.families.quorum.messages import (
    HighWaterMarkRequest,
    HighWaterMarkResponse,
    ReplicationRequest,
    ReplicationResponse,
)
from tidemark.nodes.families.quorum.variant import PRESETS, REPAIRED
from tidemark.nodes.families.voting.family import voting_family
from tidemark.nodes.families.voting.faults import ASK_HOW_FAR, FROM_FOLLOWER, FROM_LEADER, HOW_FAR
from tidemark.nodes.families.voting.marks import VOTING
from tidemark.nodes.families.voting.server import Server

QUORUM = voting_family(
    name="quorum",
    title="The high-water mark of a quorum",
    presets=PRESETS,
    messages=QuorumMember.steps,
    bundles={"repaired": REPAIRED},
    machine=partial(Server, member=QuorumMember),
    kinds={
        ReplicationRequest: FROM_LEADER,
        HighWaterMarkResponse: HOW_FAR,
        ReplicationResponse: FROM_FOLLOWER,
        HighWaterMarkRequest: ASK_HOW_FAR,
    },
    marks=VOTING | {"cut-to-high-watermark", "cut-without-conflict"},
    reads_anywhere=True,
)

"""The registry line of BookKeeper."""

from __future__ import annotations

from functools import partial

from tidemark.nodes.families.bookkeeper.member import LedgerMember
from tidemark.nodes.families.bookkeeper.messages import (
    AddEntry,
    AddResponse,
    Metadata,
    ReadLac,
    ReadLacResponse,
    RecoveryRead,
    RecoveryReadResponse,
    WriteLac,
)
from tidemark.nodes.families.bookkeeper.store import MetadataStore
from tidemark.nodes.families.bookkeeper.variant import PRESETS
from tidemark.nodes.families.family import Family
from tidemark.nodes.families.voting.faults import (
    ASK_HOW_FAR,
    FROM_FOLLOWER,
    FROM_LEADER,
    HOW_FAR,
    NO_LOG_START,
    UNHEARD,
)
from tidemark.nodes.families.voting.marks import MARKS
from tidemark.nodes.families.voting.server import Server

NO_ISR = "there is no ISR that could change"
STORE = "the metadata store is meant"
OWNS = "the store makes the server the partition's owner, whoever was; it leads when it has recovered and closed the last ledger"


def _tells_leadership(message: object) -> bool:
    """The store says who owns what."""
    return isinstance(message, Metadata)


BOOKKEEPER = Family(
    name="bookkeeper",
    title="BookKeeper's ledgers",
    presets=PRESETS,
    machine=partial(Server, member=LedgerMember),
    store=MetadataStore,
    counterparts={
        "controller": STORE,
        **dict.fromkeys(("isolate", "halves", "one-way-in", "one-way-out"), f"for the controller: {STORE}"),
        **dict.fromkeys(("lost-leadership", "late-leadership"), "what the metadata store says is lost, or late"),
        **dict.fromkeys(("preferred-election", "forced-election", "fast-failover"), OWNS),
    },
    not_suffered={
        "isr": NO_ISR,
        "registrations": "a session begins with its first heartbeat",
        "unclean-election": "there is no election that could be unclean: who owns the partition recovers what bookies have",
        "log-start": NO_LOG_START,
        "reassignment": "the bookies of a partition never change",
    },
    unheard=UNHEARD,
    tells_leadership=_tells_leadership,
    marks=MARKS | {"ensemble-lacks-confirmed"},
    kinds={
        AddEntry: FROM_LEADER,
        AddResponse: FROM_FOLLOWER,
        **dict.fromkeys((ReadLac, RecoveryRead), ASK_HOW_FAR),
        **dict.fromkeys((ReadLacResponse, RecoveryReadResponse, WriteLac), HOW_FAR),
    },
)

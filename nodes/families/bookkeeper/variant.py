"""BookKeeper's ledgers, and flawed forms of them that tests must find.

bookkeeper                       as its documentation has it, since 4.14
bookkeeper+no-fencing            flawed: bookies do not fence
bookkeeper+ack-before-quorum     flawed: one bookie's answer is enough for the writer
bookkeeper+recovery-trusts-lac   flawed: a ledger is closed at what its bookies know to be confirmed
bookkeeper+unfenced-reads        before 4.14: reads of recovery do not fence
bookkeeper+forget-fences         flawed: a fence is forgotten when a bookie restarts
bookkeeper+no-cookies            flawed: a bookie that has lost its disk says that it does not have what it had
bookkeeper+no-sync               journalSyncData=false: nothing is fsynced
bookkeeper+ensemble=3+write=3+ack=2
"""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.nodes.core.switches import Choice, choice, switch
from tidemark.nodes.families.voting.variant import EpochlessVariant

AS_MANY_AS_FIT = 0
MOST = 5


def _size(name: str, what: str, default: str) -> int:
    says = {AS_MANY_AS_FIT: f"{what} {default}."} | {size: f"{what} {size}." for size in range(1, MOST + 1)}
    words = {f"{name}={size}": size for size in range(1, MOST + 1)}
    found: int = choice(Choice(name, says, words), AS_MANY_AS_FIT)
    return found


@dataclass(frozen=True, slots=True)
class BookKeeperVariant(EpochlessVariant):
    """Sizes, and which of the rules hold."""

    promise = "ack-quorum"
    ensemble: int = _size("ensemble", "Bookies that a ledger lies on:", "all replicas but one, which is to spare")
    write: int = _size("write", "Bookies that an entry is written on:", "three, or as many as the ensemble has")
    ack: int = _size("ack", "Bookies that must have an entry before it counts:", "two, or as many as it is written on")
    fences: bool = switch(
        "fencing",
        "A bookie that was asked by whoever recovers a ledger takes nothing more from its writer.",
        "A bookie takes entries from whoever sends them: two writers may go on side by side.",
        turns_off="no-fencing",
        default=True,
    )
    recovery_reads_fence: bool = switch(
        "reads of recovery (issue 2614)",
        "The reads of recovery fence as well: who says that it does not have an entry will not have it later.",
        "Only the question for what is confirmed fences: who says that it does not have an entry may have it later (before 4.14).",
        turns_off="unfenced-reads",
        default=True,
    )
    remembers_fences: bool = switch(
        "fences over a restart",
        "A fence is in the journal before it is confirmed.",
        "A fence is in memory only.",
        turns_off="forget-fences",
        default=True,
    )
    waits_for_quorum: bool = switch(
        "confirming",
        "An entry counts when an ack quorum has it, and all before it count.",
        "An entry counts when the first bookie has it.",
        turns_off="ack-before-quorum",
        default=True,
    )
    reads_forward: bool = switch(
        "closing",
        "Recovery reads on behind what is known to be confirmed, writes again what any bookie has, and closes the ledger where "
        "no ack quorum can have more.",
        "Recovery closes the ledger at what its bookies know to be confirmed.",
        turns_off="recovery-trusts-lac",
        default=True,
    )
    cookies: bool = switch(
        "lost disks",
        "A bookie that has lost its disk finds no cookie there; of ledgers that it may have had entries of "
        "it says that it does not know.",
        "A bookie that has lost its disk says that it does not have what it had.",
        turns_off="no-cookies",
        default=True,
    )
    syncs: bool = switch(
        "fsync",
        "A bookie's journal is fsynced before it answers.",
        "Nothing is fsynced: what was counted may be gone after a power loss.",
        turns_off="no-sync",
        default=True,
    )

    @property
    def votes(self) -> bool:
        """Whether servers elect a leader by their logs."""
        return False

    def sizes(self, replicas: int) -> tuple[int, int, int]:
        """Ensemble, write quorum and ack quorum among so many replicas.

        >>> [BookKeeperVariant("bookkeeper").sizes(replicas) for replicas in (1, 2, 3, 4, 5)]
        [(1, 1, 1), (2, 2, 2), (2, 2, 2), (3, 3, 2), (4, 3, 2)]
        """
        ensemble = min(self.ensemble or max(replicas - 1, 2), replicas)
        write = min(self.write or 3, ensemble)
        return ensemble, write, min(self.ack or 2, write)

    def enough(self, replicas: int) -> int:
        """So many of the replicas must have a record before it is acknowledged."""
        return self.sizes(replicas)[2]


PRESETS = {"bookkeeper": BookKeeperVariant("bookkeeper")}

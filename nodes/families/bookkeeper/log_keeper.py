"""What a reader, a writer and a recovery need of the member that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.nodes.core.actions import Action
    from tidemark.nodes.core.log import Batch, Log
    from tidemark.nodes.core.settings import Settings
    from tidemark.nodes.families.bookkeeper.ledger import Fragment, Ledger
    from tidemark.nodes.families.bookkeeper.variant import BookKeeperVariant


class LogKeeper(Protocol):
    """The member; :class:`tidemark.nodes.families.bookkeeper.member.LedgerMember` says what these are."""

    node_id: int
    name: str
    settings: Settings
    variant: BookKeeperVariant
    out: list[Action]
    log: Log
    ledgers: tuple[Ledger, ...]
    correlation: int
    reader: Any

    @property
    def updating(self) -> bool:
        """Whether the store has not answered yet."""

    def cut(self, now: int, offset: int, why: str) -> None:
        """Forget what is not in the log."""

    def take(self, now: int, batch: Batch) -> None:
        """An entry that is confirmed was read."""

    def commit_to(self, now: int, hw: int) -> None:
        """What was written is confirmed up to here."""

    def lose_ledger(self, now: int) -> None:
        """Somebody has fenced it."""

    def update(self, now: int, fragments: tuple[Fragment, ...]) -> None:
        """The open ledger has these fragments from now on."""

    def update_last(self, now: int, ledger: Ledger) -> None:
        """The last ledger is this one from now on."""

    def create_ledger(self, now: int) -> None:
        """Open one, if there are enough bookies."""

    def open(self, now: int, ledger: Ledger) -> None:
        """The ledger is there: lead."""

    def replaced(self, ensemble: Sequence[int], silent: Sequence[int]) -> tuple[int, ...]:
        """The ensemble with others in the places of those who do not answer."""

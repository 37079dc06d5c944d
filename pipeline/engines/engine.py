"""What answers questions about a campaign's tables."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

Arguments: TypeAlias = Mapping[str, Any] | None
"""Named parameters of a question."""


class Engine(Protocol):
    """Asked in Spark's SQL, by several threads at a time. Rows are asked for their columns by name."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What it raises where it cannot answer."""

    def load(self, folder: Path, names: tuple[str, ...]) -> None:
        """Have the tables of a campaign's finished chunks under their names, each with the column `variant`.

        Raises:
            NothingToCompareError: There is no campaign, or no chunk is finished yet.
            DamagedTableError: A file is not what the campaign wrote.
        """

    def rows(self, text: str, args: Arguments = None) -> list[Any]:
        """The rows that answer a question."""

    def name(self, name: str, text: str, args: Arguments = None) -> None:
        """Questions may name the answer from now on."""

    def kept(self, name: str, text: str, args: Arguments = None) -> AbstractContextManager[None]:
        """The same, and the answer is worked out once, for as long as this lasts."""

    def about(self, runs: int) -> AbstractContextManager[None]:
        """Meanwhile no question is about more runs than these."""

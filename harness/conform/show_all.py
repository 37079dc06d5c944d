"""All pairs for a terminal: how it goes while they are played, and how everything came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from tidemark.harness.conform.kept_pair import CANNOT, EQUAL, EXPLAINED, FAILED, MISSING, UNEXPLAINED, KeptPair
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.conform.pairs import Pair
from tidemark.harness.conform.totals import totals

STYLES = {
    EQUAL: "green",
    EXPLAINED: "yellow",
    UNEXPLAINED: "bold red",
    FAILED: "red",
    MISSING: "dim",
    CANNOT: "dim",
}
SIGNS = {EQUAL: "=", EXPLAINED: "≈", UNEXPLAINED: "✗", FAILED: "!", MISSING: "·", CANNOT: "–"}


class AllProgress:
    """A bar over all tries, and what is being done. Where there is no terminal, a line for each try.

    Args:
        kept: all pairs; looked at after each try.
        tries: of each pair.
        findings: the differences that are known.
        console: where to draw.
    """

    def __init__(
        self, kept: Sequence[KeptPair], tries: int, findings: Sequence[KnownDifference], console: Console
    ) -> None:
        self._kept = kept
        self._tries = tries
        self._findings = findings
        self._console = console
        self._all = sum(tries for one in kept if not one.cannot)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[found]}"),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not console.is_terminal,
        )
        self._now = self._progress.add_task("", total=None, found="", visible=False)
        self._bar = self._progress.add_task("conform", total=self._all, found=self._found(), completed=self._done())

    def __enter__(self) -> Self:
        """Start to draw."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the last state on the screen."""
        self._progress.update(self._now, visible=False)
        self._progress.stop()

    def doing(self, pair: Pair, words: str) -> None:
        """What is being done."""
        self._progress.update(self._now, found=f"{pair.pairing.words}: {words}", visible=True)

    def came_out(self, pair: Pair, kept: KeptPair) -> None:
        """A try is over, or could not be carried out."""
        self._progress.update(
            self._bar, total=sum(self._tries for one in self._kept if not one.cannot), completed=self._done()
        )
        self._progress.update(self._bar, found=self._found())
        standing = kept.standing(self._findings)
        why = kept.failure or (kept.cannot if standing == CANNOT else "")
        words = f"{self._done()} of {self._all}: {pair.pairing.words}: {standing}{f': {why}' if why else ''}"
        if not self._console.is_terminal or standing not in (EQUAL, EXPLAINED):
            self._console.print(words, highlight=False, markup=False, soft_wrap=True)

    def _done(self) -> int:
        return sum(min(len(one.tries), self._tries) for one in self._kept)

    def _found(self) -> str:
        found = totals(self._kept, self._findings)
        failed = f", {found.failed} failed" if found.failed else ""
        return f"{found.equal} equal, {found.explained} explained, {found.unexplained} unexplained{failed}"


def show_all(kept: Sequence[KeptPair], findings: Sequence[KnownDifference], console: Console) -> None:
    """A row for each script, a column for each system, what is unexplained, and the totals."""
    systems = list(dict.fromkeys(one.system for one in kept))
    table = Table(Column("script", no_wrap=True), *(Column(str(n)) for n, _ in enumerate(systems, 1)), padding=(0, 1))
    rows: dict[str, dict[str, Text]] = {}
    for one in kept:
        standing = one.standing(findings)
        rows.setdefault(one.scenario, {})[one.system] = Text(SIGNS[standing], style=STYLES[standing])
    for name, row in rows.items():
        table.add_row(name, *(row.get(system, Text("")) for system in systems))
    console.print(table)
    for n, system in enumerate(systems, 1):
        console.print(f"{n}  {system}", highlight=False, markup=False)
    signs = ", ".join(f"{sign} {standing}" for standing, sign in SIGNS.items())
    console.print(signs, highlight=False, markup=False, soft_wrap=True)
    for one in kept:
        for found in one.differences(findings):
            if found.finding is None:
                about = f"{one.scenario} on {one.system}: {found.aspect}"
                words = f"unexplained: {about}: the model has {found.model}, Kafka {found.seen}"
                console.print(words, style="red", highlight=False, markup=False, soft_wrap=True)
    console.print(sentence(kept, findings), highlight=False, markup=False, soft_wrap=True)


def sentence(kept: Sequence[KeptPair], findings: Sequence[KnownDifference]) -> str:
    """The totals in words."""
    found = totals(kept, findings)
    rest = [
        (found.failed, "could not be carried out"),
        (found.missing, "not played yet"),
        (found.cannot, "cannot be played"),
    ]
    return (
        f"{found.played} of {found.pairs} pairs played: {found.equal} equal, {found.explained} explained, "
        f"{found.unexplained} unexplained"
    ) + "".join(f"; {number} {words}" for number, words in rest if number)

"""The published page about all pairs (docs/results/conform.md), from what is kept of them and the differences that are known.

The same results give the same page: a test holds the page in docs/ against the results beside it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from tidemark.harness.conform.kept_pair import CANNOT, EXPLAINED, FAILED, MISSING, UNEXPLAINED, KeptPair
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.conform.totals import not_shown, totals

COMMAND = "tidemark conform --all --out results/published/conform --page docs/results/conform.md"

_CELLS = {UNEXPLAINED: "**unexplained**", CANNOT: "–", FAILED: "failed", MISSING: "not played"}


def results_page(kept: Iterable[KeptPair], findings: Sequence[KnownDifference], command: str = COMMAND) -> str:
    """The page, as Markdown.

    Args:
        kept: all pairs, those that cannot be played as well.
        findings: the differences that are known.
        command: what makes the page.
    """
    return "\n".join(_Page(sorted(kept, key=_order), findings).lines(command)).rstrip("\n") + "\n"


def _order(one: KeptPair) -> tuple[list[list[int]], str]:
    return _numbers(one.system), one.scenario


def _numbers(system: str) -> list[list[int]]:
    """``kafka:2.8.2@0.10.2`` → its two versions, so that they sort as versions do."""
    return [[int(number) for number in re.findall(r"\d+", part)] for part in system.split("@")]


class _Page:
    def __init__(self, kept: Sequence[KeptPair], findings: Sequence[KnownDifference]) -> None:
        self._kept = kept
        self._findings = findings
        self._differences = {id(one): one.differences(findings) for one in kept}
        shown = {id(one.finding) for found in self._differences.values() for one in found if one.finding is not None}
        self._numbers = {id(one): n for n, one in enumerate((f for f in findings if id(f) in shown), 1)}

    def lines(self, command: str) -> Iterator[str]:
        yield from (
            "# Model against real Kafka: every script",
            "",
            "Every script of `harness/scenario/scripts` in the simulator and on brokers of Apache Kafka, under each protocol",
            "version that stands for a preset, held side by side as [conform](../conform.md) tells. *equal*: nothing that is",
            "compared differs. *explained*: what differs is a known difference, by its number below. *unexplained*: somebody has",
            "to look. This page is written by",
            "",
            f"    {command}",
            "",
            "which goes on where it was ended, and plays again what has changed.",
            "",
        )
        yield from self._totals()
        yield from self._table()
        yield from self._unexplained()
        yield from self._explained()
        yield from self._stale()
        yield from self._reasons(FAILED, "Not carried out", "Tried again at the next run.", lambda one: one.failure)
        yield from self._reasons(CANNOT, "Cannot be played", "Not counted above.", lambda one: one.cannot)

    def _totals(self) -> Iterator[str]:
        found = totals(self._kept, self._findings)
        tries = [one for pair in self._kept for one in pair.tries]
        yield from ("| pairs of a script and a system | |", "|---|---|")
        yield f"| that can be played | {found.pairs} |"
        yield f"| played | {found.played} |"
        yield f"| equal | {found.equal} |"
        yield f"| explained | {found.explained} |"
        yield f"| unexplained | {found.unexplained} |"
        yield f"| not carried out | {found.failed} |"
        yield f"| not played yet | {found.missing} |"
        yield ""
        if tries:
            days = sorted({one.played[:10] for one in tries})
            when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
            commits = ", ".join(f"`{commit}`" for commit in sorted({one.commit for one in tries}))
            yield from (f"{len(tries)} tries, {when}, by Tidemark {commits}.", "")

    def _table(self) -> Iterator[str]:
        systems = list(dict.fromkeys(one.system for one in self._kept))
        rows: dict[str, dict[str, str]] = defaultdict(dict)
        for one in self._kept:
            rows[one.scenario][one.system] = self._cell(one)
        yield from (f"| script | {' | '.join(systems)} |", "|---" * (1 + len(systems)) + "|")
        for scenario in sorted(rows):
            yield f"| `{scenario}` | {' | '.join(rows[scenario].get(system, '') for system in systems)} |"
        yield ""

    def _cell(self, one: KeptPair) -> str:
        standing = one.standing(self._findings)
        word = _CELLS.get(standing, standing)
        if standing == EXPLAINED:
            numbers = {self._numbers[id(found.finding)] for found in self._differences[id(one)]}
            word = f"{word}: {', '.join(map(str, sorted(numbers)))}"
        return f"{word} ({len(one.tries)} tries)" if len(one.tries) > 1 else word

    def _unexplained(self) -> Iterator[str]:
        rows = [(one, found) for one in self._kept for found in self._differences[id(one)] if found.finding is None]
        if not rows:
            return
        yield from (
            "## Unexplained",
            "",
            "| script | system | what | model | Kafka | tries |",
            "|---|---|---|---|---|---|",
        )
        for one, found in rows:
            model, seen = _escaped(found.model), _escaped(found.seen)
            tries = f"{found.tries} of {found.times}"
            yield f"| `{one.scenario}` | {one.system} | {_escaped(found.aspect)} | {model} | {seen} | {tries} |"
        yield ""
        for one in self._kept:
            doubts = dict.fromkeys(words for played in one.tries for words in played.doubts)
            for words in doubts:
                yield from (
                    f"Of `{one.scenario}` on {one.system} not all evidence was understood: {_escaped(words)}",
                    "",
                )

    def _explained(self) -> Iterator[str]:
        if not self._numbers:
            return
        yield from ("## Known differences that showed", "")
        for finding in self._findings:
            number = self._numbers.get(id(finding))
            if number is None:
                continue
            yield from (f"{number}. {_escaped(finding.why)} ({_escaped(finding.source)})", "")
            for one in self._kept:
                mine = [found for found in self._differences[id(one)] if found.finding is finding]
                if mine:
                    aspects = ", ".join(dict.fromkeys(_escaped(found.aspect) for found in mine))
                    tries = max(found.tries for found in mine)
                    often = f", {tries} of {len(one.tries)} tries" if len(one.tries) > 1 else ""
                    yield f"   - `{one.scenario}` on {one.system}{often}: {aspects}"
            yield ""

    def _stale(self) -> Iterator[str]:
        stale = not_shown(self._kept, self._findings)
        if stale:
            yield from ("## Known differences that did not show", "")
            for one in stale:
                about = f"`{one.aspect}` of `{one.scenario}` on `{one.system}`"
                yield f"- {about}: {_escaped(one.why)} ({_escaped(one.source)})"
            yield ""

    def _reasons(self, standing: str, heading: str, words: str, why: Callable[[KeptPair], str]) -> Iterator[str]:
        """Scripts and systems by reason."""
        by_reason: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for one in self._kept:
            if one.standing(self._findings) == standing:
                by_reason[_general(why(one), one)][one.scenario].append(one.system)
        if not by_reason:
            return
        yield from (f"## {heading}", "", words, "", "| script | systems | why |", "|---|---|---|")
        for reason, scripts in by_reason.items():
            by_systems: dict[str, list[str]] = defaultdict(list)
            for scenario, systems in scripts.items():
                by_systems[", ".join(systems)].append(f"`{scenario}`")
            for systems_told, scenarios in by_systems.items():
                yield f"| {', '.join(scenarios)} | {systems_told} | {_escaped(reason)} |"
        yield ""


def _general(reason: str, one: KeptPair) -> str:
    """A reason without the names that the table has beside it."""
    for name in (one.system, one.system.partition("@")[0]):
        reason = reason.removeprefix(f"{name} ")
    return reason


def _escaped(text: str) -> str:
    """A text that is no Markdown, in a cell."""
    return re.sub(r"([|*_<>`])", r"\\\1", text.replace("\n", " "))

"""The parts of ``docs/protocol.md`` that the protocol core says of itself: presets, fences, bugs, roles.

    python -m tidemark.harness.report.protocol_page

writes them anew between their markers, in a checkout; a test says when that is due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from tidemark.nodes.core.describe import describe
from tidemark.nodes.core.roles_drawn import as_diagram, as_table
from tidemark.nodes.core.switches import Switch
from tidemark.nodes.core.variant import BUGS, PRESETS, SWITCHES, Fence, Variant

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"


def main() -> None:
    """Bring the page up to date."""
    PAGE.write_text(written_anew(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def written_anew(page: str) -> str:
    """The page with every generated part as the code has it now.

    Raises:
        ValueError: a part has no place on the page.
    """
    for name, lines in PARTS.items():
        page = with_part(page, name, "tidemark.harness.report.protocol_page", (*lines(), ""))
    return page


def with_part(page: str, name: str, writer: str, lines: Iterable[str]) -> str:
    """The page with other lines between the markers of a part that a module writes.

    Raises:
        ValueError: the part has no place on the page.
    """
    begin, end = f"<!-- {name}: written by python -m {writer} -->", f"<!-- end of {name} -->"
    before, begun, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not (begun and ended):
        raise ValueError(f"the page has no place for {name}: {begin} … {end}")
    return before + "\n".join((begin, "", *lines, end)) + after


def _presets() -> list[str]:
    presets = PRESETS.values()
    lines = [f"| | modifier | {' | '.join(name.removeprefix('kafka-') for name in PRESETS)} |"]
    lines += ["|---" * (2 + len(PRESETS)) + "|"]
    rows = [("truncation", "truncation", [f"`{variant.truncation}`" for variant in presets])]
    rows += [("KIP-320 fences", "all-fences", [_fence_words(variant) for variant in presets])]
    rows += [
        (switch.topic, switch.word, [_yes(each, name, switch) for each in presets]) for name, switch in SWITCHES.items()
    ]
    return [
        *lines,
        *(f"| {topic} | {f'`{word}`' if word else ''} | {' | '.join(cells)} |" for topic, word, cells in rows),
    ]


def _yes(variant: Variant, field: str, switch: Switch) -> str:
    if not switch.need.is_met(variant):
        return "n/a"
    return "yes" if getattr(variant, field) else "–"


def _fence_words(variant: Variant) -> str:
    return "all" if variant.fences == frozenset(Fence) else ", ".join(f for f in Fence if f in variant.fences) or "–"


def _topics() -> list[str]:
    presets_that_say: dict[str, dict[str, list[str]]] = {}
    for name, variant in PRESETS.items():
        for topic, sentence in describe(variant):
            presets_that_say.setdefault(topic, {}).setdefault(sentence, []).append(name.removeprefix("kafka-"))
    lines = ["| topic | presets | |", "|---|---|---|"]
    for topic, sentences in presets_that_say.items():
        for sentence, names in sentences.items():
            lines.append(f"| {topic} | {'all' if len(names) == len(PRESETS) else ', '.join(names)} | {sentence} |")
    return lines


def _fences() -> list[str]:
    lines = ["| fence | with it | without | needs |", "|---|---|---|---|"]
    return [*lines, *(f"| `{fence}` | {fence.on} | {fence.off} | {fence.need.words} |" for fence in Fence)]


def _bugs() -> list[str]:
    lines = ["| modifier | what goes wrong | needs |", "|---|---|---|"]
    return [*lines, *(f"| `{key}` | {bug.says} | {bug.need.words} |" for key, bug in BUGS.items())]


def _picture() -> list[str]:
    return ["```mermaid", *as_diagram(), "```"]


PARTS: dict[str, Callable[[], list[str]]] = {
    "presets": _presets,
    "topics": _topics,
    "fences": _fences,
    "bugs": _bugs,
    "roles": as_table,
    "picture": _picture,
}
"""Name of a part → its lines."""

if __name__ == "__main__":
    main()

"""The part of ``docs/zoo.md`` that is the zoo's own: the table, and a section for each bug.

    python -m tidemark.harness.zoo.zoo_page

writes it anew between its markers, in a checkout; a test says when that is due.
"""

from __future__ import annotations

import re
from pathlib import Path

from tidemark.harness.report.protocol_page import with_part
from tidemark.harness.zoo.entry import PARTS, Entry, all_entries

PAGE = Path(__file__).parents[2] / "docs" / "zoo.md"
_JIRA = re.compile(r"\bKAFKA-\d+\b")
_PULL = re.compile(r"\bpull request (\d+)\b")
_PAGE = re.compile(r"\bdocs/(findings/[a-z0-9-]+\.md)\b")


def main() -> None:
    """Bring the page up to date."""
    PAGE.write_text(written_anew(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def written_anew(page: str) -> str:
    """The page with table and sections as the files of the zoo have them now.

    Raises:
        ValueError: the page has no place for them.
    """
    return with_part(page, "zoo", "tidemark.harness.zoo.zoo_page", (*_table(), "", *_sections()))


def _table() -> list[str]:
    lines = ["| bug | | fixed | variant | script | explore |", "|---|---|---|---|---|---|"]
    for entry in all_entries():
        script = f"`{entry.scenario}`" if entry.scenario else "–"
        explored = entry.explore.invariant if entry.explore else "–"
        cells = (
            f"[{entry.key}](#{entry.key.lower()})",
            entry.title,
            entry.fixed,
            f"`{entry.variant}`",
            script,
            explored,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _sections() -> list[str]:
    lines = []
    for part in PARTS:
        lines += [f"## {part[0].upper()}{part[1:]}", ""]
        for entry in all_entries():
            if entry.part == part:
                lines += _section(entry)
    return lines


def _section(entry: Entry) -> list[str]:
    presets = ", ".join(f"`{name}`" for name in entry.presets()) or "none"
    if entry.had:
        presets += f". The Kafka that {', '.join(f'`{name}`' for name in entry.had)} is named for had it; the preset is without"
    lines = [f"### {entry.key}", "", f"**{entry.title}.** {entry.wrong}", ""]
    lines += [f"- **Affected:** {entry.affected}. **Fixed:** {entry.fixed}."]
    lines += [f"- **Where:** {', '.join(f'`{name}`' for name in entry.code.split(', '))}."]
    lines += [f"- **Sources:** {', '.join(_linked(source) for source in entry.sources)}."]
    lines += [f"- **Variant:** `{entry.variant}`; without it `{entry.repaired}`. **Presets that have it:** {presets}."]
    shows = ", ".join(f"`{name}`" for name in entry.anomalies) or "any violation"
    lines += [f"- **Shows as:** {shows}, profile `{entry.profile}`{_judged(entry)}."]
    lines += [f"- **Not in plans:** {entry.missing}."] if entry.missing else []
    return [*lines, "", "```", *entry.commands(), "```", ""]


def _judged(entry: Entry) -> str:
    return f", judged by `{entry.contract}`" if entry.contract else ""


def _linked(source: str) -> str:
    text = _JIRA.sub(lambda m: f"[{m[0]}](https://issues.apache.org/jira/browse/{m[0]})", source)
    text = _PULL.sub(lambda m: f"[pull request {m[1]}](https://github.com/apache/kafka/pull/{m[1]})", text)
    return _PAGE.sub(lambda m: f"[{m[1]}]({m[1]})", text)


if __name__ == "__main__":
    main()

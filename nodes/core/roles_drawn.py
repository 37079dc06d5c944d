"""The table of roles as Markdown, and as a picture (a Mermaid state diagram); nothing here but drawing."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.nodes.core.roles import TABLE, Cell, Event, Role

LIVE = tuple(role for role in Role if role is not Role.HALTED)
ANY = "any"
Edge = tuple[str, str, Event]


def as_table() -> list[str]:
    """A line for each event and each thing that is done about it; a halted replica, which ignores everything, is left out."""
    lines = ["| event | in role | does | is then |", "|---|---|---|---|"]
    for event in Event:
        cells: dict[Cell, list[Role]] = {}
        for role in LIVE:
            if event in TABLE[role]:
                cells.setdefault(TABLE[role][event], []).append(role)
        for cell, roles in cells.items():
            lines.append(f"| {event} | {_named(roles)} | {_steps(cell)} | {' or '.join(cell.then) or 'the same'} |")
    return lines


def as_diagram() -> list[str]:
    """States and transitions; what all roles, or all but one, do alike is drawn once, from *any role*."""
    labels: dict[tuple[str, str], list[str]] = {}
    for start, end, event in _edges():
        labels.setdefault((start, end), []).append(event)
    return [
        "stateDiagram-v2",
        f"    {ANY}: any role",
        *(f"    {role.name.lower()}: {role}" for role in Role),
        f"    [*] --> {Role.NO_LEADER.name.lower()}",
        *(f"    {start} --> {end}: {', '.join(events)}" for (start, end), events in labels.items()),
    ]


def _named(roles: list[Role]) -> str:
    missing = [role for role in LIVE if role not in roles]
    if len(missing) > 1:
        return ", ".join(roles)
    return f"any but {missing[0]}" if missing else "any"


def _steps(cell: Cell) -> str:
    steps = ", ".join(name.rpartition(".")[2].replace("_", " ") for name in cell.does)
    return steps or ("–" if cell.then else "ignore")


def _edges() -> Iterator[Edge]:
    for event in Event:
        thens = {TABLE[role][event].then for role in LIVE if event in TABLE[role]}
        if len(thens) == 1 and sum(event not in TABLE[role] for role in LIVE) <= 1:
            yield from ((ANY, then.name.lower(), event) for then in thens.pop())
            continue
        for role in LIVE:
            if event in TABLE[role]:
                yield from ((role.name.lower(), then.name.lower(), event) for then in TABLE[role][event].then)

"""The rows of a comparison, as the terminal and the page show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tidemark.harness.conform.differing_endings import ABSENT, Played, SideBySide
from tidemark.harness.conform.ending import PLAYED, TO_THE_END, Ending
from tidemark.nodes.core.variant import PRESETS

EQUAL = "="
"""Stands in a cell that says what the first one says."""
LED = ("led",)
"""The row that tells who led; it is not compared."""
WORLDS = {"sim": "simulator", "docker": "our containers", "kafka": "Apache Kafka"}


class Row(NamedTuple):
    """A line of the table: a name, and a cell for each column, the reference first."""

    name: str
    cells: tuple[str, ...]


class Sides(NamedTuple):
    """A comparison as a table. Worlds that end as the reference does share its column."""

    titles: tuple[str, ...]
    rows: tuple[Row, ...]


def presets_of(comparisons: Sequence[SideBySide]) -> list[str]:
    """All variants, presets in the order of Kafka's versions and first."""
    order = list(PRESETS)
    names = dict.fromkeys(comparison.pairing.preset for comparison in comparisons)
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def sides(comparison: SideBySide) -> Sides:
    """What is shown of each world; of several tries, the first that is not as the reference."""
    playing = [one for one in comparison.played if one.outcomes]
    if not playing:
        return Sides((), ())
    model = comparison.endings[comparison.reference][0]
    alike = [one for one in playing if all(_same(model, told) for told in comparison.endings[one.world])]
    others = [one for one in playing if one not in alike]
    shown = [model, *(_shown(comparison.endings[one.world], model) for one in others)]
    found = []
    for name, aspects in _lines(comparison, shown).items():
        cells = [_text(one, aspects) for one in shown]
        found.append(Row(name, (cells[0], *(EQUAL if cell == cells[0] else cell for cell in cells[1:]))))
    told = tuple(row for row in found if any(cell not in ("none", ABSENT, EQUAL) for cell in row.cells))
    return Sides((" = ".join(map(_title, alike)), *map(_title, others)), told)


def _title(played: Played) -> str:
    title = played.system if played.world == "kafka" else WORLDS.get(played.world, played.world)
    return f"{title}, {len(played.outcomes)} tries" if len(played.outcomes) > 1 else title


def _same(model: Ending, told: Ending) -> bool:
    return told.values == model.values and told.elections == model.elections


def _shown(endings: list[Ending], model: Ending) -> Ending:
    return next((one for one in endings if one.values != model.values), endings[0])


def _lines(comparison: SideBySide, shown: list[Ending]) -> dict[str, tuple[str, ...]]:
    scenario = comparison.pairing.scenario
    brokers = [scenario.broker_name(broker) for broker in scenario.cluster.broker_ids()]
    aspects = list(dict.fromkeys(aspect for one in shown for aspect in one.values))
    lines: dict[str, tuple[str, ...]] = {}
    for name in brokers:
        lines[name] = tuple(f"{part} of {name}" for part in ("role", "leader epoch", "log", "HW", "epochs"))
    if any(one.values[PLAYED] != TO_THE_END for one in shown):
        # What would have come after that is nobody's to tell.
        return {PLAYED: (PLAYED,), **lines}
    for name in brokers:
        lines |= {f"{part} of {name}": (f"{part} of {name}",) for part in ("truncations", "questions")}
    lines["clients"] = tuple(aspect for aspect in aspects if aspect.startswith("send of "))
    lines["reads"] = ("reads",)
    lines["verdict"] = ("verdict",)
    lines["anomalies"] = tuple(sorted(aspect for aspect in aspects if aspect.startswith("anomaly: ")))
    lines["claims"] = tuple(aspect for aspect in aspects if aspect.startswith("claim in "))
    lines["led"] = LED
    return lines


_PREFIX = {"leader epoch": "epoch ", "HW": "HW ", "epochs": "epochs "}


def _text(one: Ending, aspects: tuple[str, ...]) -> str:
    """Aspects of an ending in one cell."""
    if not aspects:
        return "none"
    if aspects == LED:
        return one.elections
    head = aspects[0]
    if head.startswith("role of "):
        parts = [(aspect.partition(" of ")[0], one.values[aspect]) for aspect in aspects]
        return " | ".join(f"{_PREFIX.get(part, '')}{text}" for part, text in parts)
    if head.startswith("send of "):
        return _sends(one, aspects)
    if head.startswith(("anomaly: ", "claim in ")):
        told = [_listed(aspect, one.values[aspect]) for aspect in aspects if aspect in one.values]
        return "\n".join(told) or "none"
    return one.values.get(head, ABSENT)


def _listed(aspect: str, text: str) -> str:
    if aspect.startswith("claim in "):
        return f"{aspect.removeprefix('claim in ')}: {text}"
    return aspect.removeprefix("anomaly: ") + ("" if text == "found" else text.removeprefix("found"))


def _sends(one: Ending, aspects: tuple[str, ...]) -> str:
    outcomes: dict[str, list[str]] = {}
    for aspect in aspects:
        outcomes.setdefault(one.values.get(aspect, ABSENT), []).append(aspect.removeprefix("send of "))
    return "; ".join(f"{words} {' '.join(batches)}" for words, batches in outcomes.items())

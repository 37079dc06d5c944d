"""One bug as data: a file of ``harness/zoo/bugs``, which is all that the page, the commands and the measurements go by."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from tidemark.harness.search.explore.bounds import Bounds, Leadership
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import BUGS, PRESETS, Fence, Variant

PARTS = ("truncation", "fences", "ISR", "recovery", "log start", "controller", "reassignment")
"""Of the protocol, in the order of the page."""


class ZooError(ValueError):
    """There is no such bug, or its file cannot be read; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """Within which bounds an exhaustive search comes to it, and what it finds broken.

    ``beside`` is added to both variants: without it every variant has the missed reign, which breaks the same invariants.
    """

    invariant: str
    beside: str = "+forget-log-ends"
    brokers: int = 3
    records: int = 2
    epochs: int = 3
    crashes: int = 0
    lapses: int = 0
    min_isr: int = 1
    leadership: Leadership = "lost"

    def bounds(self) -> Bounds:
        """For :func:`tidemark.harness.search.explore.search.explore`."""
        return Bounds(**{f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("invariant", "beside")})

    def options(self) -> str:
        """The same as options of ``tidemark explore``."""
        names = [f.name for f in fields(self) if f.name != "beside" and getattr(self, f.name) != f.default]
        return " ".join(f"--{name.replace('_', '-')} {getattr(self, name)}" for name in names)


@dataclass(frozen=True, slots=True)
class Entry:
    """A bug that can be put back.

    Attributes:
        key: its JIRA issue, its KIP, or the name of the finding. title: in one line. part: of the protocol, one of :data:`PARTS`.
        wrong: what goes wrong, in sentences.
        affected, fixed: versions of Apache Kafka. code: Kafka's classes and methods.
        sources: KIPs, issues, pull requests, pages of ours.
        variant: one that has it. repaired: the same without it.
        state: what a variant with it has: a field and its value, ``fence``: one that it lacks, or ``bug``: a key of
            :data:`~tidemark.nodes.core.variant.BUGS`.
        had: presets that are without it, though the Kafka they are named for had it.
        anomalies: by which it shows; none: any violation.
        profile, contract, cluster: of the plans it is looked for with. ``cluster`` names fields of a cluster, or ``min_isr``.
        scenario: a script that shows it; empty: none.
        explore: how an exhaustive search comes to it; None: it does not.
        missing: why plans cannot show it; empty: they can.
    """

    key: str
    title: str
    part: str
    wrong: str
    affected: str
    fixed: str
    code: str
    sources: tuple[str, ...]
    variant: str
    repaired: str
    state: dict[str, Any]
    had: tuple[str, ...] = ()
    anomalies: tuple[str, ...] = ()
    profile: str = "intact"
    contract: str = ""
    cluster: dict[str, Any] | None = None
    scenario: str = ""
    explore: Exploration | None = None
    missing: str = ""

    def is_in(self, variant: Variant) -> bool:
        """Whether a variant has it."""
        return all(_has(variant, name, value) for name, value in self.state.items())

    def presets(self) -> tuple[str, ...]:
        """The presets that have it."""
        return tuple(name for name, preset in PRESETS.items() if self.is_in(preset))

    def cluster_spec(self) -> ClusterSpec:
        """The cluster of the plans."""
        told = dict(self.cluster or {})
        return ClusterSpec(settings=Settings(min_isr=told.pop("min_isr", 2)), **told)

    def commands(self) -> list[str]:
        """What a person types to see it."""
        options = f" --profile {self.profile}" if self.profile != "intact" else ""
        options += f" --contract {self.contract}" if self.contract else ""
        options += "".join(f" --{k.replace('_', '-')} {v}" for k, v in (self.cluster or {}).items())
        wanted = "".join(f" --for {name}" for name in self.anomalies)
        lines = [f"tidemark variants {self.variant} {self.repaired}"]
        if self.scenario:
            lines.append(f"tidemark scenario {self.scenario}")
        if not self.missing:
            lines.append(f"tidemark hunt --variant {self.variant}{options}{wanted} --until-found")
        if self.explore is not None:
            lines.append(f"tidemark explore --variant {self.variant}{self.explore.beside} {self.explore.options()}")
        return lines

    def to_json(self) -> dict[str, Any]:
        """Plain values: all fields, the presets that have it, and the commands."""
        told = {f.name: getattr(self, f.name) for f in fields(self)}
        told["explore"] = self.explore and {f.name: getattr(self.explore, f.name) for f in fields(self.explore)}
        return {**told, "presets": self.presets(), "commands": self.commands()}


def _has(variant: Variant, name: str, value: Any) -> bool:  # noqa: ANN401 (as a file has it)
    if name == "bug":
        return BUGS[value].need.is_met(variant) and BUGS[value].is_in(value, variant)
    if name == "fence":
        return any(fence == value and fence not in variant.fences and fence.need.is_met(variant) for fence in Fence)
    if name == "keeps_epochs":
        return bool(variant.rule.keeps_epochs == value)
    return bool(getattr(variant, name) == value)


@cache
def _zoo() -> tuple[Entry, ...]:
    folder = files("tidemark.harness.zoo") / "bugs"
    entries = [
        _read(file.name, file.read_text(encoding="utf-8")) for file in folder.iterdir() if file.name.endswith(".toml")
    ]
    return tuple(sorted(entries, key=lambda entry: (PARTS.index(entry.part), _number(entry.key))))


def _number(key: str) -> tuple[bool, int, str]:
    """KAFKA-9491 before KAFKA-13141, and what has another name before all."""
    number = key.removeprefix("KAFKA-")
    return (number.isdigit(), int(number) if number.isdigit() else 0, key)


def _read(name: str, text: str) -> Entry:
    told = tomllib.loads(text)
    explore = told.pop("explore", None)
    lists = {key: tuple(value) for key, value in told.items() if isinstance(value, list)}
    try:
        entry = Entry(**{**told, **lists}, explore=None if explore is None else Exploration(**explore))
    except TypeError as error:
        raise ZooError(f"{name}: {error}") from None
    if f"{entry.key}.toml" != name or entry.part not in PARTS:
        raise ZooError(f"{name}: its key must be its name, and its part one of {', '.join(PARTS)}")
    return entry


def all_entries() -> list[Entry]:
    """All bugs, in the order of the page.

    Raises:
        ZooError: a file cannot be read.
    """
    return list(_zoo())


def find(key: str) -> Entry:
    """One bug by its key, whatever the case of its letters.

    Raises:
        ZooError: there is none; the message names those that come close.
    """
    known = {entry.key.lower(): entry for entry in _zoo()}
    found = known.get(key.lower()) or known.get(f"kafka-{key}")
    if found is None:
        close = get_close_matches(key.lower(), list(known), n=3, cutoff=0.4) or sorted(known)
        raise ZooError(
            f"there is no bug {key!r} in the zoo; did you mean: {', '.join(known[one].key for one in close)}?"
        )
    return found

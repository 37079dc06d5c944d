"""What a scenario is made of once its script has been read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tidemark.harness.scenario.records import LogRecord, Names
from tidemark.nodes.core.cluster import ClusterSpec

MOVES_A_LOG = re.compile(r"move the log of (\S+)")
"""The command that needs brokers with two log directories."""


class ScenarioError(ValueError):
    """A script that cannot be read; the message begins with ``FILE:LINE:``."""

    def __init__(self, file: str, line: int, words: str) -> None:
        super().__init__(f"{file}:{line}: {words}")
        self.file = file
        self.line = line


@dataclass(frozen=True, slots=True)
class ReplicaText:
    """What a script says about one replica at one moment; `None` is "not said".

    Attributes:
        role: ``leader``, ``follower``, ``down``.
        epoch: the newest leader epoch the replica knows.
        log: one (leader epoch, name) per offset, from the log start on.
        start: the log start.
        cache: its leader epochs as (epoch, start offset).
    """

    line: int
    broker: int
    role: str | None = None
    epoch: int | None = None
    log: tuple[LogRecord, ...] | None = None
    leo: int | None = None
    hw: int | None = None
    cache: tuple[tuple[int, int], ...] | None = None
    start: int | None = None


@dataclass(frozen=True, slots=True)
class GivenReplica:
    """What lies on a broker's disk before it starts for the first time."""

    broker: int
    batches: tuple[tuple[int, tuple[str, ...]], ...]
    hw: int
    cache: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ExpectedAnomaly:
    """An anomaly that the checkers must report; `what` is its detail in the words of `tidemark.harness.scenario.compare.describe`.

    `breaks` (only where the script says it) names the promises that the loss breaks.
    """

    line: int
    verdict: str
    name: str
    what: str | None
    breaks: tuple[str, ...] | None


@dataclass(slots=True)
class Expected:
    """The outcome that a script claims for one variant.

    Attributes:
        verdict: ``valid``, ``invalid`` or ``unknown``.
        replicas: the final state, by broker.
        anomalies: all of them.
        truncations: all of them in order, as (broker, old LEO, new LEO).
        questions: per broker, all its questions and the leader's answers, in the words of
        `tidemark.harness.scenario.links.LeaderAnswer`.
    """

    line: int
    verdict: str = ""
    replicas: dict[int, ReplicaText] = field(default_factory=dict)
    anomalies: list[ExpectedAnomaly] = field(default_factory=list)
    truncations: tuple[tuple[int, int, int], ...] | None = None
    questions: dict[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Command:
    """One line under a step: `perform` does something to the script's target. `variants` restricts it; `None` means all."""

    line: int
    text: str
    variants: frozenset[str] | None
    perform: Callable[..., object]


@dataclass(slots=True)
class Step:
    """A numbered step: what happens in words, and the commands that make it happen."""

    number: int
    words: str
    line: int
    commands: list[Command] = field(default_factory=list)


@dataclass(slots=True)
class Scenario:
    """A script that has been read.

    Attributes:
        source: the worked example it acts out (seed section, KIP, JIRA).
        about: a few sentences for somebody who sees it for the first time.
        brokers: the brokers' names in assignment order; broker *i*'s id is its place, from 1 on.
        first_epoch: the leader epoch of the first leader.
        outcomes: what must come out, per variant; empty if the script does not say.
    """

    file: str
    name: str
    title: str
    source: str
    about: str
    brokers: tuple[str, ...]
    cluster: ClusterSpec
    first_epoch: int
    records: Names
    given: tuple[GivenReplica, ...] = ()
    steps: list[Step] = field(default_factory=list)
    outcomes: dict[str, Expected] = field(default_factory=dict)
    text: str = ""

    @property
    def moves_logs(self) -> bool:
        """Whether logs are moved between the log directories of a broker."""
        return any(MOVES_A_LOG.fullmatch(command.text) for step in self.steps for command in step.commands)

    def named(self, batches: Iterable[tuple[int, int, Sequence[int]]], start: int = 0) -> tuple[LogRecord, ...]:
        """The records of (base offset, epoch, values) from an offset on, by their names."""
        name = self.records.name
        return tuple(
            (epoch, name(value))
            for base, epoch, values in batches
            for offset, value in enumerate(values, base)
            if offset >= start
        )

    def broker_name(self, broker: int) -> str:
        """A broker as the script calls it; 0 is the controller."""
        return self.brokers[broker - 1] if broker > 0 else "controller" if broker == 0 else "none"

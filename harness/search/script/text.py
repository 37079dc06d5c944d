"""A script's text from a draft: head, steps, and the outcome that a run had, for a person to check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from tidemark.harness.scenario import ScenarioOutcome
from tidemark.harness.scenario.cluster_text import KAFKA_TIMES
from tidemark.harness.scenario.compare import describe
from tidemark.harness.scenario.records import compact
from tidemark.harness.search.script.draft import Line
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import PRESETS

TOLD = ("violation", "permitted")
PATIENT = "session 18 s, produce timeout 120 s"
"""Longer than Kafka's own, so that who sleeps or is slow is not taken for dead, and an answer that comes late is not given up."""
WIDTH = 116


class Head(NamedTuple):
    """What stands above the steps: name, title, source and what it is about, the brokers' names, the cluster, and its times."""

    name: str
    title: str
    source: str
    about: str
    brokers: tuple[str, ...]
    cluster: ClusterSpec
    times: str = ""


def script(head: Head, lines: Sequence[Line], variant: str, played: ScenarioOutcome | None = None) -> str:
    """The whole text; as long as nobody has played it, its outcome speaks about another variant."""
    parts = [_head(head), *_steps(lines)]
    parts.append(_nothing(head, variant) if played is None else _outcome(head, played, variant))
    return "\n\n".join(parts) + "\n"


def _head(head: Head) -> str:
    cluster = head.cluster
    settings = [
        f"acks {cluster.acks}",
        f"min ISR {cluster.settings.min_isr}",
        f"unclean election {'on' if cluster.settings.unclean_election else 'off'}",
    ]
    if cluster.replication_factor < cluster.brokers:
        settings.append(f"replicas {cluster.replication_factor}")
    if cluster.settings.max_fetch_batches != KAFKA_TIMES.max_fetch_batches:
        settings.append(f"fetch size {cluster.settings.max_fetch_batches} batches")
    return "\n".join(
        [
            f"name: {head.name}",
            f"title: {head.title}",
            f"source: {head.source}",
            f"brokers: {', '.join(head.brokers)}",
            f"cluster: {', '.join([*settings, PATIENT, *([head.times] if head.times else [])])}",
            "",
            "about:",
            *(f"  {line}" for line in _wrapped(head.about)),
        ]
    )


def _steps(lines: Sequence[Line]) -> list[str]:
    """Steps begin with a deed; what is left of a step that lost its deed goes with the one before."""
    groups: list[list[Line]] = []
    for _, of_step in groupby(lines, lambda line: line.step):
        group = list(of_step)
        ends = bool(groups) and any(line.kind == "until" for line in groups[-1])
        if not groups or (ends and any(line.kind == "deed" for line in group)):
            groups.append(group)
        else:
            groups[-1] += group
    return [_step(number, group) for number, group in enumerate(groups, 1)]


def _step(number: int, lines: list[Line]) -> str:
    words = " ".join(dict.fromkeys(line.words for line in lines if line.words)) or "Time goes by."
    first, *more = _wrapped(words, f"{number}. ")
    return "\n".join([first, *(f"   {line}" for line in more), *(f"   > {line.command}" for line in lines)])


def _wrapped(words: str, before: str = "") -> list[str]:
    lines, line = [], before.rstrip()
    for word in words.split():
        if len(line) + len(word) > WIDTH and line:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def _nothing(head: Head, variant: str) -> str:
    other = next(preset for preset in PRESETS if preset != variant)
    replicas = [f"  {broker}: follower | empty | HW 0 | epochs none" for broker in head.brokers]
    return "\n".join([f"outcome {other}: valid", "  truncations: none", *replicas])


def _outcome(head: Head, played: ScenarioOutcome, variant: str) -> str:
    scenario = played.scenario
    lines = [f"outcome {variant}: {played.verdict.valid}"]
    for one in played.verdict.anomalies:
        if one.verdict in TOLD:
            detail = describe(scenario, one)
            lines.append(f"  {one.verdict} {one.name}" + (f" {detail}" if _plain(detail) else ""))
    lines.append(f"  truncations: {played.summary['truncations']}")
    has_cache = bool(played.history.meta["epoch_cache"])
    for state in played.narrative[-1].replicas:
        cache = " ".join(f"{epoch}@{start}" for epoch, start in state.cache) if has_cache else ""
        role = f"{state.role} | " if state.role in ("leader", "follower", "down", "no replica") else ""
        start = f"log start {state.start} | " if state.start else ""
        log = compact(state.log)
        name = head.brokers[state.broker - 1]
        lines.append(f"  {name}: {role}{start}{log} | HW {state.hw} | epochs {cache or 'none'}")
    return "\n".join(lines)


def _plain(detail: str) -> bool:
    """Whether a detail can be read again."""
    return bool(detail) and re.fullmatch(r"[A-Za-z0-9 .,-]+", detail) is not None


def sentence(parts: Iterable[str]) -> str:
    """Facts as one sentence."""
    told = "; ".join(parts)
    return f"{told[:1].upper()}{told[1:]}."

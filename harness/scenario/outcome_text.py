"""The lines of an ``outcome`` block: anomalies, truncations, questions to leaders, and every replica's final state."""

from __future__ import annotations

import re
from dataclasses import fields, replace

from tidemark.harness.scenario.model import Expected, ExpectedAnomaly, ReplicaText
from tidemark.harness.scenario.records import Names, expand_list
from tidemark.harness.scenario.words import BrokerNames, parse_replica

_ANOMALY = re.compile(r"(violation|permitted|near-miss) ([A-Za-z0-9-]+)(?: (.+?))?(?: breaks (.+))?")
_CUT = re.compile(r"(\S+) from (\d+) to (\d+)")
_QUESTION = re.compile(r"(epoch \d+|fetch \d+ after epoch \d+) -> \((-?\d+), (-?\d+)\)")
_PER_RECORD = ("lost-committed-write", "lost-write", "duplicate", "G1a", "phantom")


def parse_outcome_line(expected: Expected, cast: BrokerNames, records: Names, line: int, text: str) -> None:
    """Add one line of a block to a variant's expected outcome.

    Raises:
        ValueError: with one sentence.
    """
    anomaly = _ANOMALY.fullmatch(text)
    if anomaly is not None:
        expected.anomalies += _anomalies(anomaly, line)
    elif text.startswith("truncations: "):
        if expected.truncations is not None:
            raise ValueError("truncations are given twice")
        expected.truncations = _truncations(cast, text.removeprefix("truncations: "))
    elif match := re.fullmatch(r"questions of (\S+): (.+)", text):
        expected.questions[cast.broker(match[1])] = _questions(match[2])
    elif text.partition(":")[0].strip() in cast.names:
        _replica(expected, parse_replica(cast, records, line, text))
    else:
        raise ValueError(
            f"cannot read {text!r}: an outcome has lines like 'violation lost-committed-write m2', 'truncations: A from 3 to 1', "
            f"'questions of A: epoch 2 -> (1, 21)', and 'A: leader | 1:m1 | HW 1 | epochs 1@0'"
        )


def _anomalies(m: re.Match[str], line: int) -> list[ExpectedAnomaly]:
    verdict, name, what = m[1], m[2], m[3]
    breaks = tuple(promise.strip() for promise in m[4].split(",")) if m[4] else None
    details = expand_list(what) if what and name in _PER_RECORD else (what,)
    return [ExpectedAnomaly(line, verdict, name, detail, breaks) for detail in details]


def _truncations(cast: BrokerNames, text: str) -> tuple[tuple[int, int, int], ...]:
    if text == "none":
        return ()
    cuts = []
    for part in (p.strip() for p in text.split(",")):
        match = _CUT.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is not a truncation like 'A from 21 to 11'")
        cuts.append((cast.broker(match[1]), int(match[2]), int(match[3])))
    return tuple(cuts)


def _questions(text: str) -> tuple[str, ...]:
    if text == "none":
        return ()
    parts = tuple(part.strip() for part in text.split(";"))
    for part in parts:
        if _QUESTION.fullmatch(part) is None:
            raise ValueError(
                f"{part!r} is not a question like 'epoch 2 -> (1, 21)' or 'fetch 21 after epoch 2 -> (1, 21)'"
            )
    return parts


def _replica(expected: Expected, text: ReplicaText) -> None:
    """Parts of one replica may come from several blocks; none may come twice."""
    known = expected.replicas.get(text.broker)
    if known is not None:
        for entry in fields(ReplicaText):
            one, two = getattr(known, entry.name), getattr(text, entry.name)
            if entry.name in ("line", "broker") or one is None:
                continue
            if two is not None:
                raise ValueError(f"the {entry.name} of this broker was given before, in line {known.line}")
            text = replace(text, **{entry.name: one})
    expected.replicas[text.broker] = text


def unfinished(expected: Expected, brokers: tuple[str, ...]) -> str:
    """What an outcome leaves out though every outcome must say it; empty if nothing."""
    if expected.truncations is None:
        return "does not say 'truncations: …' (or none)"
    for broker, name in enumerate(brokers, 1):
        text = expected.replicas.get(broker)
        if text is None or text.log is None or text.hw is None or text.cache is None:
            return f"does not say the final log, HW and epochs of {name}"
    return ""

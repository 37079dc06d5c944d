"""What a script may wait for: ``until CONDITION``."""

from __future__ import annotations

import re
from collections.abc import Callable

from tidemark.harness.scenario.records import Names, expand_list
from tidemark.harness.scenario.target import ScriptTarget
from tidemark.harness.scenario.words import BrokerNames

Condition = Callable[[ScriptTarget], bool]
_Builder = Callable[[BrokerNames, Names, re.Match[str]], Condition]


def parse_condition(cast: BrokerNames, records: Names, text: str) -> Condition:
    """A condition.

    Raises:
        ValueError: with one sentence.
    """
    for pattern, build in CONDITIONS.values():
        match = pattern.fullmatch(text)
        if match is not None:
            return build(cast, records, match)
    raise ValueError(f"cannot wait until {text!r}: conditions are {'; '.join(FORMS)}")


def _offset(cast: BrokerNames, _records: Names, m: re.Match[str]) -> Condition:
    brokers, end = cast.brokers(m[1]), int(m[3])
    if m[4] and m[2] == "LEO":
        raise ValueError("only a high watermark and a log start have a checkpoint on disk")
    field = _FIELDS[m[2]] + ("_on_disk" if m[4] else "")
    return lambda target: all(getattr(target.glance(b), field) == end for b in brokers)


def _is_in(target: ScriptTarget, seen: int, wanted: int | None) -> bool:
    """Whether that is the wanted epoch; where a system spends epochs that no script counts, a later one will do."""
    return wanted is None or seen == wanted or (target.spends_epochs and seen > wanted)


def _leads(cast: BrokerNames, _records: Names, m: re.Match[str]) -> Condition:
    broker, epoch = cast.broker(m[1]), int(m[2]) if m[2] else None

    def leads(target: ScriptTarget) -> bool:
        seen = target.glance(broker)
        return seen.role == "leader" and _is_in(target, seen.epoch, epoch)

    return leads


def _follows(cast: BrokerNames, _records: Names, m: re.Match[str]) -> Condition:
    brokers, leader, epoch = cast.brokers(m[1]), cast.broker(m[2]), int(m[3]) if m[3] else None

    def follows(target: ScriptTarget) -> bool:
        seen = [target.glance(broker) for broker in brokers]
        return all((one.role, one.leader) == ("follower", leader) and _is_in(target, one.epoch, epoch) for one in seen)

    return follows


def _isr(cast: BrokerNames, _records: Names, m: re.Match[str]) -> Condition:
    isr = set(cast.brokers(m[1]))
    return lambda target: set(target.isr()) == isr


def _leader(cast: BrokerNames, _records: Names, m: re.Match[str]) -> Condition:
    leader = -1 if m[1] == "none" else cast.broker(m[1])
    return lambda target: target.leader() == leader


def _replicas(cast: BrokerNames, _records: Names, m: re.Match[str]) -> Condition:
    replicas = set(cast.brokers(m[1]))
    return lambda target: set(target.replicas()) == replicas


def _acked(_cast: BrokerNames, records: Names, m: re.Match[str]) -> Condition:
    names = expand_list(m[1])
    for name in names:
        if not records.knows(name):
            raise ValueError(f"record {name} has not been sent")
    return lambda target: all(target.sends[name].state == "acked" for name in names)


def _fenced(cast: BrokerNames, _records: Names, m: re.Match[str]) -> Condition:
    broker = cast.broker(m[1])
    return lambda target: target.fenced(broker)


def _rest(_cast: BrokerNames, _records: Names, _m: re.Match[str]) -> Condition:
    return lambda target: target.at_rest()


_FIELDS = {"LEO": "leo", "HW": "hw", "log start": "start"}

CONDITIONS: dict[str, tuple[re.Pattern[str], _Builder]] = {
    "offset": (re.compile(r"(.+?) ha(?:s|ve) (LEO|HW|log start) (\d+)( on disk)?"), _offset),
    "leads": (re.compile(r"(\S+) leads(?: epoch (\d+))?"), _leads),
    "follows": (re.compile(r"(.+?) follows? (\S+?)(?: in epoch (\d+))?"), _follows),
    "isr": (re.compile(r"the ISR is (.+)"), _isr),
    "replicas": (re.compile(r"the replicas are (.+)"), _replicas),
    "leader": (re.compile(r"the leader is (\S+)"), _leader),
    "acked": (re.compile(r"(.+?) (?:is|are) acked"), _acked),
    "fenced": (re.compile(r"(\S+) is fenced"), _fenced),
    "rest": (re.compile(r"all is at rest"), _rest),
}
"""How each is written, also for who says it in other words (`tidemark.harness.handover.repeat`), and what it comes to."""

FORMS = (
    "A, B have LEO 2",
    "A has HW 2 [on disk]",
    "A has log start 2 [on disk]",
    "A leads [epoch 3]",
    "A follows B [in epoch 3]",
    "the ISR is A, B",
    "the replicas are A, B, D",
    "the leader is A|none",
    "m1, m2 are acked",
    "A is fenced",
    "all is at rest",
)

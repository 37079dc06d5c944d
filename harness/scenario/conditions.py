"""What a script may wait for: ``until CONDITION``."""

from __future__ import annotations

import re
from collections.abc import Callable

from harness.scenario.records import Names, expand_list
from harness.scenario.stage import PARTITION, Stage
from harness.scenario.words import Cast
from harness.simulator.convergence import waiting_for

Condition = Callable[[Stage], bool]
_Builder = Callable[[Cast, Names, re.Match[str]], Condition]


def parse_condition(cast: Cast, records: Names, text: str) -> Condition:
    """A condition.

    Raises:
        ValueError: with one sentence.
    """
    for pattern, build in _CONDITIONS:
        match = pattern.fullmatch(text)
        if match is not None:
            return build(cast, records, match)
    raise ValueError(f"cannot wait until {text!r}: conditions are {'; '.join(FORMS)}")


def _offset(cast: Cast, _records: Names, m: re.Match[str]) -> Condition:
    brokers, end, on_disk = cast.brokers(m[1]), int(m[3]), bool(m[4])
    field = m[2].lower()
    if on_disk:
        return lambda stage: all(stage.world.nodes[b].disk.high_watermarks.get(PARTITION, 0) == end for b in brokers)
    return lambda stage: all(getattr(stage.state(b), field) == end for b in brokers)


def _leads(cast: Cast, _records: Names, m: re.Match[str]) -> Condition:
    broker, epoch = cast.broker(m[1]), int(m[2]) if m[2] else None

    def leads(stage: Stage) -> bool:
        state = stage.state(broker)
        return state.role == "leader" and epoch in (None, state.epoch)

    return leads


def _follows(cast: Cast, _records: Names, m: re.Match[str]) -> Condition:
    brokers, leader, epoch = cast.brokers(m[1]), cast.broker(m[2]), int(m[3]) if m[3] else None

    def follows(stage: Stage) -> bool:
        for broker in brokers:
            replica = stage.replica(broker)
            following = replica.following if replica is not None else None
            if following is None or following.leader != leader or epoch not in (None, following.epoch):
                return False
        return True

    return follows


def _isr(cast: Cast, _records: Names, m: re.Match[str]) -> Condition:
    isr = set(cast.brokers(m[1]))
    return lambda stage: set(stage.world.isr_of(PARTITION)) == isr


def _leader(cast: Cast, _records: Names, m: re.Match[str]) -> Condition:
    leader = -1 if m[1] == "none" else cast.broker(m[1])
    return lambda stage: stage.leader() == leader


def _acked(_cast: Cast, records: Names, m: re.Match[str]) -> Condition:
    names = expand_list(m[1])
    for name in names:
        if not records.knows(name):
            raise ValueError(f"record {name} has not been sent")
    return lambda stage: all(stage.sends[name].state == "acked" for name in names)


def _fenced(cast: Cast, _records: Names, m: re.Match[str]) -> Condition:
    broker = cast.broker(m[1])
    return lambda stage: not stage.world.controller.sessions[broker].live


def _rest(_cast: Cast, _records: Names, _m: re.Match[str]) -> Condition:
    return lambda stage: not waiting_for(stage.world, PARTITION)


_CONDITIONS: tuple[tuple[re.Pattern[str], _Builder], ...] = (
    (re.compile(r"(.+?) ha(?:s|ve) (LEO|HW) (\d+)( on disk)?"), _offset),
    (re.compile(r"(\S+) leads(?: epoch (\d+))?"), _leads),
    (re.compile(r"(.+?) follows? (\S+?)(?: in epoch (\d+))?"), _follows),
    (re.compile(r"the ISR is (.+)"), _isr),
    (re.compile(r"the leader is (\S+)"), _leader),
    (re.compile(r"(.+?) (?:is|are) acked"), _acked),
    (re.compile(r"(\S+) is fenced"), _fenced),
    (re.compile(r"all is at rest"), _rest),
)

FORMS = (
    "A, B have LEO 2",
    "A has HW 2 [on disk]",
    "A leads [epoch 3]",
    "A follows B [in epoch 3]",
    "the ISR is A, B",
    "the leader is A|none",
    "m1, m2 are acked",
    "A is fenced",
    "all is at rest",
)

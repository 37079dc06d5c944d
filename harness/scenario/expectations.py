"""What a script may claim in the middle of a run: ``expect …``. A claim that does not hold is a mismatch; the run goes on."""

from __future__ import annotations

import re
from collections.abc import Callable

from tidemark.harness.scenario.model import ReplicaText
from tidemark.harness.scenario.records import Names, compact, expand_list
from tidemark.harness.scenario.snapshots import ReplicaSnapshot
from tidemark.harness.scenario.target import ScriptTarget
from tidemark.harness.scenario.words import BrokerNames, parse_replica

_Builder = Callable[[BrokerNames, Names, re.Match[str]], Callable[[ScriptTarget], None]]


def parse_expectation(cast: BrokerNames, records: Names, text: str) -> Callable[[ScriptTarget], None]:
    """A check to be made on the target.

    Raises:
        ValueError: with one sentence.
    """
    for pattern, build in _FORMS:
        match = pattern.fullmatch(text)
        if match is not None:
            return build(cast, records, match)
    if text.partition(":")[0].strip() in cast.names:
        return _replica(parse_replica(cast, records, 0, text))
    raise ValueError(
        f"cannot expect {text!r}: write BROKER: STATE | STATE …, leader BROKER|none, ISR BROKERS, replicas BROKERS, acked RECORDS, "
        f"not acked RECORDS, RECORDS failed with ERROR, or to read RECORDS|nothing"
    )


def _replica(expected: ReplicaText) -> Callable[[ScriptTarget], None]:
    def check(target: ScriptTarget) -> None:
        name, epoch_cache = target.name(expected.broker), target.variant.has_epoch_cache
        target.claim(lambda: differences(expected, target.state(expected.broker), name, epoch_cache=epoch_cache))

    return check


def differences(expected: ReplicaText, actual: ReplicaSnapshot, name: str, *, epoch_cache: bool) -> list[str]:
    """In which parts a replica is not what was expected, as sentences.

    Where the variant keeps no epoch cache (up to 0.10), what the script says of it does not apply.
    """
    wrong = []
    if expected.role not in (None, actual.role):
        wrong.append(f"{name} should be {expected.role}, but is {actual.role}")
    if expected.epoch not in (None, actual.epoch):
        wrong.append(f"{name} should know leader epoch {expected.epoch}, but knows {actual.epoch}")
    if expected.log not in (None, actual.log):
        wrong.append(f"the log of {name} should be {compact(expected.log or ())}, but is {compact(actual.log)}")
    if expected.start not in (None, actual.start):
        wrong.append(f"the log of {name} should start at {expected.start}, but starts at {actual.start}")
    if expected.leo not in (None, actual.leo):
        wrong.append(f"the LEO of {name} should be {expected.leo}, but is {actual.leo}")
    if expected.hw not in (None, actual.hw):
        wrong.append(f"the HW of {name} should be {expected.hw}, but is {actual.hw}")
    if epoch_cache and expected.cache not in (None, actual.cache):
        wrong.append(f"the epochs of {name} should be {epochs(expected.cache or ())}, but are {epochs(actual.cache)}")
    return wrong


def epochs(cache: tuple[tuple[int, int], ...]) -> str:
    """An epoch cache in the notation of the scripts."""
    return " ".join(f"{epoch}@{start}" for epoch, start in cache) or "none"


def _leader(cast: BrokerNames, _records: Names, m: re.Match[str]) -> Callable[[ScriptTarget], None]:
    leader = -1 if m[1] == "none" else cast.broker(m[1])

    def wrong(target: ScriptTarget) -> list[str]:
        actual = target.leader()
        return [] if actual == leader else [f"the leader should be {target.name(leader)}, but is {target.name(actual)}"]

    return lambda target: target.claim(lambda: wrong(target))


def _isr(cast: BrokerNames, _records: Names, m: re.Match[str]) -> Callable[[ScriptTarget], None]:
    isr = () if m[1] == "none" else cast.brokers(m[1])
    return _these("the ISR should be {}, but is {}", isr, lambda target: target.isr())


def _replicas(cast: BrokerNames, _records: Names, m: re.Match[str]) -> Callable[[ScriptTarget], None]:
    return _these("the replicas should be {}, but are {}", cast.brokers(m[1]), lambda target: target.replicas())


def _these(
    words: str, wanted: tuple[int, ...], seen: Callable[[ScriptTarget], tuple[int, ...]]
) -> Callable[[ScriptTarget], None]:
    def wrong(target: ScriptTarget) -> list[str]:
        actual = seen(target)
        told = words.format(_brokers(target, wanted), _brokers(target, actual))
        return [] if set(actual) == set(wanted) else [told]

    return lambda target: target.claim(lambda: wrong(target))


def _brokers(target: ScriptTarget, brokers: tuple[int, ...]) -> str:
    return ", ".join(map(target.name, brokers)) or "none"


def _sent(_cast: BrokerNames, records: Names, m: re.Match[str]) -> Callable[[ScriptTarget], None]:
    names = expand_list(m["records"])
    for name in names:
        if not records.knows(name):
            raise ValueError(f"record {name} has not been sent")
    error = m.groupdict().get("error")
    acked = not m.groupdict().get("no")

    def check(target: ScriptTarget) -> None:
        for name in names:
            state = target.sends[name].state
            if error is not None and state != error:
                target.mismatch(f"{name} should have failed with {error}, but is {state}")
            elif error is None and (state == "acked") != acked:
                target.mismatch(f"{name} should {'' if acked else 'not '}be acknowledged, but is {state}")

    return check


def _read(_cast: BrokerNames, _records: Names, m: re.Match[str]) -> Callable[[ScriptTarget], None]:
    names = () if m[1] == "nothing" else expand_list(m[1])

    def check(target: ScriptTarget) -> None:
        read = target.last_read
        if read != names:
            seen = "was refused" if read is None else f"read {', '.join(read) or 'nothing'}"
            target.mismatch(f"the consumer should have read {', '.join(names) or 'nothing'}, but {seen}")

    return check


_FORMS: tuple[tuple[re.Pattern[str], _Builder], ...] = (
    (re.compile(r"leader (\S+)"), _leader),
    (re.compile(r"ISR (.+)"), _isr),
    (re.compile(r"replicas (.+)"), _replicas),
    (re.compile(r"(?P<no>not )?acked (?P<records>.+)"), _sent),
    (re.compile(r"(?P<records>.+) failed with (?P<error>[A-Z_]+)"), _sent),
    (re.compile(r"to read (.+)"), _read),
)

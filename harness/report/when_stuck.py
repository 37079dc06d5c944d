"""What a partition that never came to rest meant for its clients, from what they saw of it since healing began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.history.trace_events import KIND, PARTITION, Elect, IsrChange
from tidemark.checkers.replicas.stuck import STUCK
from tidemark.checkers.verdict.verdict import Anomaly
from tidemark.harness.report.words import listed, seconds

MOST = 3
"""Of so many partitions a page tells."""
_DIGITS = 3


def seen_by_clients(history: History, anomalies: Iterable[Anomaly]) -> list[str]:
    """A few sentences for each partition that is stuck; nothing of an object, or where healing has no time.

    Args:
        history: the run's.
        anomalies: what was found in it, or what of that is told.
    """
    partitions = dict.fromkeys(one.partition for one in anomalies if one.name == STUCK and one.partition)
    over = history.meta.get("faults_end_us")
    if not isinstance(over, int) or "model" in history.meta:  # nobody sends to an object
        return []
    return [" ".join(_told(history, partition, over)) for partition in [*partitions][:MOST]]


def _told(history: History, partition: str, over: int) -> Iterator[str]:
    sends = [op for op in history.ops if op.f == "send" and op.type != "invoke" and _is_to(op, partition)]
    acked = [op.time for op in sends if op.type == "ok"]
    later = [op for op in sends if op.time > over]
    yield f"Since healing began, at {seconds(over, _DIGITS)}, {_how_sends_ended(later, partition)}."
    if not any(op.type == "ok" for op in later):
        yield f"The last was acknowledged at {seconds(acked[-1], _DIGITS)}." if acked else "None was before, either."
    if len(history.meta.get("replicas", ())) == 1:  # a poll that fails does not say of which partition
        polls = [op for op in history.ops if op.f == "poll" and op.type != "invoke" and op.time > over]
        if polls:
            yield f"{_how_polls_ended(polls)}."
    yield from _in_sync(history, partition)


def _is_to(op: Op, partition: str) -> bool:
    return any(key == partition for _, key, _ in op.value)


def _how_sends_ended(sends: list[Op], partition: str) -> str:
    acked = sum(op.type == "ok" for op in sends)
    if not sends:
        return f"no send to {partition} ended in any way"
    if acked == len(sends):
        return f"{partition} went on: {_all(acked, 'send')} that ended later {_was(acked)} acknowledged"
    none = f"none of the {len(sends)} sends" if len(sends) > 1 else "the one send"
    of = f"{acked} of the {len(sends)} sends" if acked else none
    how = "was not" if not acked and len(sends) == 1 else "were" if acked > 1 else "was"
    return f"{of} to {partition} that ended later {how} acknowledged{_errors(sends)}"


def _how_polls_ended(polls: list[Op]) -> str:
    answered = sum(op.type == "ok" for op in polls)
    if answered == len(polls):
        return f"{_all(answered, 'poll').capitalize()} that ended later {_was(answered)} answered"
    one = "The one poll that ended later was not answered"
    of = f"Of the {len(polls)} polls that ended later {answered or 'none'} {'were' if answered > 1 else 'was'} answered"
    return f"{one if len(polls) == 1 else of}{_errors(polls)}"


def _errors(ops: list[Op]) -> str:
    """How those without success ended: ` (REQUEST_TIMED_OUT: 8)`."""
    counted = Counter(op.error or "no answer" for op in ops if op.type != "ok")
    return f" ({', '.join(f'{error}: {count}' for error, count in sorted(counted.items()))})"


def _all(count: int, what: str) -> str:
    return f"all {count} {what}s" if count > 1 else f"the one {what}"


def _was(count: int) -> str:
    return "were" if count > 1 else "was"


def _in_sync(history: History, partition: str) -> Iterator[str]:
    """How many are in sync at the end, where acknowledgements depend on it, by what the controller committed last."""
    meta = history.meta
    least = meta.get("min_isr")
    kinds: dict[str, type[Elect | IsrChange]] = {"elect": Elect, "isr-change": IsrChange}
    of = [event for event in history.trace if event[PARTITION] == partition and event[KIND] in kinds]
    if not of or meta.get("acks") != "all" or meta.get("isr") is False or not isinstance(least, int):
        return
    last = of[-1]
    isr = kinds[last[KIND]](last).isr
    names = f"broker{'s' if len(isr) > 1 else ''} {listed([str(node) for node in isr])}" if isr else "nobody"
    yield f"In sync at the end, as far as the controller knows: {names}."
    if len(isr) < least:
        yield f"That is fewer than min ISR, {least}: a leader that knows it refuses sends with acks=all."
    elif len(isr) == least:
        yield f"That is min ISR, {least}, and no more: with one less, a leader refuses sends with acks=all."

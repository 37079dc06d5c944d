"""`elr-forgotten`: a replica was eligible to lead, and is not any more, though nothing took that from it.

Who leaves an ISR that is smaller then than min ISR is in the ELR from then on, until the ISR is as large as that again, its process
has ended uncleanly, or it is no replica any more (KIP-966, ``PartitionChangeBuilder.maybePopulateTargetElr``). A controller that
forgets one of them may leave a partition without a leader that could have one. Said only of traces that tell who shut down cleanly,
and in which anybody is ever in an ELR. After an election that was not clean nothing is expected.

When an operator sets min ISR, Kafka forgets the ELR, and says so (its operations guide, "Eligible Leader Replicas"). That is
permitted while the ISR has a member. Where it is empty nobody is left who may lead. While ELR is off nobody need be in it; that
nobody is left who may lead is not permitted.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(min_isr=2, trace=[
...     (1, 0, "register", "", 1, 1, True), (1, 0, "register", "", 2, 2, True), (1, 0, "register", "", 3, 3, True),
...     (2, 0, "elect", "t-0", 1, 0, (1, 2, 3), (), "initial", True, 0),
...     (5, 0, "isr-change", "t-0", (1,), (2, 3), 1),
...     (9, 0, "elect", "t-0", -1, 1, (), (1,), "offline", True, 2),
... ]))
>>> print(verdict.named("elr-forgotten")[0].message)
Brokers 2 and 3 were eligible to lead t-0 until 0.000009 s, and then not any more, though the ISR had fewer than 2 members and \
neither had ended uncleanly: the controller has forgotten them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tidemark.checkers.history.trace_events import KIND, Elect, ElrSwitch, IsrChange, MinIsr, Reassign, Register
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "elr-forgotten"
_KINDS = {kind.kind: kind for kind in (Elect, ElrSwitch, IsrChange, MinIsr, Reassign, Register)}
_ELR = {kind.kind: kind.place("elr") for kind in (Elect, IsrChange)}


def forgotten(
    points: Sequence[TurningPoint], assignment: Mapping[str, Sequence[int]], min_isr: int, patience_us: int
) -> Iterator[Anomaly]:
    """All of a run, once for each partition and change. What a controller does because a broker registers may be told before that;
    how long before, at most, is `patience_us`.
    """
    if not any(one[KIND] in _ELR and one[_ELR[one[KIND]]] for _, one in points):
        return
    events = [(index, _KINDS[one[KIND]](one)) for index, one in points if one[KIND] in _KINDS]
    if not any(isinstance(one, Register) for _, one in events):
        return
    unclean = [(one.broker, one.time) for _, one in events if isinstance(one, Register) and not one.clean]
    replicas: dict[str, frozenset[int]] = {name: frozenset(brokers) for name, brokers in assignment.items()}
    eligible: dict[str, frozenset[int]] = {}
    proved: defaultdict[str, set[int]] = defaultdict(set)
    """Who has not ended uncleanly since it came into the ISR."""
    on = not next((one.on for _, one in events if isinstance(one, ElrSwitch)), False)
    """What it is switched to first it was not before, as in an upgrade."""
    cleared: set[str] = set()
    """Partitions of which the controller may forget the ELR, since min ISR was set."""
    for index, one in events:
        if isinstance(one, Register):
            if not one.clean:
                for brokers in proved.values():
                    brokers.discard(one.broker)
            continue
        if isinstance(one, MinIsr):
            min_isr = one.min_isr
            cleared = {*eligible}
            continue
        if isinstance(one, ElrSwitch):
            on = one.on
            continue
        name = one.partition
        if isinstance(one, Reassign):
            replicas[name] = frozenset(one.replicas)
            continue
        before, now = eligible.get(name, frozenset()), frozenset((*one.isr, *one.elr))
        gone = (before & proved[name] & replicas.get(name, before)) - now
        few = len(one.isr) < min(min_isr, len(replicas.get(name, one.isr)) or min_isr)
        excused = (name in cleared and bool(one.isr)) or (not on and bool(now))
        cleared.discard(name)
        if gone and few and not excused and (isinstance(one, IsrChange) or one.clean):
            gone -= {broker for broker, time in unclean if 0 <= time - one.time <= patience_us}
            if gone:
                yield _anomaly(one, sorted(gone), min_isr, index)
        proved[name] = (proved[name] & now) | {broker for broker in one.isr if broker not in before}
        eligible[name] = now


def _anomaly(one: Elect | IsrChange, gone: Sequence[int], min_isr: int, index: int) -> Anomaly:
    *others, last = gone
    who = f"Brokers {', '.join(map(str, others))} and {last} were" if others else f"Broker {last} was"
    ended = "neither had" if len(gone) == 2 else "none of them had" if others else "it had not"
    message = (
        f"{who} eligible to lead {one.partition} until {seconds(one.time)}, and then not any more, though the ISR had fewer than "
        f"{min_isr} members and {ended} ended uncleanly: the controller has forgotten {'them' if others else 'it'}."
    )
    evidence = {"brokers": gone, "isr": list(one.isr), "elr": list(one.elr), "trace_index": index}
    return Anomaly(NAME, VIOLATION, one.time, one.partition, message, None, (), evidence)

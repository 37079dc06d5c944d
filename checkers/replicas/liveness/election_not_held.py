"""`election-not-held`: an operator asked for an election, and nothing came of it though all was calm.

A controller elects at once whoever is in the ISR and well (``ReplicationControlManager.electLeaders``). Without a controller the
server stands for election as soon as it is asked, with the leader's leave where that has a lease, and whoever owns a partition by a
lock gives it up: in any case the leader of before does not lead that generation any more.

>>> from tidemark.checkers import History, check
>>> times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
>>> times |= {"lag_time_us": 15, "produce_timeout_us": 15}
>>> asked = (10, "strike", 0, "forced-election", {"node": 2, "partition": "t-0"})
>>> verdict = check(History.of(times=times, end_us=50, isr=False, replicas={"t-0": [1, 2]}, nemesis=[asked], trace=[
...     (0, 1, "start", "", 1), (0, 2, "start", "", 1),
...     (1, 1, "lead", "t-0", 1, 0, 0, ()),
...     (2, 2, "follow", "t-0", 1, 1, 0, 0),
... ]))
>>> print(verdict.anomalies[0].message)
An operator asked for broker 2 to lead t-0 at 0.000010 s; until 0.000050 s the leader of before led on, though nothing was wrong \
with anybody: 0.000040 s, where 0.000009 s would do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tidemark.checkers.history.history import NemesisOp
from tidemark.checkers.history.trace_events import TIME, TraceEvent
from tidemark.checkers.replicas.isr_life import IsrLife
from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.replicas.liveness.calm import Calm
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "election-not-held"
_FORCED, _PREFERRED = "forced-election", "preferred-election"


def orders(nemesis: Sequence[NemesisOp], replicas: Mapping[str, Sequence[int]]) -> list[tuple[int, str, int]]:
    """The elections that an operator asked for: when, of which partition, and whom."""
    found = []
    for time, what, _, kind, detail in nemesis:
        if what == "strike" and kind in (_FORCED, _PREFERRED):
            partition = detail.get("partition", "")
            preferred = replicas.get(partition, (-1,))[0]
            found.append((time, partition, preferred if kind == _PREFERRED else detail.get("node", -1)))
    return found


def election_not_held(
    asked: Sequence[tuple[int, str, int]],
    points: Sequence[TraceEvent],
    calm: Mapping[str, Sequence[Calm]],
    bounds: Bounds,
    replicas: Mapping[str, Sequence[int]],
    *,
    has_isr: bool,
) -> Iterator[Anomaly]:
    """Those of the elections that had to be held."""
    life = IsrLife(points)
    waiting = iter(points)
    event = next(waiting, None)
    for time, partition, target in asked:
        while event is not None and event[TIME] < time:
            life.step(event)
            event = next(waiting, None)
        in_sync = target in life.isrs.get(partition, ())
        while event is not None and event[TIME] == time:  # at one time nobody knows what came first
            life.step(event)
            event = next(waiting, None)
        around = next((one for one in calm.get(partition, ()) if one.span.begin < time <= one.span.end), None)
        if around is None or target == around.leader or target not in replicas[partition]:
            continue
        if has_isr and not (in_sync and target in life.isrs.get(partition, ())):
            continue
        until = around.span.end
        if until - time > bounds.answer_us:
            message = (
                f"An operator asked for broker {target} to lead {partition} at {seconds(time)}; until {seconds(until)} the leader "
                f"of before led on, though nothing was wrong with anybody: {seconds(until - time)}, where "
                f"{seconds(bounds.answer_us)} would do."
            )
            evidence = {
                "target": target,
                "leader": around.leader,
                "since": time,
                "until": until,
                "bound_us": bounds.answer_us,
            }
            yield Anomaly(NAME, VIOLATION, time + bounds.answer_us, partition, message, evidence=evidence)

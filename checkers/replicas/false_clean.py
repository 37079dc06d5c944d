"""`false-clean-shutdown`: the controller took a broker's word that it had shut down cleanly, and it had not.

KIP-966 rests on that word: who shut down cleanly has all that it had, and stays eligible to lead. It is the mark beside the log,
which names the broker epoch of the process that wrote it, and which the next process takes away before it does anything else. A
process that was killed, gave up or lost its power or its disk leaves none. Bits that flip in the log of a broker that is not
running end no process, and leave the mark. What a register request says is of the process before the one that sent it, which may be
gone by the time that the controller hears it.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (1, 1, "start", "", 1), (2, 0, "register", "", 1, 0, False),
...     (5, 1, "stop", "", "crash"), (9, 1, "start", "", 2),
...     (10, 0, "register", "", 1, 1, True),
... ]))
>>> print(verdict.anomalies[0].message)
The controller accepted broker 1 at 0.000010 s as one that had shut down cleanly, but its process had ended otherwise (crash) at \
0.000005 s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidemark.checkers.history.trace_events import KIND, NODE, Register, Start, Stop
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "false-clean-shutdown"
DAMAGE = "damage"


def false_clean_shutdowns(points: Iterable[TurningPoint]) -> Iterator[Anomaly]:
    """All of a run."""
    stops: dict[int, Stop] = {}
    running: set[int] = set()
    heard: dict[int, list[Stop]] = {}
    """Broker → how the processes before those that the controller may hear of next had ended."""
    for index, event in points:
        match event[KIND]:
            case Stop.kind:
                stop = Stop(event)
                if stop.how != DAMAGE or stop.node in running:
                    stops[stop.node] = stop
                running.discard(stop.node)
            case Start.kind:
                running.add(event[NODE])
                if event[NODE] in stops:
                    heard.setdefault(event[NODE], []).append(stops[event[NODE]])
            case Register.kind:
                register = Register(event)
                before = heard.get(register.broker, [])
                alike = [place for place, stop in enumerate(before) if (stop.how == "clean") == register.clean]
                if register.clean and before and not alike:
                    yield _anomaly(index, register, before[-1])
                del before[: (alike or [0])[0] + 1]


def _anomaly(index: int, register: Register, stop: Stop) -> Anomaly:
    message = (
        f"The controller accepted broker {register.broker} at {seconds(register.time)} as one that had shut down cleanly, but its "
        f"process had ended otherwise ({stop.how}) at {seconds(stop.time)}."
    )
    evidence = {"node": register.broker, "how": stop.how, "stopped": stop.time, "trace_index": index}
    return Anomaly(NAME, VIOLATION, register.time, "", message, evidence=evidence)

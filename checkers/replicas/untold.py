"""Systems that tell nothing of their logs while they run (``meta["untold"]``): what can be said from when their processes ended,
and from what lies in their logs when all is over.

Nobody knows which nodes held a record. So each node that lost its log, or its disk, or whose files were damaged, after the record
was sent counts as one that held it: who is to be accused gets the benefit of that doubt.

Logs that the system shows at the end stand as ``final``. They are held against each other (`divergence`), and against what was
acknowledged (`lost-committed-write`).

Two of three lost their power after record 7 was sent, and one before record 8 was:

>>> from tidemark.checkers import History, check, polled, sent
>>> history = History.of(
...     untold=True, contract="durable", isr=False, min_isr=2, replicas={"t-0": [1, 2, 3]},
...     ops=[*(sent(at, "p1", "t-0", value, value) for at, value in ((10, 7), (30, 8), (50, 9))), polled(60, "c1", "t-0", (9, 9))],
...     trace=[(1, 1, "start", "", 1), (20, 1, "stop", "", "power"), (40, 2, "stop", "", "power")],
... )
>>> sorted((one.evidence["value"], one.verdict, one.clause) for one in check(history).named("lost-write"))
[(7, 'permitted', 'lost-logs>=min-isr'), (8, 'violation', None)]
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from tidemark.checkers.history.client_view import Ack
from tidemark.checkers.history.min_isr import MinIsr
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, Converged, Final, Stop
from tidemark.checkers.replicas.contract import (
    ACK_QUORUM,
    DAMAGED,
    DISK_LOSSES,
    LOG_LOSSES,
    MAJORITY,
    SPOILT,
    UNDECIDED,
    VOID_BECAUSE,
)
from tidemark.checkers.replicas.stuck import Stuck
from tidemark.checkers.verdict.verdict import INFORMS, PERMITTED, VIOLATES, VIOLATION, Anomaly, Judgement, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.checkers.history.history import History, Value
    from tidemark.checkers.replicas.lost_committed_write import Fates

DURABLE = "durable"
JUDGED_BY = (MAJORITY, ACK_QUORUM, DURABLE)
"""The promises of which it can be told whether they still held."""
MOST = 5
"""So many lost records of a log are told one by one."""


class Untold:
    """One run of such a system.

    Args:
        history: the run.
        own: the promise it is judged by.
    """

    def __init__(self, history: History, own: str) -> None:
        self._history, self.own = history, own
        self._enough = MinIsr.of(history).least
        self._stops = [(event[TIME], event[NODE], Stop(event).how) for event in history.trace if event[KIND] == "stop"]

    @property
    def shows_logs(self) -> bool:
        """Whether it has shown any."""
        return any(event[KIND] == "final" for event in self._history.trace)

    @property
    def was_struck(self) -> bool:
        """Whether anything happened to it."""
        return any(what == "strike" for _, what, *_ in self._history.nemesis)

    @property
    def ordered(self) -> Judgement:
        """How a step is to be taken that is out of order: where logs were lost, offsets are given anew."""
        lost = {node for _, node, how in self._stops if how in LOG_LOSSES}
        damaged = {node for _, node, how in self._stops if how == "damage"}
        return INFORMS if lost - damaged or len(damaged) >= self._enough else VIOLATES

    def judge(self, key: str, value: Value) -> Judgement:
        """Whether losing a record was permitted."""
        if self.own not in JUDGED_BY:
            return UNDECIDED
        breaks = tuple(
            promise for promise in JUDGED_BY if promise in (DURABLE, self.own) and not self._void(promise, key, value)
        )
        if self.own in breaks:
            return Judgement(VIOLATION, None, breaks)
        no_disk_lost = not any(how in DISK_LOSSES for _, _, how in self._stops)
        clause = DAMAGED if self.own == MAJORITY and no_disk_lost else VOID_BECAUSE[self.own]
        return Judgement(PERMITTED, clause, breaks)

    def _void(self, promise: str, key: str, value: Value) -> bool:
        sent, _ = self._clients
        since = sent.get((key, value), 0) if promise == DURABLE else 0
        lost = self._struck(key, LOG_LOSSES if promise == DURABLE else SPOILT, since)
        return len(lost) >= self._enough or (promise == MAJORITY and bool(self._struck(key, DISK_LOSSES, since)))

    def _struck(self, key: str, kinds: frozenset[str], since: int) -> set[int]:
        """The replicas of a log that had such a stop since then."""
        replicas = self._history.meta.get("replicas", {}).get(key)
        return {
            node for time, node, how in self._stops if how in kinds and time >= since and node in (replicas or {node})
        }

    @cached_property
    def _clients(self) -> tuple[dict[tuple[str, Value], int], dict[str, dict[Value, Ack]]]:
        """When each record was sent first; and of each log the records that were acknowledged, with the first acknowledgement."""
        sent: dict[tuple[str, Value], int] = {}
        acked: defaultdict[str, dict[Value, Ack]] = defaultdict(dict)
        for op in self._history.ops:
            for part in op.value if op.f == "send" else ():
                _, key, record = part
                value = record[1] if op.type == "ok" else record
                sent.setdefault((key, value), op.time)
                if op.type == "ok":
                    acked[key].setdefault(value, Ack(op.time, str(op.process), value, record[0], "all"))
        return sent, acked

    def find(self, fates: Fates) -> Iterator[Anomaly]:
        """What did not come to rest, and what the logs show at the end; `fates` receives how lost records were judged."""
        stuck = Stuck()
        finals: defaultdict[str, list[Final]] = defaultdict(list)
        for index, event in enumerate(self._history.trace):
            if event[KIND] == "converged":
                stuck.on_converged(index, Converged(event))
            elif event[KIND] == "final":
                finals[event[PARTITION]].append(Final(event))
        yield from stuck.anomalies
        for key, logs in sorted(finals.items()):
            yield from _divergence(key, logs)
            yield from self._lost(key, logs, fates)

    def _lost(self, key: str, logs: list[Final], fates: Fates) -> Iterator[Anomaly]:
        """What was acknowledged, and is in no log, or not in that of the leader, if somebody leads."""
        leading = [log for log in logs if log.role == "leader"] or logs
        there: set[Value] = {value for log in leading for _, _, values in log.batches for value in values}
        starts = min((log.batches[0][0] for log in leading if log.batches), default=0)
        _, acknowledged = self._clients
        gone = [ack for value, ack in acknowledged.get(key, {}).items() if value not in there]
        time = max((log.time for log in logs), default=0)
        told = 0
        for acked_us, process, value, offset, _ in gone:
            if offset is not None and offset < starts:
                continue  # the log begins behind it: it may have been deleted
            fates[key, value] = judgement = self.judge(key, value)
            told += 1
            if told <= MOST:
                where = "the log of node " + str(leading[0].node) + ", which leads" if len(leading) == 1 else "any log"
                over = f"when all is over, at {seconds(time)}"
                acked = f"acknowledged to {process} at {seconds(acked_us)}"
                message = f"Record {value} of {key}{_at(offset)}, {acked}, is not in {where} {over}."
                evidence = {"value": value, "offset": offset, "ack_time": acked_us, "ack_process": process}
                evidence["nodes"] = [log.node for log in leading]
                yield Anomaly(
                    "lost-committed-write",
                    judgement.verdict,
                    time,
                    key,
                    message,
                    judgement.clause,
                    judgement.breaks,
                    evidence,
                )


def _divergence(key: str, logs: list[Final]) -> Iterator[Anomaly]:
    """The first offset at which two logs hold different records, of each node that differs from one before it."""
    for place, log in enumerate(logs):
        mine = {base: (epoch, values) for base, epoch, values in log.batches}
        for other in logs[:place]:
            theirs = {base: (epoch, values) for base, epoch, values in other.batches}
            differ = [base for base, one in theirs.items() if base in mine and mine[base] != one]
            if differ:
                first, *more = differ
                message = (
                    f"The logs of nodes {other.node} and {log.node} for {key} differ when all is over: at offset {first} they "
                    f"have {_told(*theirs[first])} and {_told(*mine[first])}"
                    f"{f'; they differ at {len(more)} more' if more else ''}."
                )
                evidence = {"offset": first, "nodes": [other.node, log.node]}
                yield Anomaly("divergence", VIOLATION, log.time, key, message, evidence=evidence)
                break


def _told(epoch: int, values: tuple[Value, ...]) -> str:
    """A record, with its epoch if the system tells any."""
    return f"{values[0]} (epoch {epoch})" if epoch else f"{values[0]}"


def _at(offset: int | None) -> str:
    return "" if offset is None else f" at offset {offset}"

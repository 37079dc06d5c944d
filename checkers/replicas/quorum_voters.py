"""`forgotten-voter-change`, `voters-jump`, `missed-voters` and `metadata-minority`: what a quorum of controllers must not do whose
voters come and go (KIP-853).

`forgotten-voter-change`: it was answered that a voter was added or removed, and no change that was committed did that: the changes
that were answered, in their order, are none of those between one committed record of voters and the next. Once for each.

`voters-jump`: two committed records of voters that follow each other differ by more than one voter. Then a majority of the one need
not meet a majority of the other. Once for each pair.

`missed-voters`: a node has a record of voters in its log, and knows that it is committed, and has never read it: it counts
majorities by others. Not of the first record. Once for each record and node.

`metadata-minority`: at the end, what some node knew to be committed is in the logs of no majority of the voters, as the last
committed record names them, nor of those that one more change could have made of them. Who left no log may hold it.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (1, 0, "voters", "", 2, ((0, "a"), (1, "b"), (2, "c"))),
...     (5, 0, "voters", "", 7, ((0, "a"),)),
...     (6, 0, "voter-changed", "", "remove", 1, "b"),
...     (9, 0, "voter-changed", "", "add", 1, "b"),
... ]))
>>> for anomaly in verdict.anomalies:
...     print(anomaly.message)
The voters 0, 1, 2 (committed at offset 2 of the metadata log) became 0 at offset 7: more than one came or went.
It was answered at 0.000009 s that node 1 (directory b) was added to the voters, and no committed change did that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from tidemark.checkers.history.trace_events import KIND, NODE, MetadataLog, TraceEvent, VoterChanged, Voters, VotersRead
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

FORGOTTEN, JUMP, MISSED, MINORITY = "forgotten-voter-change", "voters-jump", "missed-voters", "metadata-minority"
_FOR_EVER = 1 << 62
_KINDS = frozenset({Voters.kind, VoterChanged.kind, VotersRead.kind, MetadataLog.kind})
_DONE = {"add": "added to", "remove": "removed from"}


def quorum_voters(events: Iterable[TraceEvent]) -> Iterator[Anomaly]:
    """The anomalies of a run with these events."""
    events = [event for event in events if event[KIND] in _KINDS]
    line = sorted(Voters.among(events), key=lambda event: event.offset)
    yield from _jumps(line)
    yield from _forgotten(line, VoterChanged.among(events))
    logs = list(MetadataLog.among(events))
    if line and logs:
        yield from _minority(line, logs)
        yield from _missed(line, logs, list(VotersRead.among(events)))


def _jumps(line: list[Voters]) -> Iterator[Anomaly]:
    for before, after in pairwise(line):
        if len({*before.voters} ^ {*after.voters}) > 1:
            words = (
                f"The voters {_named(before)} (committed at offset {before.offset} of the metadata log) became {_named(after)} at "
                f"offset {after.offset}: more than one came or went."
            )
            evidence = {"offset": after.offset, "before": before.offset}
            yield Anomaly(JUMP, VIOLATION, after.time, "", words, evidence=evidence)


def _named(event: Voters) -> str:
    return ", ".join(str(node) for node, _ in event.voters) or "nobody"


def _forgotten(line: list[Voters], answered: Iterable[VoterChanged]) -> Iterator[Anomaly]:
    """An operator asks for one change after the other, so that those answered have their order."""
    left = [
        (how, node, directory)
        for before, after in pairwise(line)
        for how, of_one, of_other in (("remove", before, after), ("add", after, before))
        for node, directory in sorted({*of_one.voters} - {*of_other.voters})
    ]
    for one in sorted(answered, key=lambda event: event.time):
        step = (one.how, one.voter, one.directory)
        if step in left:
            left = left[left.index(step) + 1 :]
            continue
        words = (
            f"It was answered at {seconds(one.time)} that node {one.voter} (directory {one.directory}) was {_DONE[one.how]} the "
            "voters, and no committed change did that."
        )
        evidence = {"how": one.how, "voter": one.voter, "directory": one.directory}
        yield Anomaly(FORGOTTEN, VIOLATION, one.time, "", words, evidence=evidence)


def _missed(line: list[Voters], logs: list[MetadataLog], read: list[VotersRead]) -> Iterator[Anomaly]:
    """Whose log holds a record took it from a leader, and reads what it takes at once. A snapshot stands for a record as well."""
    ends = [*(event.offset for event in line[2:]), _FOR_EVER]
    for log in logs:
        of_node = [event for event in read if event[NODE] == log.node]
        if not of_node:  # its lines are not read, or the trace is from before December 2026
            continue
        for record, end in zip(line[1:], ends, strict=False):
            voters = tuple(sorted(node for node, _ in record.voters))
            taken = any(record.offset <= event.offset < end and event.counted == voters for event in of_node)
            if not taken and log.start <= record.offset < log.hw:
                words = (
                    f"Node {log.node} has in its metadata log, at offset {record.offset}, that the voters are {_named(record)}, "
                    "and has never read it: it counted majorities by others, until it read of voters again."
                )
                evidence = {"node": log.node, "offset": record.offset}
                yield Anomaly(MISSED, VIOLATION, record.time, "", words, evidence=evidence)


def _minority(line: list[Voters], logs: list[MetadataLog]) -> Iterator[Anomaly]:
    committed = max(log.hw for log in logs)
    last = line[-1]
    voters = {node for node, _ in last.voters}
    short = {log.node for log in logs if _end(log) < committed}
    nodes = voters | {log.node for log in logs}
    near = [voters, *(voters - {node} for node in voters if len(voters) > 1), *(voters | {node} for node in nodes)]
    if not any(2 * len(those - short) > len(those) for those in near):
        without = ", ".join(map(str, sorted(voters & short)))
        words = (
            f"The metadata log is committed up to offset {committed}, and the logs of {without} "
            f"of the voters {_named(last)} end before that."
        )
        evidence = {"hw": committed, "voters": sorted(voters), "short": sorted(short)}
        yield Anomaly(MINORITY, VIOLATION, max(log.time for log in logs), "", words, evidence=evidence)


def _end(log: MetadataLog) -> int:
    """Where a log ends, or what a snapshot stands for."""
    return max([log.start, *(end for end, _ in log.snapshots), *(after for _, after, _, _ in log.entries)])

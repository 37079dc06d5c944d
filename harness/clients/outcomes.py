"""Was a record written, after an error? ``fail`` says certainly not, ``info`` says that nobody knows.

The table with the reason for every row is in ``docs/clients.md``. Two things decide. *The error*: only some of a broker's answers
are given before anything is appended. *The tries*: how many requests the library made for the batch. An error speaks of the last
try alone, so where an earlier one went unanswered, the last one's refusal proves nothing.
"""

from __future__ import annotations

from typing import NamedTuple

OK, FAIL, INFO = "ok", "fail", "info"

TIMED_OUT = "_MSG_TIMED_OUT"
"""The producer's own time-out, under librdkafka's name, whichever library it was."""

TRANSPORT = "_TRANSPORT"
"""No connection, or a broken one, likewise."""

REFUSALS = frozenset(
    {
        "CORRUPT_MESSAGE",
        "MESSAGE_TOO_LARGE",
        "RECORD_LIST_TOO_LARGE",
        "INVALID_TOPIC_EXCEPTION",
        "INVALID_REQUIRED_ACKS",
        "INVALID_TIMESTAMP",
        "INVALID_RECORD",
        "POLICY_VIOLATION",
        "UNSUPPORTED_VERSION",
        "UNSUPPORTED_FOR_MESSAGE_FORMAT",
        "UNSUPPORTED_COMPRESSION_TYPE",
        "TOPIC_AUTHORIZATION_FAILED",
        "CLUSTER_AUTHORIZATION_FAILED",
        "NOT_ENOUGH_REPLICAS",
        "OUT_OF_ORDER_SEQUENCE_NUMBER",
        "INVALID_PRODUCER_EPOCH",
        "PRODUCER_FENCED",
        "UNKNOWN_PRODUCER_ID",
    }
)
"""Kafka answers these before it appends anything of the batch."""

REFUSALS_UNLESS_ALL = frozenset({"NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION"})
"""Given before the append, too, but with acks=all also to a batch that was appended and waits for its followers when the leader
is deposed or the partition removed."""


class Report(NamedTuple):
    """What became of one record: `OK` with the offset if it was told, or `FAIL` or `INFO` with the error's name."""

    outcome: str
    offset: int | None = None
    error: str | None = None


def refuses(error: str, acks: str) -> bool:
    """Whether this answer to a produce request proves that the request wrote nothing."""
    return error in REFUSALS or (acks != "all" and error in REFUSALS_UNLESS_ALL)


def judge(error: str, *, tries: int | None, acks: str) -> Report:
    """The outcome of a record that was not acknowledged.

    Args:
        error: its name: Kafka's, or librdkafka's (with an underscore) for what the client found out by itself.
        tries: produce requests made for the batch; `None` if that is not known.
        acks: as in `tidemark.nodes.core.cluster.ClusterSpec`. Only with acks=all are requests that may have been written repeated.
    """
    if tries == 0:
        return Report(FAIL, error=error)
    if refuses(error, acks) and (tries == 1 or acks != "all"):
        return Report(FAIL, error=error)
    return Report(INFO, error=error)

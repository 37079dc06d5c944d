"""One name for one error, whichever library met it."""

from __future__ import annotations

from kio.schema.errors import ErrorCode


def error_name(code: int, local: str) -> str:
    """Kafka's name of a broker's error code, or ``local`` if the code is none of Kafka's.

    >>> error_name(6, "NOT_LEADER_FOR_PARTITION")
    'NOT_LEADER_OR_FOLLOWER'
    >>> error_name(-192, "_MSG_TIMED_OUT")
    '_MSG_TIMED_OUT'
    """
    try:
        return ErrorCode(code).name.upper()
    except ValueError:
        return local

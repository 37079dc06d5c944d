"""What an etcd member has applied, as a log: a revision is an offset, and its changes are the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.harness.systems.etcd.gateway import EtcdError, decoded
from tidemark.harness.systems.outside.real_system import LogEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FIRST = 1
"""The revision of a store in which nothing was ever written."""


def entries(told: Iterable[Sequence[Mapping[str, Any]]], end: int) -> list[LogEntry]:
    """The changes up to a revision.

    Args:
        told: some events of a watch at a time, those of a revision together, in order.
        end: the last revision.

    Raises:
        EtcdError: they ended before.

    >>> def put(key, value, revision):
    ...     return {"kv": {"key": key, "value": value, "mod_revision": revision}}
    >>> entries([[put("azE=", "MQ==", "2")], [put("azE=", "Mg==", "3"), put("azI=", "MQ==", "3")]], 3)
    [LogEntry(offset=2, epoch=None, value='k1=1'), LogEntry(offset=3, epoch=None, value='k1=2, k2=1')]
    """
    changes: dict[int, list[str]] = {}
    last, left = FIRST, iter(told)
    while last < end:
        some = next(left, None)
        if some is None:
            raise EtcdError(f"the changes ended at revision {last}, before {end}")
        for event in some:
            last = int(event["kv"]["mod_revision"])
            changes.setdefault(last, []).append(_told(event))
    return [LogEntry(revision, None, ", ".join(words)) for revision, words in changes.items()]


def _told(event: Mapping[str, Any]) -> str:
    key = decoded(event["kv"]["key"])
    return f"{key} deleted" if event.get("type") == "DELETE" else f"{key}={decoded(event['kv'].get('value', ''))}"

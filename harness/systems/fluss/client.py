"""A client of a log table: it writes to whoever leads, and reads there."""

from __future__ import annotations

from typing import Any

from tidemark.harness.clients.client import Outcome
from tidemark.harness.systems.fluss.connection import FlussConnection, FlussError, connected
from tidemark.harness.systems.fluss.requests import SERVER_S, fetch, produce, table_of

NOT_ENOUGH_REPLICAS = 29


class FlussClient:
    """Sends and polls, one record a batch, without idempotence and without a second try.

    Until the leader has been found and has answered nothing was asked. Whatever goes wrong from then on is raised, and so proves
    nothing; but for the error that says "Messages are rejected since there are fewer in-sync replicas than required" (there is
    another one for messages that were written already).

    Attributes:
        patience_s: so long may a leader wait for those in sync.
    """

    def __init__(self) -> None:
        self.patience_s = SERVER_S
        self._first: FlussConnection | None = None
        self._leader: FlussConnection | None = None
        self._tables: dict[str, int] = {}

    def open(self, address: tuple[str, int]) -> None:
        self._first = connected(address)

    def invoke(self, f: str, value: Any) -> Outcome:  # noqa: ANN401 - as `Client` has it
        """``send`` of (log, value): its offset. ``poll`` of (log, position): (offset, value) of some from there on."""
        log, what = value
        try:
            leader = self._leader_of(log)
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing was asked
            return Outcome("fail", error=f"no leader: {type(error).__name__}: {error}")
        if f == "send":
            return self._sent(leader, log, int(what))
        batches = fetch(leader, self._tables[log], int(what))
        found = [(at, record) for batch in batches for at, record in enumerate(batch.values, batch.base)]
        return Outcome("ok", [(at, record) for at, record in found if at >= int(what)])

    def _sent(self, leader: FlussConnection, log: str, value: int) -> Outcome:
        try:
            return Outcome("ok", produce(leader, self._tables[log], value, self.patience_s))
        except FlussError as error:
            if error.code == NOT_ENOUGH_REPLICAS:
                return Outcome("fail", error=str(error))
            raise

    def _leader_of(self, log: str) -> FlussConnection:
        assert self._first is not None  # noqa: S101 - it was opened
        if self._leader is None or log not in self._tables:
            table = table_of(self._first, log)
            if table.leader not in table.addresses:
                raise LookupError(f"{log} is led by {table.leader}, which is not there")
            leader = connected(table.addresses[table.leader])
            if self._leader is not None:
                self._leader.close()
            self._leader, self._tables = leader, {log: table.number}
        return self._leader

    def close(self) -> None:
        for connection in (self._first, self._leader):
            if connection is not None:
                connection.close()

"""A client of a system of any protocol, with another in its place when something went wrong."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from tidemark.harness.clients.client import Client, Outcome
from tidemark.harness.clients.errors import ClientsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Connected:
    """A client that goes to the next node when something went wrong.

    Args:
        make: makes a client. addresses: of the nodes, in order. first: which of them to begin with.
    """

    def __init__(self, make: Callable[[], Client], addresses: Sequence[tuple[str, int]], first: int) -> None:
        self._make, self._addresses, self._next = make, addresses, first
        self._client: Client | None = None

    def do(self, f: str, value: object) -> Outcome:
        """One operation; whatever is raised proves nothing, but for a connection that could not be made: nothing was asked."""
        if self._client is None:
            client = self._make()
            try:
                client.open(self._addresses[self._next % len(self._addresses)])
            except Exception as error:  # noqa: BLE001 - somebody else's code
                self._next += 1
                with suppress(Exception):
                    client.close()
                return Outcome("fail", error=f"not connected: {_words(error)}")
            self._client = client
        try:
            outcome = self._client.invoke(f, value)
        except Exception as error:  # noqa: BLE001 - it may have been carried out, whatever went wrong
            outcome = Outcome("info", error=_words(error))
        if not isinstance(outcome, Outcome):
            raise ClientsError(
                f"invoke({f!r}, {value!r}) answered {outcome!r}, and must answer an Outcome (docs/systems.md)"
            )
        if outcome.type != "ok":
            self.close()
            self._next += 1
        return outcome

    def close(self) -> None:
        """Disconnect."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                client.close()


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def addresses_of(told: Mapping[int, str]) -> list[tuple[str, int]]:
    """Host and port of each node, in order, of what an order for a workload tells."""
    split = (address.rsplit(":", 1) for _, address in sorted(told.items()))
    return [(host, int(port)) for host, port in split]

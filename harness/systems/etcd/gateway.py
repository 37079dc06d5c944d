"""A connection to an etcd member: its API as JSON over HTTP (etcd.io/docs, *gRPC gateway*), and what an error of it says."""

from __future__ import annotations

import base64
import http.client
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 3.0


class EtcdError(Exception):
    """A member refused, or could not say what came of it; what that proves is for whoever asked to say.

    Attributes:
        code: of gRPC, such as 14 for *unavailable*; 2, *unknown*, if it said none.
    """

    def __init__(self, words: str, code: int = 2) -> None:
        super().__init__(words)
        self.code = code


class Gateway:
    """One connection, on which one thing is asked at a time, and nothing twice.

    Args:
        address: host and port. patience_s: for the connection, and for each answer.

    Raises:
        OSError: nobody listens.
    """

    def __init__(self, address: tuple[str, int], patience_s: float = PATIENCE_S) -> None:
        self._http = http.client.HTTPConnection(*address, timeout=patience_s)
        self._http.connect()

    def ask(self, path: str, about: dict[str, Any]) -> dict[str, Any]:
        """Ask for something below ``/v3/``.

        Raises:
            EtcdError: it did not do it, as far as it knows. OSError, http.client.HTTPException: there is no answer.
        """
        self._http.request("POST", f"/v3/{path}", json.dumps(about), {"Content-Type": "application/json"})
        response = self._http.getresponse()
        text = response.read()
        return answer_of(response.status, text)

    def events(self) -> Iterator[list[dict[str, Any]]]:
        """All changes of all keys that this member has applied, and then whatever comes, those of a revision never apart; nothing
        else can be asked afterwards.

        Raises:
            EtcdError: it has forgotten the first. OSError, http.client.HTTPException: nothing comes in time.
        """
        everything = {"key": encoded("\0"), "range_end": encoded("\0"), "start_revision": "1"}
        self._http.request("POST", "/v3/watch", json.dumps({"create_request": everything}))
        response = self._http.getresponse()
        while line := response.readline():
            told = answer_of(response.status, line).get("result", {})
            if told.get("canceled"):
                raise EtcdError(str(told.get("cancel_reason") or "it began later"))
            yield told.get("events", [])

    def close(self) -> None:
        """Hang up."""
        self._http.close()


def answer_of(status: int, text: bytes) -> dict[str, Any]:
    """What is in an answer.

    Raises:
        EtcdError: it is an error.
    """
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise EtcdError(f"status {status}, and no JSON")
    if status != http.client.OK:
        raise EtcdError(
            str(found.get("message") or found.get("error") or f"status {status}"), int(found.get("code", 2))
        )
    return found


def encoded(text: str) -> str:
    """A key or value as the gateway has it.

    >>> encoded("k1")
    'azE='
    """
    return base64.b64encode(text.encode()).decode()


def decoded(text: str) -> str:
    """The reverse of `encoded`."""
    return base64.b64decode(text).decode()

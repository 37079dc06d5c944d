"""Clients of etcd's key-value store, for registers, lists in transactions, a set, ids, and a counter.

Every request is atomic and is answered once. What its errors prove, by its documentation: docs/nats-etcd-fluss.md.
"""

from __future__ import annotations

import json
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.harness.clients.client import Outcome
from tidemark.harness.systems.etcd.gateway import EtcdError, Gateway, decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INVALID_ARGUMENT = 3
NEVER_DONE = frozenset({INVALID_ARGUMENT})
"""Codes that say that a request was none, so that nothing was done. Of any other error, nothing is known."""
COUNTER, ID = "counter", "id"
"""The keys of the counter, and of what is written to have another id."""
ELEMENTS, AFTER_ELEMENTS = "s/", "s0"
"""Keys of a set's elements begin so; the first key after all of them."""
TRIES = 5


class Found(NamedTuple):
    """A key's value, None if there is none, and the revision at which it was written, 0 if it never was."""

    value: str | None
    revision: int


class EtcdClient:
    """Whatever goes wrong is raised, and so proves nothing, unless etcd says that the request was none."""

    def __init__(self) -> None:
        self._gateway: Gateway | None = None

    def open(self, address: tuple[str, int]) -> None:
        """Ask the member how it is: in front of one that is down, an engine's proxy may listen."""
        self._gateway = Gateway(address)
        self._ask("maintenance/status", {})

    def close(self) -> None:
        if self._gateway is not None:
            self._gateway.close()

    def invoke(self, f: str, value: Any) -> Outcome:  # noqa: ANN401 - as `Client` has it
        """As ``tidemark.harness.systems.outside.object_workload`` has it."""
        try:
            return self._invoke(f, value)
        except EtcdError as error:
            if error.code in NEVER_DONE:
                return Outcome("fail", error=str(error))
            raise

    def _invoke(self, f: str, value: Any) -> Outcome:  # noqa: ANN401 - by what it is
        if f == "txn":
            return self._transaction(value)
        if f == "add":
            self._ask("kv/put", {"key": encoded(f"{ELEMENTS}{value}"), "value": encoded("")})
            return Outcome("ok")
        if f == "generate":
            done = self._ask("kv/put", _put(ID, ""))
            return Outcome("ok", int(done["header"]["revision"]))  # the revision that this put made
        if f == "read" and value is None:
            wanted = {"key": encoded(ELEMENTS), "range_end": encoded(AFTER_ELEMENTS), "keys_only": True}
            there = self._ask("kv/range", wanted).get("kvs", ())
            return Outcome("ok", sorted(int(decoded(one["key"]).removeprefix(ELEMENTS)) for one in there))
        if f == "read":
            held = self._held(value).value
            return Outcome("ok", None if held is None else int(held))
        key, what = value
        if f == "write":
            self._ask("kv/put", _put(key, str(what)))
            return Outcome("ok")
        if f == "cas":
            old, new = what
            equals = {"key": encoded(key), "target": "VALUE", "result": "EQUAL", "value": encoded(str(old))}
            done = self._ask("kv/txn", {"compare": [equals], "success": [{"request_put": _put(key, str(new))}]})
            return Outcome("ok", bool(done.get("succeeded", False)))
        raise ValueError(f"etcd has no {f}")

    def _held(self, key: str) -> Found:
        return found(self._ask("kv/range", {"key": encoded(key)}))[0]

    def _transaction(self, asked: Sequence[tuple[str, str, Any]]) -> Outcome:
        """All keys are read at one revision. What appends is then written under the condition that none of them has been written
        since; if one was, nothing is done, and it is tried again.
        """
        keys = sorted({key for _, key, _ in asked})
        appended = {key for what, key, _ in asked if what == "append"}
        for _ in range(TRIES):
            try:
                read = self._ask("kv/txn", {"success": [{"request_range": {"key": encoded(key)}} for key in keys]})
            except (EtcdError, OSError, HTTPException) as error:
                return Outcome("fail", error=f"nothing was written yet: {type(error).__name__}: {error}")
            held = {
                key: found(response["response_range"])[0] for key, response in zip(keys, read["responses"], strict=True)
            }
            lists = {key: [] if one.value is None else json.loads(one.value) for key, one in held.items()}
            answered = carried_out(asked, lists)
            if not appended:
                return Outcome("ok", answered)
            done = self._ask(
                "kv/txn",
                {
                    "compare": [_unchanged(key, one.revision) for key, one in held.items()],
                    "success": [{"request_put": _put(key, json.dumps(lists[key]))} for key in sorted(appended)],
                },
            )
            if done.get("succeeded", False):
                return Outcome("ok", answered)
        return Outcome("fail", error=f"a key was written meanwhile, {TRIES} times")

    def _ask(self, path: str, about: dict[str, Any]) -> dict[str, Any]:
        assert self._gateway is not None  # noqa: S101 - it was opened
        return self._gateway.ask(path, about)


class EtcdCounter(EtcdClient):
    """A key that is read, and written under the condition that it has not been since; if it was, it is tried again."""

    def _invoke(self, f: str, value: Any) -> Outcome:  # noqa: ANN401 - by what it is
        if f == "read":
            return Outcome("ok", int(self._held(COUNTER).value or 0))
        for _ in range(TRIES):
            try:
                held = self._held(COUNTER)
            except (EtcdError, OSError, HTTPException) as error:
                return Outcome("fail", error=f"nothing was written yet: {type(error).__name__}: {error}")
            put = {"request_put": _put(COUNTER, str(int(held.value or 0) + value))}
            asked = {"compare": [_unchanged(COUNTER, held.revision)], "success": [put]}
            if self._ask("kv/txn", asked).get("succeeded", False):
                return Outcome("ok")
        return Outcome("fail", error=f"the counter was written meanwhile, {TRIES} times")


def carried_out(asked: Sequence[tuple[str, str, Any]], lists: dict[str, list[int]]) -> list[tuple[str, str, Any]]:
    """What a transaction is answered with; `lists` are as they are before it, and then as it leaves them.

    >>> carried_out([("append", "x", 2), ("r", "x", None)], {"x": [1]})
    [('append', 'x', 2), ('r', 'x', [1, 2])]
    """
    answered: list[tuple[str, str, Any]] = []
    for what, key, value in asked:
        if what == "append":
            lists[key].append(value)
            answered.append((what, key, value))
        else:
            answered.append((what, key, [*lists[key]]))
    return answered


def found(response: Mapping[str, Any]) -> list[Found]:
    """The keys and values that a range answers; of none, one that was never written."""
    there = response.get("kvs") or ()
    return [Found(decoded(one.get("value", "")), int(one["mod_revision"])) for one in there] or [Found(None, 0)]


def _put(key: str, value: str) -> dict[str, str]:
    return {"key": encoded(key), "value": encoded(value)}


def _unchanged(key: str, revision: int) -> dict[str, Any]:
    return {"key": encoded(key), "target": "MOD", "result": "EQUAL", "mod_revision": str(revision)}

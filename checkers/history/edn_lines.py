"""A history written in EDN, for Jepsen's checkers to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tidemark.checkers.history.columns.rows_back import ops_of
from tidemark.checkers.history.edn.forms import Form, Keyword
from tidemark.checkers.history.edn.writer import written
from tidemark.checkers.history.history import History, Op


def edn_lines(history: History) -> Iterator[str]:
    """A history in EDN, a map per line: as it was, if it was read with its forms.

    Else operations have their times in nanoseconds, and processes that are no integers one for each, with the ``:client`` that it
    stands for. Strikes and healings are those of ``:nemesis``.
    """
    if history.forms:
        for form in history.forms:
            yield written(form)
        return
    columns = history.columns
    ops: Iterable[Op] = history.ops if columns is None else ops_of(columns)
    numbers: dict[object, int] = {}
    index = 0
    strikes = sorted(history.nemesis, key=lambda one: one[0])
    for place, op in enumerate(ops):
        while strikes and strikes[0][0] <= op.time:
            yield _line(_nemesis(strikes.pop(0)), index)
            index += 1
        ns = 0 if columns is None else int(columns.time_ns[place])
        yield _line(_client(op, numbers, ns), index)
        index += 1
    for strike in strikes:
        yield _line(_nemesis(strike), index)
        index += 1


def _line(form: dict[Form, Form], index: int) -> str:
    return written({**form, Keyword("index"): index})


def _client(op: Op, numbers: dict[object, int], ns: int) -> dict[Form, Form]:
    process: object = op.process
    client = {}
    if not isinstance(process, int):
        client = {Keyword("client"): process}
        process = numbers.setdefault(process, len(numbers))
    fields: dict[Form, Form] = {
        Keyword("type"): Keyword(op.type),
        Keyword("process"): process,
        Keyword("f"): Keyword(op.f),
        Keyword("value"): _written_value(op.value),
        Keyword("time"): op.time * 1000 + ns,
        **client,
    }
    for name, value in (("error", op.error), ("acks", op.acks), ("final?", op.final)):
        if value:
            fields[Keyword(name)] = value
    return fields


def _written_value(value: Any) -> Form:  # noqa: ANN401 - as Op has it
    if not isinstance(value, list | tuple):
        return value
    return tuple(_written_micro(micro) if isinstance(micro, tuple) else micro for micro in value)


def _written_micro(micro: tuple[Any, ...]) -> Form:
    """Jepsen's polls are invoked without a map."""
    kind = Keyword(micro[0])
    return (kind,) if micro == ("poll", {}) else (kind, *micro[1:])


def _nemesis(strike: tuple[Any, ...]) -> dict[Form, Form]:
    time, what, index, kind, detail = strike
    return {
        Keyword("type"): Keyword("info"),
        Keyword("process"): Keyword("nemesis"),
        Keyword("f"): Keyword(f"{what}-{kind}"),
        Keyword("value"): {"index": index, **detail},
        Keyword("time"): time * 1000,
    }

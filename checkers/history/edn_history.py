"""A history in EDN, as Jepsen's kafka workload writes it: read into columns, and written for Jepsen's checkers to read.

Clients are the processes that are integers; what ``:nemesis`` did becomes strikes and healings. Micro-operations are
``[:send key value]``, completed ``[:send key [offset value]]``, and ``[:poll]``, completed ``[:poll {key [[offset value] …]}]``.
Times are nanoseconds there, and microseconds here. Keys are strings, integers, keywords, symbols and vectors of such; values
everything that is no collection, and no ``##NaN`` nor infinite. What is no string (a value: and no integer) stands here for its
EDN. What the checkers do not know is kept only where `forms` are asked for.

Source: ``jepsen.tests.kafka``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

from tidemark.checkers.history.columns.builder import ColumnsBuilder, Word
from tidemark.checkers.history.columns.rows_back import ops_of
from tidemark.checkers.history.edn.forms import EdnMap, EdnSet, Form, Keyword, Symbol
from tidemark.checkers.history.edn.operations import EdnOp, operations
from tidemark.checkers.history.edn.reader import EdnError
from tidemark.checkers.history.edn.writer import written
from tidemark.checkers.history.edn_ops import finite, plain_form
from tidemark.checkers.history.entry_order import Sends, other_sends, sends_of
from tidemark.checkers.history.history import History, Op
from tidemark.checkers.history.jepsen_nemesis import NemesisHalf, strikes_and_healings
from tidemark.checkers.history.line_shapes import VALUE, ShapeError, no_micro_operation

_SEND, _POLL = Keyword("send"), Keyword("poll")
_NEMESIS = Keyword("nemesis")
_ERROR, _REBALANCE_LOG, _KEYS, _FINAL, _ACKS = map(Keyword, ("error", "rebalance-log", "keys", "final?", "acks"))
_MOST_OF_AN_ERROR = 200
_INT64 = 1 << 63


def read_edn(file: BinaryIO, *, forms: bool = False) -> History:
    """The history in an EDN file.

    Args:
        file: it.
        forms: whether to keep every operation as it is there, to write it again.

    Raises:
        EdnError: with the line, and what is wrong there.
        OSError: it cannot be read.
    """
    history = History()
    builder = ColumnsBuilder()
    names = _Names()
    nemesis: list[NemesisHalf] = []
    latest = 0  # ns
    sending: dict[int, tuple[int, Sends]] = {}
    for op in operations(file):
        if forms:
            history.forms.append(op.fields)
        try:
            if not isinstance(op.process, int):
                if op.process is _NEMESIS:
                    time = latest if op.time is None else op.time
                    nemesis.append(NemesisHalf(time // 1000, str(plain_form(op.f)), plain_form(op.value)))
                continue
            latest = max(latest, latest if op.time is None else op.time)
            half = _op(op, latest // 1000, names)
            builder.add(half, _rebalanced(op, names), latest % 1000)
            if half.type == "invoke":
                sending[op.process] = op.line, sends_of(half)
            elif op.process in sending:
                line, asked = sending.pop(op.process)
                other = other_sends(asked, sends_of(half), half.type)
                if other:
                    raise ShapeError(f"process {op.process} completes a {half.f} {other} (line {line})")
        except (TypeError, ValueError, OverflowError, LookupError, AttributeError) as error:
            sentence = str(error) if isinstance(error, ShapeError) else f"{_shown(op.value)} is no value of {op.f}"
            raise EdnError(op.line, None, sentence) from None
    history.columns = builder.columns()
    history.nemesis = strikes_and_healings(nemesis)
    return history


class _Names(dict[Form, Word]):
    """Integers, keywords and symbols → what stands for them."""

    def __missing__(self, form: Form) -> Word:
        self[form] = name = Word(written(int(form) if isinstance(form, int) else form))
        return name

    def key(self, form: Form) -> Any:  # noqa: ANN401 - as the columns' builder has it
        """What stands for a key."""
        kind = type(form)
        if kind is str:
            return form
        if kind is int or kind is Keyword:
            return self[form]
        if not _is_key(form):
            raise ShapeError(f"a key is a string, an integer, a keyword or a vector of such, and not {_shown(form)}")
        return Word(written(form)) if isinstance(form, tuple) else self[form]

    def value(self, form: Form) -> Any:  # noqa: ANN401 - likewise
        """What stands for a record's value."""
        kind = type(form)
        if kind is str:
            return form
        if isinstance(form, int) and kind is not bool:
            if not -_INT64 <= form < 2 * _INT64:
                raise ShapeError(f"{VALUE}, and is {_shown(form)}")
            return int(form)
        if isinstance(form, tuple | EdnMap | EdnSet):
            raise ShapeError(f"a record's value must be no collection, and is {_shown(form)}")
        if isinstance(form, float):
            finite(form)
        return self[form] if kind is Keyword else Word(written(form))


def _is_key(form: Form) -> bool:
    if isinstance(form, tuple):
        return all(map(_is_key, form))
    return isinstance(form, str | int | Keyword | Symbol) and not isinstance(form, bool)


def _op(op: EdnOp, time: int, names: _Names) -> Op:
    f = op.f.name if type(op.f) is Keyword else str(op.f)
    value: Any = None
    if f in ("send", "poll", "txn"):
        value = [_micro(micro, op.type, names) for micro in op.value or ()]
    elif f in ("assign", "subscribe"):
        value = [names.key(key) for key in op.value or ()]
    elif f == "delete":
        of_a_key = len(op.value) == 2 and op.value[1] is None  # and not of records, as the models have it
        value = op.value if of_a_key else [("delete", names.key(key), _offset(offset)) for _, key, offset in op.value]
    error = op.fields.get(_ERROR)
    words = None if error is None else written(error)[:_MOST_OF_AN_ERROR]
    acks = op.fields.get(_ACKS)
    final = op.fields.get(_FINAL) is True
    return Op(time, op.process, op.type, f, value, words, acks if acks in ("all", "1", "0") else None, final)


def _micro(micro: Sequence[Form], type_: str, names: _Names) -> tuple[Any, ...]:
    kind = micro[0]
    if kind is _SEND and len(micro) == 3:
        what = micro[2]
        if what.__class__ is tuple and len(what) == 2:
            return ("send", names.key(micro[1]), (_offset(what[0]), names.value(what[1])))
        if what.__class__ is tuple:
            raise ShapeError(f"a send completes with [offset value], and not with {_shown(what)}")
        return ("send", names.key(micro[1]), names.value(what))
    if kind is _POLL and len(micro) == 1:
        return ("poll", {})
    if kind is _POLL and len(micro) == 2 and isinstance(micro[1], EdnMap | None):
        return ("poll", {names.key(key): _records(records, names) for key, records in (micro[1] or {}).items()})
    raise no_micro_operation(_shown(micro), plain_form(kind), "[:send key value] nor [:poll {…}]")


def _records(records: Sequence[Form], names: _Names) -> list[tuple[int | None, Any]]:
    return [(_offset(offset), names.value(value)) for offset, value in records or ()]


def _offset(form: Form) -> int | None:
    """-1 is none, as Kafka has it for acks 0."""
    if form is None or form == -1:
        return None
    if not isinstance(form, int) or isinstance(form, bool) or not 0 <= form < _INT64:
        raise ShapeError(f"an offset is an integer from 0 on, and not {_shown(form)}")
    return int(form)


def _rebalanced(op: EdnOp, names: _Names) -> list[Any]:
    log = op.fields.get(_REBALANCE_LOG)
    return [names.key(key) for event in log or () for key in event.get(_KEYS) or ()]


def _shown(form: Form) -> str:
    text = written(form)
    return text if len(text) <= 60 else f"{text[:57]}…"


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

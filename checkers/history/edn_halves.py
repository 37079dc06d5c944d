"""Half an operation of Jepsen's kafka workload, as the columns' builder takes it.

Micro-operations are ``[:send key value]``, completed ``[:send key [offset value]]``, and ``[:poll]``, completed
``[:poll {key [[offset value] …]}]``. Keys are strings, integers, keywords, symbols and vectors of such; values everything that is
no collection, and no ``##NaN`` nor infinite. What is no string (a value: and no integer) stands here for its EDN.

Source: ``jepsen.tests.kafka``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidemark.checkers.history.columns.builder import Word
from tidemark.checkers.history.edn.forms import EdnMap, EdnSet, Form, Keyword, Symbol
from tidemark.checkers.history.edn.operations import EdnOp
from tidemark.checkers.history.edn.writer import written
from tidemark.checkers.history.edn_ops import finite, plain_form
from tidemark.checkers.history.history import Op
from tidemark.checkers.history.jepsen_nemesis import NemesisHalf
from tidemark.checkers.history.line_shapes import VALUE, ShapeError, no_micro_operation

_SEND, _POLL, _NEMESIS = Keyword("send"), Keyword("poll"), Keyword("nemesis")
_ERROR, _REBALANCE_LOG, _KEYS, _FINAL, _ACKS = map(Keyword, ("error", "rebalance-log", "keys", "final?", "acks"))
_MOST_OF_AN_ERROR = 200
_INT64 = 1 << 63


class Names(dict[Form, Word]):
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
            raise ShapeError(
                f"a key is a string, an integer, a keyword or a vector of such, and not {shown_form(form)}"
            )
        return Word(written(form)) if isinstance(form, tuple) else self[form]

    def value(self, form: Form) -> Any:  # noqa: ANN401 - likewise
        """What stands for a record's value."""
        kind = type(form)
        if kind is str:
            return form
        if isinstance(form, int) and kind is not bool:
            if not -_INT64 <= form < 2 * _INT64:
                raise ShapeError(f"{VALUE}, and is {shown_form(form)}")
            return int(form)
        if isinstance(form, tuple | EdnMap | EdnSet):
            raise ShapeError(f"a record's value must be no collection, and is {shown_form(form)}")
        if isinstance(form, float):
            finite(form)
        return self[form] if kind is Keyword else Word(written(form))


def _is_key(form: Form) -> bool:
    if isinstance(form, tuple):
        return all(map(_is_key, form))
    return isinstance(form, str | int | Keyword | Symbol) and not isinstance(form, bool)


def half_of(op: EdnOp, time: int, names: Names) -> Op:
    """Half an operation of a client, at a time in µs."""
    f = op.f.name if type(op.f) is Keyword else str(op.f)
    value: Any = None
    if f in ("send", "poll", "txn"):
        value = [_micro(micro, op.type, names) for micro in op.value or ()]
    elif f in ("assign", "subscribe"):
        value = [names.key(key) for key in op.value or ()]
    elif f == "delete":
        of_a_key = len(op.value) == 2 and op.value[1] is None  # and not of records, as the models have it
        value = op.value if of_a_key else [("delete", names.key(key), _offset(offset)) for _, key, offset in op.value]
    words = words_of(op.fields.get(_ERROR))
    final = op.fields.get(_FINAL) is True
    return Op(time, op.process, op.type, f, value, words, acks_of(op.fields.get(_ACKS)), final)


def nemesis_half(op: EdnOp, latest: int | None) -> list[NemesisHalf]:
    """What the nemesis did, if it was it and no other that is no client; without a time it was at the latest that was told, ns.

    Raises:
        ShapeError: it has no time, and nobody knows that; or its value is none.
    """
    if op.process is not _NEMESIS:
        return []
    time = latest if op.time is None else op.time
    if time is None:
        raise ShapeError("it has no :time")
    return [NemesisHalf(time // 1000, str(plain_form(op.f)), plain_form(op.value))]


def acks_of(acks: Form) -> str | None:
    """Those that Kafka knows."""
    return acks if acks in ("all", "1", "0") else None


def words_of(error: Form) -> str | None:
    """How an error is told."""
    return None if error is None else written(error)[:_MOST_OF_AN_ERROR]


def _micro(micro: Sequence[Form], type_: str, names: Names) -> tuple[Any, ...]:
    kind = micro[0]
    if kind is _SEND and len(micro) == 3:
        what = micro[2]
        if what.__class__ is tuple and len(what) == 2:
            return ("send", names.key(micro[1]), (_offset(what[0]), names.value(what[1])))
        if what.__class__ is tuple:
            raise ShapeError(f"a send completes with [offset value], and not with {shown_form(what)}")
        return ("send", names.key(micro[1]), names.value(what))
    if kind is _POLL and len(micro) == 1:
        return ("poll", {})
    if kind is _POLL and len(micro) == 2 and isinstance(micro[1], EdnMap | None):
        return ("poll", {names.key(key): _records(records, names) for key, records in (micro[1] or {}).items()})
    raise no_micro_operation(shown_form(micro), plain_form(kind), "[:send key value] nor [:poll {…}]")


def _records(records: Sequence[Form], names: Names) -> list[tuple[int | None, Any]]:
    return [(_offset(offset), names.value(value)) for offset, value in records or ()]


def _offset(form: Form) -> int | None:
    """-1 is none, as Kafka has it for acks 0."""
    if form is None or form == -1:
        return None
    if not isinstance(form, int) or isinstance(form, bool) or not 0 <= form < _INT64:
        raise ShapeError(f"an offset is an integer from 0 on, and not {shown_form(form)}")
    return int(form)


def rebalanced_of(op: EdnOp, names: Names) -> list[Any]:
    """The keys that were assigned anew while it lasted."""
    log = op.fields.get(_REBALANCE_LOG)
    return [names.key(key) for event in log or () for key in event.get(_KEYS) or ()]


def shown_form(form: Form) -> str:
    """As far as a sentence has room for it."""
    text = written(form)
    return text if len(text) <= 60 else f"{text[:57]}…"

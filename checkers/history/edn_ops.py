"""The operations of a Jepsen history in EDN, for models and workloads: names as strings, values as JSON has them.

Clients are the processes with a number, as for Jepsen's ``client-ops``; of another, such as ``:nemesis``, the name keeps its colon.
Times are in µs. The class of an ``:exception``, else the first word of the ``:error``, becomes the error.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from math import isfinite
from typing import BinaryIO

from tidemark.checkers.history.edn.forms import EdnMap, EdnSet, Form, Keyword, Symbol, Tagged
from tidemark.checkers.history.edn.operations import EdnOp, operations
from tidemark.checkers.history.edn.reader import EdnError, blocks_of
from tidemark.checkers.history.edn.writer import written
from tidemark.checkers.history.history import Op
from tidemark.checkers.history.line_shapes import ShapeError
from tidemark.checkers.verdict.verdict import Json

_EXCEPTION, _ERROR, _VIA, _TYPE, _FINAL, _KEY = (
    Keyword(name) for name in ("exception", "error", "via", "type", "final?", "key")
)


def read_edn_ops(file: BinaryIO) -> list[Op]:
    """The operations in a file, each at its place.

    Raises:
        EdnError: the file is no EDN, or holds something that is no operation.
        OSError: it cannot be read.
    """
    return edn_ops(operations(blocks_of(file)))


def edn_ops(found: Iterable[EdnOp]) -> list[Op]:
    """Operations as those of our own histories. A string stands in quotes where its text is also the name of a keyword or a symbol:
    they differ.
    """
    plain = _Plain()
    ops = [_op(one, plain) for one in found]
    both = plain.names.keys() & plain.strings
    return [op._replace(value=_quoted(op.value, both)) for op in ops] if both else ops


def _op(one: EdnOp, plain: _Plain) -> Op:
    try:
        return Op(
            0 if one.time is None else one.time // 1000,
            str(one.process),
            one.type,
            str(plain_form(one.f)),
            _value(one, plain),
            _error(one.fields),
            None,
            one.fields.get(_FINAL) is True,
        )
    except ShapeError as error:
        raise EdnError(one.line, None, str(error)) from None


def _value(one: EdnOp, plain: _Plain) -> Json:
    """An operation on a key may tell it apart from its value (``:key``, Porcupine's test data), as Jepsen's own do not."""
    value = plain.form(one.value)
    return [plain.form(one.fields[_KEY]), value] if _KEY in one.fields else value


def plain_form(form: Form) -> Json:
    """A form as JSON has it: a keyword is its name, a set a list.

    Raises:
        ShapeError: it has ``##NaN`` or an infinite number, as JSON has none.
    """
    return _Plain().form(form)


def finite(form: float) -> float:
    """The number itself.

    Raises:
        ShapeError: it is not a number, or infinite.
    """
    if not isfinite(form):
        raise ShapeError(f"{written(form)} is no number")
    return form


class _Name(str):
    """What a keyword or a symbol becomes."""

    __slots__ = ()


class _Plain:
    """Forms as JSON has them, and which names and strings were among them."""

    def __init__(self) -> None:
        self.names: dict[str, _Name] = {}
        self.strings: set[str] = set()

    def form(self, form: Form) -> Json:
        """One form."""
        if isinstance(form, Keyword | Symbol):
            return self.names.setdefault(form.name, _Name(form.name))
        if isinstance(form, EdnMap):
            return {self._key(key): self.form(value) for key, value in form.items()}
        if isinstance(form, tuple | EdnSet):
            return [self.form(one) for one in form]
        if isinstance(form, Tagged):
            return self.form(form.form)
        if isinstance(form, str):
            self.strings.add(form)
            return form
        if isinstance(form, float):
            return finite(form)
        return form if form is None or isinstance(form, bool | int) else str(form)

    def _key(self, form: Form) -> str:
        key = self.form(form)
        return key if isinstance(key, str) else str(key)


def _quoted(value: Json, both: AbstractSet[str]) -> Json:
    if isinstance(value, str):
        return f'"{value}"' if value in both and not isinstance(value, _Name) else value
    if isinstance(value, list):
        return [_quoted(one, both) for one in value]
    if isinstance(value, dict):
        return {_quoted(key, both): _quoted(one, both) for key, one in value.items()}
    return value


def _error(fields: EdnMap) -> str | None:
    exception = fields.get(_EXCEPTION)
    if isinstance(exception, Tagged):
        exception = exception.form
    if isinstance(exception, EdnMap):
        via = exception.get(_VIA)
        first = via[0] if isinstance(via, tuple) and via else exception
        if isinstance(first, EdnMap) and first.get(_TYPE) is not None:
            return str(plain_form(first[_TYPE]))
    error = fields.get(_ERROR)
    while isinstance(error, tuple) and error:
        error = error[0]
    return None if error is None else str(plain_form(error))

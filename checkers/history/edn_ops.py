"""The operations of a Jepsen history in EDN, for models and workloads: names as strings, values as JSON has them.

Clients are the processes with a number, as for Jepsen's ``client-ops``; of another, such as ``:nemesis``, the name keeps its colon.
Times are in µs. The class of an ``:exception``, else the first word of the ``:error``, becomes the error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from tidemark.checkers.history.edn.forms import EdnMap, EdnSet, Form, Keyword, Symbol, Tagged
from tidemark.checkers.history.edn.operations import EdnOp, operations
from tidemark.checkers.history.history import Op
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
    return edn_ops(operations(file))


def edn_ops(found: Iterable[EdnOp]) -> list[Op]:
    """Operations as those of our own histories."""
    return [
        Op(
            0 if one.time is None else one.time // 1000,
            str(one.process),
            one.type,
            str(plain_form(one.f)),
            _value(one),
            _error(one.fields),
            None,
            one.fields.get(_FINAL) is True,
        )
        for one in found
    ]


def _value(one: EdnOp) -> Json:
    """An operation on a key may tell it apart from its value (``:key``, Porcupine's test data), as Jepsen's own do not."""
    value = plain_form(one.value)
    return [plain_form(one.fields[_KEY]), value] if _KEY in one.fields else value


def plain_form(form: Form) -> Json:
    """A form as JSON has it: a keyword is its name, a set a list."""
    if isinstance(form, Keyword | Symbol):
        return form.name
    if isinstance(form, EdnMap):
        return {str(plain_form(key)): plain_form(value) for key, value in form.items()}
    if isinstance(form, tuple | EdnSet):
        return [plain_form(one) for one in form]
    if isinstance(form, Tagged):
        return plain_form(form.form)
    return form if form is None or isinstance(form, bool | int | float | str) else str(form)


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

"""The operations of a Jepsen history in EDN, one by one: a vector of maps or a map per line, plain or ``#jepsen.history.Op{…}``.

Invocations and completions are as they come: whoever needs pairs finds them by process. Indices are kept, and nothing depends on
them. Source: jepsen.history's ``Op``, jepsen.store's ``history.edn``.

>>> op = next(operations([b"{:type :invoke, :process 0, :f :write, :value 3, :time 12, :error [:x 1]}"]))
>>> op.process, op.type, op.f, op.value, op.time, op.number
(0, 'invoke', :write, 3, 12, None)
>>> op.fields[Keyword("error")]
(:x, 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tidemark.checkers.history.edn.forms import EdnMap, Form, Keyword, Tagged
from tidemark.checkers.history.edn.reader import EdnError, elements
from tidemark.checkers.history.edn.writer import written

RECORD = "jepsen.history.Op"
_INT64 = 1 << 63
_TYPES: dict[Form, str] = {Keyword(name): name for name in ("invoke", "ok", "fail", "info")}
_TYPE, _PROCESS, _F, _VALUE, _TIME, _INDEX = (
    Keyword(name) for name in ("type", "process", "f", "value", "time", "index")
)


class EdnOp(NamedTuple):
    """One half of an operation.

    Attributes:
        line: where it begins in the file.
        process: an integer for a client; else a keyword (``:nemesis``) or whatever it is.
        type: ``invoke``, ``ok``, ``fail`` or ``info``.
        f: mostly a keyword; None if there is none.
        value: its form; None if there is none.
        time: in nanoseconds; None if there is none.
        number: the ``:index`` in the file; None if there is none.
        fields: the whole map, to write it back as it was.
    """

    line: int
    process: Form
    type: str
    f: Form
    value: Form
    time: int | None
    number: int | None
    fields: EdnMap


def operations(blocks: Iterable[bytes], line: int = 1) -> Iterator[EdnOp]:
    """The operations in a file, as they are read: in its blocks, from a line on (`elements`).

    Raises:
        EdnError: the file is no EDN, or holds something that is no operation.
    """
    for number, form in elements(blocks, line):
        fields = form.form if form.__class__ is Tagged and form.tag == RECORD else form
        if fields.__class__ is not EdnMap:
            raise EdnError(number, None, f"an operation is a map, and not {_shown(form)}")
        field = fields.get
        type_ = _TYPES.get(field(_TYPE))
        if type_ is None:
            raise EdnError(number, None, f"the :type of an operation is {_NAMES}, and not {_shown(field(_TYPE))}")
        process = field(_PROCESS)
        if process is None:
            raise EdnError(number, None, "an operation needs a :process")
        yield EdnOp(
            number,
            process,
            type_,
            field(_F),
            field(_VALUE),
            _integer(field(_TIME), _TIME, number),
            _integer(field(_INDEX), _INDEX, number),
            fields,
        )


_NAMES = ":invoke, :ok, :fail or :info"


def _integer(form: Form, name: Keyword, line: int) -> int | None:
    if form is None or (type(form) is int and -_INT64 <= form < _INT64):
        return form
    raise EdnError(line, None, f"the {name} of an operation is an integer of 64 bits, and not {_shown(form)}")


def _shown(form: Form) -> str:
    text = written(form)
    return text if len(text) <= 60 else f"{text[:57]}…"

r"""A writer of EDN: one line for a form, as Clojure prints it.

>>> from tidemark.checkers.history.edn.forms import Keyword
>>> written({Keyword("f"): Keyword("read"), Keyword("value"): (1, None, 'a "b"')})
'{:f :read, :value [1 nil "a \\"b\\""]}'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import isfinite, isnan

from tidemark.checkers.history.edn.forms import (
    Char,
    EdnList,
    EdnMap,
    EdnSet,
    Form,
    Keyword,
    Long,
    Precise,
    Symbol,
    Tagged,
)

_OBEYED = (*range(0x20), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_CONTROL = {chr(number): f"\\u{number:04x}" for number in _OBEYED}
"""What a terminal would obey; EDN has an escape for each."""
_ESCAPES = str.maketrans(
    _CONTROL | {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
)


def written(form: Form) -> str:
    """`form` as EDN, without a line end; also of plain tuples, lists, dicts and sets.

    Raises:
        TypeError: there is no EDN for it.
    """
    write = _WRITERS.get(type(form))
    if write is None:
        raise TypeError(f"EDN has nothing for {type(form).__name__}")
    return write(form)


def _float(number: float) -> str:
    if isfinite(number):
        return repr(number)
    return "##NaN" if isnan(number) else "##Inf" if number > 0 else "##-Inf"


def _string(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _row(forms: Iterable[Form]) -> str:
    return " ".join([written(form) for form in forms])


def _map(pairs: Mapping[Form, Form]) -> str:
    return "{" + ", ".join([f"{written(key)} {written(value)}" for key, value in pairs.items()]) + "}"


def _vector(forms: Iterable[Form]) -> str:
    return f"[{_row(forms)}]"


def _set(forms: Iterable[Form]) -> str:
    return "#{" + _row(forms) + "}"


def _tagged(form: Tagged) -> str:
    between = "" if form.tag.startswith(":") or isinstance(form.form, dict) else " "
    return f"#{form.tag}{between}{written(form.form)}"


_WRITERS: dict[type, Callable[[Form], str]] = {
    type(None): lambda _: "nil",
    bool: lambda form: "true" if form else "false",
    int: str,
    float: _float,
    str: _string,
    Keyword: str,
    Symbol: str,
    Char: str,
    Long: lambda form: f"{int(form)}N",
    Precise: lambda form: f"{Decimal(form)}M",
    Fraction: lambda form: f"{form.numerator}/{form.denominator}",
    tuple: _vector,
    list: _vector,
    EdnList: lambda form: f"({_row(form)})",
    EdnMap: _map,
    dict: _map,
    EdnSet: _set,
    frozenset: _set,
    Tagged: _tagged,
}

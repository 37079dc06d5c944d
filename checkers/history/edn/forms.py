r"""What an EDN form is in Python. Every form can be a key of a map.

| EDN | Python |
|---|---|
| ``nil`` ``true`` ``1`` ``1.5`` ``"a"`` | ``None`` ``True`` ``1`` ``1.5`` ``"a"`` |
| ``1N`` ``1.5M`` ``1/2`` | `Long` (an int), `Precise` (a Decimal), ``Fraction`` |
| ``:a`` ``a`` ``\a`` | `Keyword`, `Symbol`, `Char`: one object for each, compared by identity |
| ``[…]`` ``(…)`` | a tuple, `EdnList` (equal to the tuple of the same forms, as in Clojure) |
| ``{…}`` ``#{…}`` | `EdnMap` (a dict), `EdnSet`; both in the order of the file |
| ``#tag form`` | `Tagged` |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

Form = Any
"""Any of the above."""


class _Name:
    """A word that is there once, so that to compare and to hash it costs nothing."""

    __slots__ = ("__weakref__", "name")
    name: str
    _all: ClassVar[WeakValueDictionary[str, Any]]

    def __init_subclass__(cls) -> None:
        cls._all = WeakValueDictionary()

    def __new__(cls, name: str) -> Self:
        word = cls._all.get(name)
        if word is None:
            word = object.__new__(cls)
            word.name = name
            cls._all[name] = word
        return word

    def __repr__(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.name,)


class Keyword(_Name):
    """``:name``; `name` is without the colon, and with the namespace and its slash."""

    __slots__ = ()

    def __str__(self) -> str:
        return f":{self.name}"


class Symbol(_Name):
    """``name``."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.name


class Char(_Name):
    """One character; `name` is itself."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"\\{_CHARS.get(self.name, self.name)}"


_CHARS = {
    "\n": "newline",
    " ": "space",
    "\t": "tab",
    "\r": "return",
    "\b": "backspace",
    "\f": "formfeed",
    "\0": "u0000",
}
"""The characters with names, as Clojure prints them."""


class Long(int):
    """An integer that was written with an ``N``; equal to the one without."""


class Precise(Decimal):
    """A decimal that was written with an ``M``."""

    __slots__ = ()


class EdnList(tuple[Form, ...]):
    """``(…)``."""

    __slots__ = ()


class EdnMap(dict[Form, Form]):
    """``{…}``. Nobody may change one that is a key or in a set."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


@dataclass(frozen=True, slots=True)
class EdnSet:
    """``#{…}``."""

    forms: tuple[Form, ...]

    def __iter__(self) -> Iterator[Form]:
        return iter(self.forms)

    def __len__(self) -> int:
        return len(self.forms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EdnSet) and frozenset(self.forms) == frozenset(other.forms)

    def __hash__(self) -> int:
        return hash(frozenset(self.forms))


@dataclass(frozen=True, slots=True)
class Tagged:
    """``#tag form``; the tag is without its ``#``."""

    tag: str
    form: Form

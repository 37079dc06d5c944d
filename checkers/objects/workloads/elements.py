"""Collections of elements for people: in order, and short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidemark.checkers.objects.values import Value
from tidemark.checkers.verdict.verdict import Json


def in_order(values: Iterable[Value]) -> list[Value]:
    """Numbers first, by size; then everything else by its text."""
    return sorted(values, key=by_size)


def by_size(value: Value) -> tuple[int, float, str]:
    """What to sort elements by."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0, value, ""
    return 1, 0, f"{type(value).__name__} {value!r}"


def intervals(values: Iterable[Value]) -> str:
    """Such as ``#{1 3..5 "a"}``, Jepsen's ``integer-interval-set-str``."""
    words: list[str] = []
    low = high = None
    for one in [*in_order(values), None]:
        if low is not None and high is not None and type(one) is int and one == high + 1:
            high = one
            continue
        if low is not None:
            words.append(str(low) if low == high else f"{low}..{high}")
        low = high = one if type(one) is int else None
        if low is None and one is not None:
            words.append(repr(one))
    return f"#{{{' '.join(words)}}}"


def listed(value: Json, what: str, index: int) -> Sequence[Value]:
    """The elements that an operation was answered with.

    Raises:
        ValueError: it is no collection.
    """
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise ValueError(f"operation {index}: {what} answers with a list of elements, and not with {value!r}")

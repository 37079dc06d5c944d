r"""EDN as JSON text, for lines such as Clojure prints them: many at once, and no token by itself.

A line is a map at the top level. It becomes an object whose names are keywords; a map further in becomes an object with one list,
``{"": [key, value, …]}``, for its keys may be of any kind. A keyword becomes a string with its colon, and no other begins so.
Whatever JSON does not write in the same way is refused here, or what comes out is no JSON.

>>> json_text(b'{:f :poll, :value [[:poll {0 [[7 "a, b"]]}]]}\n')
b'{":f": ":poll",":value": [[":poll",{"":[0,[[7,"a, b"]]]}]]}\n'
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

NAME: Final = b'": '
"""Follows the name of each field of a line, and stands nowhere else."""
MAP: Final = b'{"":['
"""Begins each map further in, likewise."""

_MOST_CHARACTERS: Final = 1000
"""So many may a number or a name have; a number of EDN may have no more."""
_DEEPEST: Final = 100
"""So far may forms be nested. EDN may go a little further."""
_CONTROL: Final = bytes(range(0x20))
_PLAIN: Final = bytes(sorted({*b"\n", *range(0x20, 0x7F)} - set(b"\\;()^#")))
"""What may stand outside of strings, of which a quote is left there."""

_COLON, _SPACE, _COMMA, _NEWLINE, _NIL = b": ,\nn"
_CLOSE, _OPEN_MAP, _CLOSE_MAP = b"]{}"
_ENDS: Final = np.isin(np.arange(256), list(b' ,\n[]{}"'))
"""What ends a name or a number."""
_DEEPER: Final = np.zeros(256, np.int8)
_DEEPER[list(b"[{")] = 1
_DEEPER[list(b"]}")] = -1
_KEYWORD, _NAMED, _AND, _IN_LIST, _IN_FIELD, _IN_MAP, _MAP, _OF_MAP, _NOTHING = range(1, 10)
"""What stands, while strings are left out, for what is longer in JSON."""
_WRITTEN: Final = (
    (_KEYWORD, b'":'),  # it begins; in the others one ends
    (_NAMED, NAME),
    (_AND, b'",'),
    (_IN_LIST, b'"]'),
    (_IN_FIELD, b'"}'),
    (_IN_MAP, b'"]}'),
    (_MAP, MAP),
    (_OF_MAP, b"]}"),
)


class NoTextError(ValueError):
    """Some lines hold what is not written the same way in JSON."""


def json_text(lines: bytes) -> bytes:
    """Whole lines as lines of JSON, if the decoder is strict and takes them.

    Raises:
        NoTextError: they may mean something else in JSON.
    """
    strings, outside = _apart(lines)
    if outside.strip(b"\n"):
        outside = _coded(outside.replace(b", ", b","))
    strings[::2] = outside.split(b'"')
    text = b'"'.join(strings)
    for code, written in _WRITTEN:
        text = text.replace(bytes((code,)), written)
    return text.replace(bytes((_NOTHING,)) + b"il", b"null")


def may_be_text(line: bytes) -> bool:
    """Whether a line has neither characters nor strings that stand in the way."""
    try:
        _apart(line)
    except NoTextError:
        return False
    return True


def _apart(lines: bytes) -> tuple[list[bytes], bytes]:
    """What stands between quotes, and what else does, with a quote for each string."""
    strings = lines.split(b'"')
    outside, within = b'"'.join(strings[::2]), b"".join(strings[1::2])
    if (
        len(strings) % 2 == 0
        or outside.translate(None, _PLAIN)
        or b"null" in outside
        or b'":' in lines
        or b"\\" in within
        or len(within.translate(None, _CONTROL)) != len(within)
    ):
        raise NoTextError
    return strings, outside


def _coded(outside: bytes) -> bytes:
    """What stands outside of strings as JSON has it, but for bytes that stand for more."""
    text = np.frombuffer(bytearray(outside), np.uint8)
    ends = np.flatnonzero(_ENDS[text])
    if not len(ends):
        raise NoTextError
    end = text[ends]
    depth = np.cumsum(_DEEPER[end], dtype=np.int16)
    begins = np.concatenate([[0], ends[:-1] + 1])
    size = ends - begins
    first = text[begins]
    is_keyword = first == _COLON
    if (
        size.max() > _MOST_CHARACTERS
        or depth.max() > _DEEPEST
        or depth[end == _NEWLINE].any()
        or (size[is_keyword] < 2).any()
        or np.count_nonzero(is_keyword) != outside.count(b":")
        or _has_exponent(text)
    ):
        raise NoTextError
    further = depth > 1
    space, closes = end == _SPACE, end == _CLOSE_MAP
    inner = closes & (depth > 0)
    coded = end.copy()
    coded[space & further] = _COMMA
    coded[(end == _OPEN_MAP) & further] = _MAP
    coded[inner] = _OF_MAP
    coded[is_keyword & (space | (end == _COMMA))] = _AND
    coded[is_keyword & space & ~further] = _NAMED
    coded[is_keyword & (end == _CLOSE)] = _IN_LIST
    coded[is_keyword & closes] = _IN_FIELD
    coded[is_keyword & inner] = _IN_MAP
    text[ends] = coded
    text[begins[is_keyword]] = _KEYWORD
    if b"nil" in outside:
        nil = begins[(first == _NIL) & (size == 3)]
        text[nil[(text[nil + 1] == ord("i")) & (text[nil + 2] == ord("l"))]] = _NOTHING
    return text.tobytes()


def _has_exponent(text: NDArray[np.uint8]) -> bool:
    """Of them JSON knows more."""
    after = (text[1:] | 0x20) == ord("e")
    return bool((after & (text[:-1] >= ord("0")) & (text[:-1] <= ord("9"))).any())

"""The tokens of EDN that mean something by themselves: numbers, names, strings, characters."""

from __future__ import annotations

import re
from fractions import Fraction

from tidemark.checkers.history.edn.forms import Char, Form, Keyword, Long, Precise, Symbol

MOST_DIGITS = 1000
"""A number with more characters than that is refused."""

_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|([0-9]{1,2})[rR]([0-9a-zA-Z]+)|([0-9]+))(N?)")
_FLOAT = re.compile(r"([+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?)(M?)")
_RATIO = re.compile(r"([+-]?[0-9]+)/([0-9]+)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([0-3]?[0-7]{1,2})|(.)|$)", re.DOTALL)
_HALVES = re.compile("[\ud800-\udfff]")
_ESCAPED = {"t": "\t", "r": "\r", "n": "\n", "b": "\b", "f": "\f", "\\": "\\", '"': '"', "'": "'"}
_NAMED = {"newline": "\n", "space": " ", "tab": "\t", "return": "\r", "backspace": "\b", "formfeed": "\f", "nul": "\0"}
_CONSTANTS: dict[str, Form] = {"nil": None, "true": True, "false": False}


class WordError(ValueError):
    """What is wrong with a token, as a sentence without its place."""


def word(token: str) -> Form:
    """What a token means that is no bracket and begins with no ``#``, ``^`` or ``;``.

    Raises:
        WordError: nothing.
    """
    first = token[0]
    if first == ":":
        if token[1:2] in ("", ":"):
            raise WordError(f"{token} is no keyword")
        return Keyword(token[1:])
    if first.isdigit() or (first in "+-" and len(token) > 1 and token[1].isdigit()):
        return _number(token)
    if first == '"':
        return _string(token)
    if first == "\\":
        return _char(token[1:])
    return _CONSTANTS[token] if token in _CONSTANTS else Symbol(token)


def _number(token: str) -> Form:
    if len(token) > MOST_DIGITS:
        raise WordError(f"a number has more than {MOST_DIGITS} digits")
    if found := _INTEGER.fullmatch(token):
        sign, hexadecimal, base, of_base, decimal, long = found.groups()
        return _integer(token, sign + (hexadecimal or of_base or decimal), hexadecimal, base, long)
    if found := _FLOAT.fullmatch(token):
        return Precise(found[1]) if found[2] else float(found[1])
    if (found := _RATIO.fullmatch(token)) and int(found[2]):
        ratio = Fraction(int(found[1]), int(found[2]))
        return ratio.numerator if ratio.denominator == 1 else ratio
    raise WordError(f"{_short(token)} is no number")


def _integer(token: str, digits: str, hexadecimal: str | None, base: str | None, long: str) -> int:
    if base is not None and not 2 <= int(base) <= 36:
        raise WordError(f"{_short(token)} is no number: there is no base {base}")
    try:
        value = int(digits, 16 if hexadecimal else int(base or 10))
    except ValueError:
        raise WordError(f"{_short(token)} is no number of base {base}") from None
    return Long(value) if long else value


def _string(token: str) -> str:
    body = token[1:-1]
    if len(token) == 1 or token[-1] != '"':
        raise WordError("this string has no end")
    if "\\" in body:
        body = _ESCAPE.sub(_escaped, body)
        if _HALVES.search(body):
            body = _whole(body)
    return body


def _escaped(found: re.Match[str]) -> str:
    hexadecimal, octal, letter = found.groups()
    if hexadecimal:
        return chr(int(hexadecimal, 16))
    if octal:
        return chr(int(octal, 8))
    if letter not in _ESCAPED:
        raise WordError(f"\\{letter or ''} is no escape")
    return _ESCAPED[letter]


def _whole(body: str) -> str:
    """Two escapes may stand for the halves of one character, as in Java."""
    try:
        return body.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise WordError("an escape stands for half a character") from None


def _char(name: str) -> Char:
    if len(name) == 1 and not name.isspace():
        return Char(name)
    if name in _NAMED:
        return Char(_NAMED[name])
    if re.fullmatch(r"u[0-9a-fA-F]{4}", name):
        code = int(name[1:], 16)
        if not 0xD800 <= code < 0xE000:
            return Char(chr(code))
    if re.fullmatch(r"o[0-3]?[0-7]{1,2}", name):
        return Char(chr(int(name[1:], 8)))
    raise WordError(f"\\{_short(name)} is no character")


def _short(token: str) -> str:
    return token if len(token) <= 40 else f"{token[:36]}…"

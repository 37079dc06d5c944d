"""A reader of EDN that streams: what it holds is one form, and a block of the file.

A block is cut into tokens by one regular expression, and a loop with a stack of its own puts them together, so that depth is
bounded by `DEEPEST` and not by Python's. What a token means is understood once, and then looked up. In which column a token is,
is only asked when it is wrong.

>>> read_all('{:f :poll, :value [[:poll {0 [[7 "a"]]}]]} ; a comment')
[{:f: :poll, :value: ((:poll, {0: ((7, 'a'),)}),)}]
>>> read_all(' [1')
Traceback (most recent call last):
tidemark.checkers.history.edn.reader.EdnError: line 1, column 4: the file ends before the [ of line 1 is closed
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from operator import length_hint
from typing import BinaryIO

from tidemark.checkers.history.edn.forms import EdnList, EdnMap, EdnSet, Form, Tagged
from tidemark.checkers.history.edn.words import WordError, word

DEEPEST = 128
"""So far may forms be nested."""
LONGEST = 1 << 24
"""So many characters may a token have."""
BLOCK = 1 << 18
"""So many bytes are taken at a time."""
_TOO_LONG = f"this token has more than {LONGEST} characters"
_REMEMBERED = 1 << 16
"""So many tokens are looked up; what else there is, is understood anew each time."""

_TOKEN = re.compile(
    r"""
      [\[\]{}()\n^]
    | [^\s,\[\]{}()"\\;\#^][^\s,\[\]{}()";\\]*+     # a name or a number
    | "(?:[^"\\]++|\\.|\\\Z)*+"?                    # a string; one without end goes on in the next block
    | \\(?:[^\s,\[\]{}()";\\]+|.)?                  # a character
    | \#(?:[{_^"'(]|[^\s,\[\]{}()"\\;]+)?           # a set, a form to skip, a tag
    | ;[^\n]*
    """,
    re.VERBOSE | re.DOTALL,
)


class EdnError(ValueError):
    """A file is no EDN, or its operations are none; `line` and `column` count from 1. The column may be unknown."""

    def __init__(self, line: int, column: int | None, sentence: str) -> None:
        place = f"line {line}" if column is None else f"line {line}, column {column}"
        super().__init__(f"{place}: {sentence}")
        self.line = line
        self.column = column
        self.sentence = sentence


def read_all(text: str) -> list[Form]:
    """The forms of a text.

    Raises:
        EdnError: it is no EDN.
    """
    return [form for _, form in _Reader((text.encode(),)).forms(inside=False)]


def blocks_of(file: BinaryIO) -> Iterator[bytes]:
    """What is in a file, one part after the other."""
    return iter(partial(file.read, BLOCK), b"")


def elements(blocks: Iterable[bytes], line: int = 1) -> Iterator[tuple[int, Form]]:
    """The forms of a file with the lines in which they begin. Of a vector or list at the top level its elements, one by one.

    Args:
        blocks: what is in the file, from the beginning of a line on at which no form is open.
        line: the number of that line.

    Raises:
        EdnError: what follows is no EDN.
    """
    return _Reader(blocks, line).forms(inside=True)


def _map(forms: list[Form]) -> EdnMap:
    if len(forms) % 2:
        raise WordError("this map has a key without a value")
    pairs = iter(forms)
    made = EdnMap(zip(pairs, pairs, strict=True))
    if len(made) * 2 != len(forms):
        raise WordError("this map has the same key twice")
    return made


def _set(forms: list[Form]) -> EdnSet:
    if len(frozenset(forms)) != len(forms):
        raise WordError("this set has the same form twice")
    return EdnSet(tuple(forms))


class _Mark:
    """What a token means that is no form by itself."""

    __slots__ = ("closes", "kind", "make", "needs", "token")

    def __init__(self, kind: str, token: str, make: _Make | None = None, closes: str = "", needs: int = 1) -> None:
        self.kind = kind
        self.token = token
        self.make = make or (lambda forms: forms[0])
        self.closes = closes
        self.needs = needs
        """How many forms must follow a prefix."""


_Make = Callable[[list[Form]], Form]
_OPEN, _CLOSE, _PREFIX, _NEWLINE, _COMMENT, _LINES = "open", "close", "prefix", "newline", "comment", "string of lines"
_NOTHING = object()
_MARKS = (
    _Mark(_NEWLINE, "\n"),
    _Mark(_OPEN, "[", tuple, "]"),
    _Mark(_OPEN, "(", EdnList, ")"),
    _Mark(_OPEN, "{", _map, "}"),
    _Mark(_OPEN, "#{", _set, "}"),
    _Mark(_CLOSE, "]"),
    _Mark(_CLOSE, ")"),
    _Mark(_CLOSE, "}"),
    _Mark(_PREFIX, "#_", lambda _: _NOTHING),
    _Mark(_PREFIX, "^", lambda forms: forms[1], needs=2),
    _Mark(_PREFIX, "#^", lambda forms: forms[1], needs=2),
)
_SYMBOLIC = {"##Inf": float("inf"), "##-Inf": float("-inf"), "##NaN": float("nan")}


class _Words(dict[str, Form]):
    """Token → form or mark."""

    def __init__(self) -> None:
        super().__init__({mark.token: mark for mark in _MARKS})

    def __missing__(self, token: str) -> Form:
        if len(token) > LONGEST:
            raise WordError(_TOO_LONG)
        if token.isdigit() and token.isascii() and len(token) < 20:
            if len(token) > 6:
                return int(token)
            form: Form = int(token)
        elif token[0] == ";":
            return _Mark(_COMMENT, ";")
        elif token[0] == "#":
            form = _SYMBOLIC[token] if token in _SYMBOLIC else _tag(token)
        else:
            form = word(token)
            if token[0] == '"' and "\n" in token:
                return _Mark(_LINES, token, lambda _: form)
        if len(self) < _REMEMBERED and len(token) < 64:
            self[token] = form
        return form


def _tag(token: str) -> _Mark:
    tag = token[1:]
    if not (tag[:1].isalpha() or (tag[:1] == ":" and tag != ":")):
        raise WordError(f"{token} begins nothing")
    return _Mark(_PREFIX, token, lambda forms: Tagged(tag, forms[0]))


_Frame = tuple[_Mark, int, list[Form]]
"""A form that is not whole yet: its mark, its line, and the forms before it in what it is part of."""


class _Reader:
    def __init__(self, blocks: Iterable[bytes], line: int = 1) -> None:
        self._blocks = blocks
        self._text = ""
        self._first = self._line = line
        self._column = 1

    def forms(self, *, inside: bool) -> Iterator[tuple[int, Form]]:  # noqa: C901, PLR0912 - one loop, for its speed
        """The forms with their lines; with `inside` those of a vector or list at the top level instead of that."""
        words = _Words()
        stack: list[_Frame] = []
        items: list[Form] = []
        append = items.append
        base, line, begun, prefixed = 0, self._first, self._first, False
        for tokens in self._tokens():
            left = iter(tokens)
            try:
                for token in left:
                    mark = words[token]
                    if mark.__class__ is not _Mark:
                        append(mark)
                        if not prefixed:
                            continue
                        items, prefixed = _fold(stack, items)
                        append = items.append
                    elif (kind := mark.kind) is _CLOSE:
                        opened, _, before = _closed(stack, token)
                        if len(stack) < base:
                            base = 0
                        else:
                            before.append(opened.make(items))
                            items = before
                            if stack and stack[-1][0].kind is _PREFIX:
                                items, prefixed = _fold(stack, items)
                        if len(stack) == base:
                            for form in items:
                                yield begun, form
                            items.clear()
                        append = items.append
                    elif kind is _NEWLINE:
                        if items and len(stack) == base:
                            for form in items:
                                yield line, form
                            items.clear()
                        line += 1
                    elif kind is _OPEN or kind is _PREFIX:
                        if len(stack) == base:
                            begun = line
                            if inside and not stack and token in ("[", "("):
                                base = 1
                        elif len(stack) >= DEEPEST:
                            _refuse_depth()
                        stack.append((mark, line, items))
                        items = []
                        append = items.append
                        prefixed = kind is _PREFIX
                    elif kind is _LINES:
                        append(mark.make([]))
                        line += token.count("\n")
                        if prefixed:
                            items, prefixed = _fold(stack, items)
                            append = items.append
            except WordError as error:
                raise self._error(len(tokens) - length_hint(left) - 1, str(error)) from None
        if stack:
            raise self._error(None, _unfinished(stack[-1]))
        for form in items:
            yield line, form

    def _pieces(self) -> Iterator[bytes]:
        for block in self._blocks:
            yield from (block[begin : begin + BLOCK] for begin in range(0, len(block), BLOCK))

    def _tokens(self) -> Iterator[list[str]]:
        """The tokens of the file, block by block. The last token of a block may go on in the next, and then belongs to that. What
        is no UTF-8 is told when all before it is taken.
        """
        decoder = codecs.getincrementaldecoder("utf-8")()
        rest = ""
        begins = self._first == 1
        for block in chain(self._pieces(), (b"",)):
            wrong = None
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                text = error.object[: error.start].decode()
                wrong = f"byte 0x{error.object[error.start]:02x} is no UTF-8"
            if begins:
                text, begins = text.removeprefix("\ufeff"), False
            self._advance(rest)
            self._text = rest + text
            tokens = _TOKEN.findall(self._text)
            rest = ""
            if (block or wrong) and tokens and tokens[-1] != "\n" and self._text.endswith(tokens[-1]):
                rest = tokens.pop()
                if len(rest) > LONGEST:
                    yield tokens
                    raise self._error(len(tokens), _TOO_LONG)
            yield tokens
            if wrong:
                raise self._error(None, wrong)

    def _advance(self, rest: str) -> None:
        """The text that was judged lies behind, but for its last token."""
        done = self._text[: len(self._text) - len(rest)]
        self._line, self._column = self._place(len(done))

    def _place(self, position: int) -> tuple[int, int]:
        """The line and column of a position in the text."""
        lines = self._text.count("\n", 0, position)
        if not lines:
            return self._line, self._column + position
        return self._line + lines, position - self._text.rfind("\n", 0, position)

    def _error(self, index: int | None, sentence: str) -> EdnError:
        """An error at a token of the text, or at its end."""
        position = len(self._text)
        if index is not None:
            position = next(islice(_TOKEN.finditer(self._text), index, None)).start()
        return EdnError(*self._place(position), sentence)


def _refuse_depth() -> None:
    raise WordError(f"forms are nested more than {DEEPEST} deep")


def _closed(stack: list[_Frame], token: str) -> _Frame:
    """Takes the collection that a bracket closes from the stack."""
    if not stack:
        raise WordError(f"this {token} closes nothing")
    if stack[-1][0].closes != token:
        raise WordError(_wrong(stack[-1], token))
    return stack.pop()


def _fold(stack: list[_Frame], items: list[Form]) -> tuple[list[Form], bool]:
    """The forms with what the prefixes on the stack make of the last, and whether prefixes are left that wait for more."""
    while stack and stack[-1][0].kind is _PREFIX:
        mark, _, before = stack[-1]
        if len(items) < mark.needs:
            return items, True
        stack.pop()
        form = mark.make(items)
        items = before
        if form is not _NOTHING:
            items.append(form)
    return items, False


def _wrong(frame: _Frame, token: str) -> str:
    mark, line, _ = frame
    if mark.kind is _PREFIX:
        return f"there is no form after the {mark.token} of line {line}"
    return f"this {token} does not close the {mark.token} of line {line}"


def _unfinished(frame: _Frame) -> str:
    mark, line, _ = frame
    if mark.kind is _PREFIX:
        return f"the file ends, and there is no form after the {mark.token} of line {line}"
    return f"the file ends before the {mark.token} of line {line} is closed"

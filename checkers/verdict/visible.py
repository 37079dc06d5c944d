"""Text that anybody's history brought along, so that a terminal or a picture shows it and obeys nothing in it."""

from __future__ import annotations

import re
from typing import Final

_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Control characters but tab and newline, marks that turn the direction of text, and what no XML may hold."""


def visible(text: str) -> str:
    r"""The text with ``^[`` and the like in place of control characters, and ``�`` for what else must not be obeyed.

    >>> visible("\x1b[31mred\x00")
    '^[[31mred^@'
    """
    return _OBEYED.sub(_picture, text) if _OBEYED.search(text) else text


def brief(text: str, most: int) -> str:
    """The text, or its beginning and its end, if it has more characters than somebody wants to read.

    >>> brief("a record of a key of many letters", 20)
    'a record of … etters'
    """
    end = most // 3
    return text if len(text) <= most else f"{text[: most - end - 2].rstrip()} … {text[-end:].lstrip()}"


def _picture(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"^{chr(number ^ 0x40)}" if number < 0x80 else "\ufffd"

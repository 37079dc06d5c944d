"""Lines of JSON decoded many at once by the types of their fields (msgspec). Other fields that lines have are learned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

NOT_DECODED: Final = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoding raises."""
MOST_OTHERS: Final = 16
"""So many fields that nobody knows may lines have, and still be read at once."""

_Fields = tuple[tuple[Any, ...], ...]


class TypedLines:
    """Decodes the lines of one file.

    Args:
        fields: name, type, and if a line may be without it, what there is then.
        names: what a field is called in the file, if not as here.
        of_others: what there is of a field that nobody knows in a line that is without it.
    """

    def __init__(
        self,
        fields: _Fields,
        names: Mapping[str, str] | None = None,
        of_others: Any = None,  # noqa: ANN401 - whatever it is
    ) -> None:
        self._fields = fields
        self._names = dict(names or {})
        self._known = frozenset(self._names.get(field[0], field[0]) for field in fields)
        self._of_others = of_others
        self.others: frozenset[str] = frozenset()
        """The names of the others. In what is decoded they are called `other_0` and so on."""

    @property
    def decoder(self) -> msgspec.json.Decoder[Any]:
        """Of one line, or several. What it does not expect, it refuses."""
        return _decoder(self._fields, tuple(self._names.items()), self._of_others, self.others)

    def decoded(self, lines: bytes) -> list[Any] | None:
        """The objects in some lines; None if they are not as expected."""
        try:
            return self.decoder.decode_lines(lines)
        except NOT_DECODED:
            return self.decoded(lines) if self.learn(lines[: lines.find(b"\n")]) else None

    def learn(self, line: bytes) -> bool:
        """Whether a line has other fields than were known, and they may be read from now on."""
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            return False
        others = self.others | (entry.keys() - self._known) if isinstance(entry, dict) else self.others
        if others == self.others or len(others) > MOST_OTHERS:
            return False
        self.others = others
        return True


@lru_cache(maxsize=2 * MOST_OTHERS)
def _decoder(
    fields: _Fields,
    names: tuple[tuple[str, str], ...],
    of_others: Any,  # noqa: ANN401 - see above
    others: frozenset[str],
) -> msgspec.json.Decoder[Any]:
    more = {f"other_{number}": name for number, name in enumerate(sorted(others))}
    shape = msgspec.defstruct(
        "Half",
        [*fields, *((name, Any, of_others) for name in more)],
        rename={**dict(names), **more},
        forbid_unknown_fields=True,
        gc=False,
    )
    return msgspec.json.Decoder(shape)

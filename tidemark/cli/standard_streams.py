"""``tidemark … | head``, ``>&-``, ``> /dev/full``: what a command does whose output nobody takes. One place for all commands.

Who reads us may stop when it has enough, or not listen at all: what we say then is said to nobody, and the command ends with its
own exit code. What could not be written, though somebody wants it, is told in a sentence when the command has done its work.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TextIO


class UnwrittenError(Exception):
    """Some of the output could not be written; says why."""


class _Forgiving:
    """A stream that goes nowhere from the moment when it takes nothing any more; `refused` is why, if somebody was there."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.refused: OSError | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a stream has
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._goes_nowhere(error)
            return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._goes_nowhere(error)

    def _goes_nowhere(self, error: OSError) -> None:
        if not isinstance(error, BrokenPipeError):
            self.refused = self.refused or error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


@contextmanager
def forgiving_streams() -> Iterator[None]:
    """While it lasts, output that nobody takes breaks nothing off.

    Raises:
        UnwrittenError: in the end, if standard output refused something.
    """
    _open_what_is_closed()
    before = sys.stdout, sys.stderr
    out, err = _Forgiving(sys.stdout), _Forgiving(sys.stderr)
    sys.stdout, sys.stderr = out, err
    try:
        yield
    finally:
        out.flush()
        err.flush()
        sys.stdout, sys.stderr = before
    if out.refused is not None:
        raise UnwrittenError(f"not all output could be written ({out.refused.strerror})")


def _open_what_is_closed() -> None:
    """Of what the shell closed (``>&-``) the next file would get the number, and with it what is meant for a terminal."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))

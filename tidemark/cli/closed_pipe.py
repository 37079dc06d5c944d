"""``tidemark … | head``: who reads us may stop when it has enough, and what we say then is said to nobody."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO


class _Forgiving:
    """A stream that goes nowhere from the moment when nobody reads it any more."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a stream has
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._nobody_reads()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._nobody_reads()

    def _nobody_reads(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


@contextmanager
def said_to_nobody() -> Iterator[None]:
    """While it lasts, a closed pipe breaks nothing off: the command goes on, and ends with its own exit code."""
    before = sys.stdout
    forgiving = _Forgiving(before)
    sys.stdout = forgiving
    try:
        yield
    finally:
        forgiving.flush()
        sys.stdout = before

"""How a JVM's life ended, as its exit code and its last lines tell."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import NamedTuple

CLEAN, CRASH, FATAL = "clean", "crash", "fatal"
_TERMINATED = 128 + signal.SIGTERM
_MOST_LINES = 8
_MOST_CHARACTERS = 1_500
_TELLING = (" ERROR ", " FATAL ", "OutOfMemoryError", "Exception", "Terminating due to", "A fatal error")


class End(NamedTuple):
    """How a life ended.

    Attributes:
        how: as ``stop`` is traced; empty if it was killed (SIGKILL), which whoever did it traces.
        words: why it gave up; empty unless ``how`` is ``fatal``.
    """

    how: str
    words: str = ""


def end_of(code: int, *, shut_down: bool, closed: bool, gave_up: str, lines: Iterable[str]) -> End:
    """How it ended.

    Args:
        code: the exit code; negative: the signal that killed it.
        shut_down: whether an orderly shutdown came to its end.
        closed: whether its logs were closed in order, as its next life will find: it may be killed between that and its end.
        gave_up: why it gave up, in the words of its lines; empty if they do not say.
        lines: the latest of them.
    """
    if code == -signal.SIGKILL:
        return End(CLEAN if closed else "")
    if shut_down and not gave_up and code in (0, _TERMINATED):
        return End(CLEAN)
    if code in (_TERMINATED, -signal.SIGTERM) and not gave_up:
        return End(CRASH)  # SIGTERM before it could shut down in order
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return End(FATAL, f"the JVM ended by itself with {how}: {gave_up or telling(lines) or 'it printed nothing'}")


def telling(lines: Iterable[str]) -> str:
    """The last lines that say what went wrong; the very last ones if none does."""
    kept = [line.strip() for line in lines if line.strip()]
    wrong = [line for line in kept if any(word in line for word in _TELLING)]
    return " | ".join((wrong or kept)[-_MOST_LINES:])[-_MOST_CHARACTERS:]

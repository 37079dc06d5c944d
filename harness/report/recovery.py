"""How long it took after faults until operations succeeded again, and until they did so as fast as before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tidemark.harness.report.fault_spans import Episode
from tidemark.harness.report.operations import OK, Ints, Operations

SHARE_OF_BEFORE: Final = 0.9
"""The rate is back when it is this share of the rate before the faults."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What came after an episode of faults, in µs from its end; `None` where it never came in the time that was left, or there was
    nothing to compare it with.

    Attributes:
        episode: the faults.
        first_success: kind of operation → until one ended ok.
        by_key: key → until an operation that names it ended ok; only keys of which one began after the faults.
        rate_back: kind of operation → until the first success with which a time began in which at least `SHARE_OF_BEFORE` of the
            rate before succeeded: `window` µs, or as long as `LEAST` successes took before. Looked for up to the next episode.
        before: kind of operation → successes per second before the episode: in at most `BEFORE_WINDOWS` windows since the last
            episode; None if there were less than `LEAST`.
        window: µs.
    """

    episode: Episode
    first_success: dict[str, int | None]
    by_key: dict[str, int | None]
    rate_back: dict[str, int | None]
    before: dict[str, float | None]
    window: int

    @property
    def slowest_key(self) -> tuple[str, int | None] | None:
        """The key that was the last to see a success, and when; None of no key."""
        never = [key for key, time in self.by_key.items() if time is None]
        if never:
            return never[0], None
        return max(self.by_key.items(), key=lambda one: (one[1] or 0, one[0]), default=None)


BEFORE_WINDOWS: Final = 20
LEAST: Final = 10
"""Of fewer successes no rate is taken."""


def recoveries(operations: Operations, episodes: Sequence[Episode], window: int) -> list[Recovery]:
    """After each episode that was healed while clients still asked."""
    if not len(operations):
        return []
    asked_until = int(operations.began.max())
    succeeded = operations.outcome == OK
    kinds = [(f, operations.fs[f]) for f in operations.kinds]
    successes = {name: np.sort(operations.ended[succeeded & (operations.f == f)]) for f, name in kinds}
    begun = {name: operations.began[operations.f == f] for f, name in kinds}
    of_key = {
        name: (np.sort(operations.ended[chosen[succeeded[chosen]]]), operations.began[chosen])
        for name, chosen in operations.by_key.items()
    }
    found = []
    for place, episode in enumerate(episodes):
        if not episode.healed or episode.end > asked_until:
            continue
        earliest = episodes[place - 1].end if place else operations.span[0]
        latest = episodes[place + 1].start if place + 1 < len(episodes) else asked_until
        before = {name: _rate_before(times, earliest, episode.start, window) for name, times in successes.items()}
        found.append(
            Recovery(
                episode,
                {
                    name: _first(times, episode.end)
                    for name, times in successes.items()
                    if (begun[name] >= episode.end).any()
                },
                {
                    name: _first(times, episode.end)
                    for name, (times, asked) in of_key.items()
                    if (asked >= episode.end).any()
                },
                {
                    name: _rate_back(times, rate, (episode.end, latest), window)
                    for name, times in successes.items()
                    if (rate := before[name])
                },
                before,
                window,
            )
        )
    return found


def _first(times: Ints, end: int) -> int | None:
    """From `end` to the first of some sorted times that is not before it."""
    place = int(np.searchsorted(times, end))
    return int(times[place]) - end if place < len(times) else None


def _rate_before(times: Ints, earliest: int, start: int, window: int) -> float | None:
    """Per second, in the time before `start`."""
    since = max(earliest, start - BEFORE_WINDOWS * window)
    low, high = np.searchsorted(times, (since, start))
    return float(high - low) * 1e6 / (start - since) if high - low >= LEAST else None


def _rate_back(times: Ints, before: float, between: tuple[int, int], window: int) -> int | None:
    """From the beginning of `between` to the first success there after which enough succeeded, all of it inside."""
    begin, end = between
    length = max(window, round(LEAST * 1e6 / before))
    starts = times[(times >= begin) & (times + length <= end)]
    counts = np.searchsorted(times, starts + length) - np.searchsorted(times, starts)
    enough = np.flatnonzero(counts * 1e6 >= before * SHARE_OF_BEFORE * length)
    return int(starts[enough[0]]) - begin if len(enough) else None

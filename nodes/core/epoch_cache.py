"""The leader-epoch cache: which leader epoch began at which offset (KIP-101; ``leader-epoch-checkpoint`` on disk)."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

UNDEFINED = -1


class EpochEnd(NamedTuple):
    """A leader epoch and its exclusive end offset; (-1, -1) is undefined."""

    epoch: int
    offset: int


NO_EPOCH_END = EpochEnd(UNDEFINED, UNDEFINED)


class EpochCache:
    """Ordered map from leader epoch to the offset of its first record (``LeaderEpochFileCache`` in Kafka)."""

    __slots__ = ("_epochs", "_starts", "latest")

    def __init__(self, entries: tuple[tuple[int, int], ...] = ()) -> None:
        """Begin with (epoch, start offset) entries in order."""
        self._epochs = [e for e, _ in entries]
        self._starts = [o for _, o in entries]
        self.latest = self._epochs[-1] if self._epochs else UNDEFINED

    def entries(self) -> tuple[tuple[int, int], ...]:
        """All (epoch, start offset) pairs, oldest first."""
        return tuple(zip(self._epochs, self._starts, strict=True))

    def assign(self, epoch: int, start: int) -> bool:
        """Note that ``epoch`` begins at ``start``; the newest assignment wins over entries it contradicts.

        Returns:
            Whether the cache changed (it must then be written to disk).

        Raises:
            ValueError: negative epoch or offset.
        """
        if epoch < 0 or start < 0:
            msg = f"epoch {epoch} and start offset {start} must not be negative"
            raise ValueError(msg)
        if epoch == self.latest and start >= self._starts[-1]:
            return False
        while self._epochs and (self._epochs[-1] >= epoch or self._starts[-1] >= start):
            self._epochs.pop()
            self._starts.pop()
        self._epochs.append(epoch)
        self._starts.append(start)
        self.latest = epoch
        return True

    def end_offset_for(self, epoch: int, leo: int) -> EpochEnd:
        """The largest epoch not above the one asked for, and where it ends (KIP-279, step 2).

        An epoch below all known ones is answered with itself and the start of the lowest known one.
        """
        if epoch == UNDEFINED:
            return NO_EPOCH_END
        if epoch == self.latest:
            return EpochEnd(epoch, leo)
        above = bisect_right(self._epochs, epoch)
        if above == len(self._epochs):
            return NO_EPOCH_END
        if above == 0:
            return EpochEnd(epoch, self._starts[0])
        return EpochEnd(self._epochs[above - 1], self._starts[above])

    def truncate_from_end(self, offset: int) -> bool:
        """Forget epochs that begin at ``offset`` or later; says whether anything was forgotten."""
        changed = False
        while self._starts and self._starts[-1] >= offset:
            self._epochs.pop()
            self._starts.pop()
            changed = True
        self.latest = self._epochs[-1] if self._epochs else UNDEFINED
        return changed

    def truncate_from_start(self, offset: int) -> bool:
        """Forget epochs that end at or before ``offset``; the one that holds ``offset`` now begins there.

        The latest epoch stays, at ``offset``, if all its records are gone (``truncateFromStart``; in 0.11
        ``clearAndFlushEarliest``).

        Returns:
            Whether the cache changed.
        """
        floor = bisect_right(self._starts, offset)
        if floor == 0 or (floor == 1 and self._starts[0] == offset):
            return False
        del self._epochs[: floor - 1]
        del self._starts[: floor - 1]
        self._starts[0] = offset
        return True

    def clear(self) -> bool:
        """Forget everything; says whether there was anything."""
        changed = bool(self._epochs)
        self._epochs.clear()
        self._starts.clear()
        self.latest = UNDEFINED
        return changed


class EpochCache011(EpochCache):
    """The cache before KAFKA-7415 (0.11 to 1.1, and 2.0.0): an assignment that is not newer than everything known is ignored.

    Two epochs may begin at the same offset. And the answer to an epoch below the first or above all known ones is undefined
    (``LeaderEpochFileCache`` 0.11; KIP-101, whose answer names no epoch: the rule leaves it out).
    """

    __slots__ = ()

    def assign(self, epoch: int, start: int) -> bool:
        """Note a newer epoch; ignore any other assignment."""
        if epoch > self.latest and (not self._starts or start >= self._starts[-1]):
            self._epochs.append(epoch)
            self._starts.append(start)
            self.latest = epoch
            return True
        return False

    def end_offset_for(self, epoch: int, leo: int) -> EpochEnd:
        """The largest epoch not above the one asked for, and the start of the first one above it."""
        if epoch == UNDEFINED or not self._epochs or epoch < self._epochs[0]:
            return NO_EPOCH_END
        return super().end_offset_for(epoch, leo)

"""What a trace has told of partitions and their replicas, as far as marks ask for it."""

from __future__ import annotations

from tidemark.checkers.replicas.truncation_rounds import Mending


class Seen:
    """A replica as the trace tells it."""

    __slots__ = (
        *(
            "cut_behind",
            "epoch",
            "epochs",
            "follows",
            "heard",
            "hw",
            "last_epoch",
            "leading",
            "leo",
            "mending",
            "up",
            "wrote",
        ),
    )

    def __init__(self) -> None:
        self.epoch = -1
        self.leading = False
        self.up = True
        self.leo = 0
        self.hw = 0
        self.mending = Mending()
        self.follows = -1
        self.heard = -1
        """The newest epoch of which this life of its process has heard."""
        self.last_epoch = -1
        """Of its log."""
        self.epochs: list[tuple[int, int]] = []
        """Those of its log, each with where it begins."""
        self.wrote = False
        """In the reign that it leads."""
        self.cut_behind = False
        """Whether a follower truncated while this one took itself for the leader, and another had been elected."""

    def epoch_at(self, offset: int) -> int:
        """That of its record there."""
        return next((epoch for epoch, base in reversed(self.epochs) if base <= offset), -1)

    def ends_at(self, leo: int) -> None:
        """Its log was cut."""
        self.leo, epochs = leo, self.epochs
        while epochs and epochs[-1][1] >= leo:
            epochs.pop()
        self.last_epoch = epochs[-1][0] if epochs else -1


class Replicas(dict[int, Seen]):
    """Of a partition, by node; one is there when it is asked for."""

    def __missing__(self, node: int) -> Seen:
        seen = self[node] = Seen()
        return seen


class Partition:
    """A partition as the trace tells it."""

    __slots__ = (
        "away",
        "committed",
        "elected",
        "group",
        "isr",
        "leader",
        "replicas",
        "shrank_us",
        "suspect",
        "thin",
        "votes",
    )

    def __init__(self) -> None:
        self.replicas = Replicas()
        self.committed = 0
        self.elected = -1
        self.isr: tuple[int, ...] = ()
        self.away = False
        """Whether a member of the ISR has no process, or a paused one."""
        self.thin = False
        """Whether the ISR is smaller than what is written must be on."""
        self.suspect = False
        """Either: a leader that writes comes to a mark."""
        self.shrank_us: tuple[int, bool] | None = None
        """When the ISR became smaller last, and whether it has grown since."""
        self.votes = False
        """Whether its replicas elect their leader."""
        self.group: tuple[int, ...] = ()
        """Who votes, where that changes; else all replicas do."""
        self.leader = Seen()
        """Who began to lead last."""


class Partitions(dict[str, Partition]):
    """By name; one is there when it is asked for."""

    def __missing__(self, name: str) -> Partition:
        partition = self[name] = Partition()
        return partition

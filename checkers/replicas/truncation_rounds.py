"""How many answers of its leader a follower needed to bring its log in line with the leader's, apart from questions repeated.

A follower asks where an epoch ends (``OffsetForLeaderEpoch``), cuts, and asks about another epoch if that did not settle it; if it
gets no answer in time it asks the same again, which is no further round. With KIP-595 a fetch is the question, and each
answer by which the follower cuts records is a round. What a follower does from the moment it follows a leader in an epoch until its
first fetch is answered without divergence is one *mending*, if any question is answered or a fetch tells it to cut.

KIP-279's rejected alternative 2 asks about the same epoch a second time, and sends more of its own: the trace does not tell that
from a repetition.

>>> mending = [
...     (1, 2, "follow", "t-0", 3, 1, 9, 4),
...     (2, 2, "ask", "t-0", 1, 2),
...     (502, 2, "ask", "t-0", 1, 2),
...     (503, 2, "truncate", "t-0", 6, 9, "to the end of local epoch 1", 3),
...     (503, 2, "ask", "t-0", 1, 1),
...     (504, 2, "fetched", "t-0", 3, 1),
... ]
>>> rounds_needed(enumerate(mending))
Counter({2: 1})
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, Ask, Truncate
from tidemark.checkers.history.turning_points import TurningPoint

_BY_ANSWER = ("to the leader's offset", "to the end of", "to where the logs part", "leader ")
"""How the reasons of cuts begin that a leader's answer makes."""
_TELLING = frozenset({"ask", "truncate", "fetched", "follow", "lead", "stop"})
_UNANSWERED = "no answer"


class Mending:
    """What one follower does about its log in one leader epoch.

    Attributes:
        rounds: different questions that it asked, or fetches that told it to cut.
        answered: whether any question was, as far as the trace tells by now.
    """

    __slots__ = ("_asked", "answered", "rounds")

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Nothing is asked yet."""
        self.rounds = 0
        self.answered = False
        self._asked: int | None = None

    def ask(self, epoch: int) -> int:
        """It asks about an epoch; returns the rounds if this is a new one, 0 if it asks the same again."""
        if epoch == self._asked:
            return 0
        self.answered = self.answered or self._asked is not None
        self._asked = epoch
        self.rounds += 1
        return self.rounds

    def cut(self, reason: str) -> int:
        """It cuts; returns the rounds if it was told to by a fetch, which is a new one, and 0 if it had asked or nobody told it."""
        if reason.startswith(_UNANSWERED):
            self.begin()
        if not reason.startswith(_BY_ANSWER):
            return 0
        self.answered = True
        if self._asked is not None:
            return 0
        self.rounds += 1
        return self.rounds

    def fetched(self) -> None:
        """It may fetch: what it asked was answered."""
        self.answered = self.rounds > 0


def rounds_needed(points: Iterable[TurningPoint]) -> Counter[int]:
    """Rounds → how many mendings of a run's followers took so many."""
    mendings: defaultdict[int, defaultdict[str, Mending]] = defaultdict(lambda: defaultdict(Mending))
    found: Counter[int] = Counter()

    def end(*those: Mending) -> None:
        for mending in those:
            if mending.answered:
                found[mending.rounds] += 1
            mending.begin()

    for _, event in points:
        if event[KIND] not in _TELLING:
            continue
        node, partition = event[NODE], event[PARTITION]
        match event[KIND]:
            case "ask":
                mendings[node][partition].ask(Ask(event).epoch)
            case "truncate":
                mendings[node][partition].cut(Truncate(event).reason)
            case "fetched":
                mendings[node][partition].fetched()
                end(mendings[node][partition])
            case "follow" | "lead":
                end(mendings[node][partition])
            case "stop":
                end(*mendings[node].values())
    for of_node in mendings.values():
        end(*of_node.values())
    return found

"""What is told of compaction on docs/compaction.md: an epoch whose records are all gone, and a cache rebuilt without it.

The leader's log is 0:a0..a4 1:b5 2:c6..c8; b5 has been superseded, and compacted away. The follower has a0 to b5.
"""

from typing import NamedTuple

import pytest

from tidemark.nodes.core.epoch_cache import EpochCache, EpochEnd
from tidemark.nodes.core.truncation import RULES, Question

KEPT = EpochCache(((0, 0), (1, 5), (2, 6)))
REBUILT = EpochCache(((0, 0), (2, 6)))


class Leader(NamedTuple):
    """Its log, as a rule sees it."""

    cache: EpochCache

    def end_offset_for(self, epoch):
        return self.cache.end_offset_for(epoch, 9)


class Follower(NamedTuple):
    """Its log, as a rule sees it: b5 is committed, and it knows."""

    leo: int = 6
    hw: int = 6

    @property
    def latest_epoch(self):
        return self._cache.latest

    @property
    def _cache(self):
        return EpochCache(((0, 0), (1, 5)))

    def end_offset_for(self, epoch):
        return self._cache.end_offset_for(epoch, self.leo)


@pytest.mark.parametrize(
    ("leader", "answer", "cut"),
    [
        pytest.param(KEPT, EpochEnd(1, 6), 6, id="the history is kept: nothing is cut"),
        pytest.param(REBUILT, EpochEnd(0, 6), 5, id="rebuilt from the batches: a committed record is cut"),
    ],
)
@pytest.mark.parametrize("rule", ["kip279", "fetch"])
def test_an_epoch_that_the_leader_has_forgotten_is_cut(rule, leader, answer, cut):
    told = RULES[rule].leaders_answer(Leader(leader), Question(1))

    assert told == answer
    assert RULES[rule].on_answer(Follower(), told).cut == cut


def test_kip101_compares_offsets_and_is_not_hurt():
    """What it is told is where epoch 2 begins, whether or not there was an epoch 1."""
    for leader in (KEPT, REBUILT):
        told = RULES["kip101"].leaders_answer(Leader(leader), Question(1))

        assert RULES["kip101"].on_answer(Follower(), told).cut == 6

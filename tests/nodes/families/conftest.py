"""A server on its own: what it is told goes in, what it would send comes out."""

import pytest

from tidemark.nodes.core.actions import Append, Send, Sync, Truncate, WriteVote
from tidemark.nodes.core.events import Started
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.recovery import Recovered, RecoveredPartition
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.families import family_of, parse_variant

NAME = "t-0"


class Alone:
    """Server ``node_id`` of a group; the others are played by the test."""

    def __init__(self, variant, node_id=1, size=3, log=(), vote=None, hw=0, incarnation=2):
        variant = parse_variant(variant)
        batches = [Batch(base, generation, values) for base, generation, values in log]
        votes = {} if vote is None else {NAME: vote}
        recovered = Recovered({NAME: RecoveredPartition(batches, (), hw)}, votes=votes)
        group = {NAME: tuple(range(1, size + 1))}
        self.machine = family_of(variant).machine(node_id, incarnation, variant, Settings(), recovered, group)
        self.now = 0
        self.tell(Started())

    @property
    def replica(self):
        return self.machine.replicas[NAME]

    def tell(self, message):
        self.now += 1_000
        self.done = list(self.machine.step(self.now, message))
        return self.sent()

    def sent(self, kind=object):
        return [action.message for action in self.done if isinstance(action, Send) and isinstance(action.message, kind)]

    def order(self):
        """What it did to its disk and the network, by kind, in order."""
        kinds = (Append, Send, Sync, Truncate, WriteVote)
        return [type(action).__name__ for action in self.done if isinstance(action, kinds)]

    def log(self):
        return [(batch.base, batch.epoch, tuple(batch.values)) for batch in self.replica.log.batches]


@pytest.fixture
def alone():
    return Alone

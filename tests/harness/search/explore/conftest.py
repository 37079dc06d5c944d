"""Places and commons put together by hand."""

import pytest

from tidemark.harness.search.explore.frozen import Common, ControllerState, Place, Replica, Term
from tidemark.nodes.core.roles import Role


def leader(node, log, hw, isr, epoch=0, known=(), pending=None):
    others = [b for b in (1, 2, 3) if b != node]
    remotes = tuple((b, dict(known).get(b, -1), -1) for b in others)
    cache = tuple((e, log.index(e)) for e in dict.fromkeys(log))
    return Place(
        node, True, 1, Replica(Role.LEADING, log, cache, hw, epoch, node, term=Term(0, isr, pending, remotes)), ()
    )


def follower(node, log, hw, of=1, epoch=0, *, established=False):
    cache = tuple((e, log.index(e)) for e in dict.fromkeys(log))
    return Place(node, True, 1, Replica(Role.FETCHING, log, cache, hw, epoch, of, established=established), ())


def common(leads=1, epoch=0, isr=(1, 2, 3), committed=()):
    return Common(ControllerState(leads, epoch, isr, (), -1, (1, 2, 3), (1, 1, 1)), 2, 0, 0, committed)


@pytest.fixture
def hand():
    """What puts places together."""

    class Hand:
        pass

    Hand.leader, Hand.follower, Hand.common = staticmethod(leader), staticmethod(follower), staticmethod(common)
    return Hand

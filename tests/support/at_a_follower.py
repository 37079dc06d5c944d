"""What a follower asks, and what its leader answers."""

from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.messages import EpochRequest, EpochResponse, FetchRequest, FetchResponse

T = "t-0"


def in_flight(two):
    return two.replica.following.in_flight


def got(two, now, *batches, hw=0, leo=9, error=None, diverging=None, correlation=None):
    """The leader's answer to the fetch that is out."""
    correlation = in_flight(two) if correlation is None else correlation
    diverging = diverging and EpochEnd(*diverging)
    return two.step(now, FetchResponse(1, T, correlation, list(batches), hw, leo, error, diverging))


def told_end(two, now, *answer, error=None, correlation=None):
    """The leader's answer to the epoch request that is out."""
    correlation = in_flight(two) if correlation is None else correlation
    return two.step(now, EpochResponse(1, T, correlation, EpochEnd(*answer), error))


def asks(two):
    return [(m.epoch, m.current_epoch) for m in two.sent(EpochRequest, to=1)]


def fetches(two):
    return [(m.offset, m.leader_epoch, m.last_fetched_epoch) for m in two.sent(FetchRequest, to=1)]

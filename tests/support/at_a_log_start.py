"""What is asked, answered and read at a broker whose log start moves."""

from tidemark.nodes.core.messages import DeleteRecordsRequest, DeleteRecordsResponse, FetchRequest, FetchResponse

T = "t-0"


def delete(one, now, offset, correlation=1):
    return one.step(now, DeleteRecordsRequest(400, T, offset, correlation))


def deletions(one):
    """(low watermark, error) of the answers to those who delete."""
    return [(m.low_watermark, m.error) for m in one.sent(DeleteRecordsResponse, to=400)]


def got(two, now, *batches, hw=0, leo=9, start=0, error=None):
    """The leader answers the fetch that is out."""
    correlation = two.replica.following.in_flight
    return two.step(now, FetchResponse(1, T, correlation, list(batches), hw, leo, error, None, start))


def fetches(two):
    return [(m.offset, m.last_fetched_epoch, m.start) for m in two.sent(FetchRequest, to=1)]


def log(one):
    return one.replica.log.start, one.replica.log.leo, [b.base for b in one.replica.log.batches]


def began_at_4(follower, variant="kafka-2.7"):
    two = follower(variant)
    got(two, 1, error="OFFSET_OUT_OF_RANGE", leo=9, start=4)
    return two

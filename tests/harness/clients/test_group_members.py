"""Members of a consumer group that come and go: one at a time joins and leaves, whatever a coordinator answers."""

from random import Random
from threading import Event

import pytest
from kio.schema.errors import ErrorCode

from tidemark.harness.clients import group_members
from tidemark.harness.clients.group_members import JOINS, LEAVES, MemberConnection, come_and_go
from tidemark.harness.clients.wire_client import NoAnswerError, RefusedError

BROKERS = [("127.0.0.1", 1), ("127.0.0.1", 2)]
COORDINATOR = ("127.0.0.1", 3)


class Played:
    """A connection to anybody; the third member is refused, the fourth has no answer, and after the fifth all ends."""

    def __init__(self, stopping):
        self.heartbeats, self.open, self.stopping = [], [], stopping

    def __call__(self, address, patience_s):
        self.open.append(address)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open.pop()

    def coordinator_of(self, group):
        assert self.open[-1] in BROKERS
        return COORDINATOR

    def heartbeat(self, group, member, epoch, topic):
        assert self.open == [COORDINATOR]
        self.heartbeats.append((group, member, epoch, topic))
        members = {one[1] for one in self.heartbeats}
        if len(members) == 3:
            raise RefusedError("NOT_COORDINATOR")
        if len(members) == 4:
            raise NoAnswerError("timed out")
        if len(members) == 5 and epoch == LEAVES:
            self.stopping.set()


@pytest.fixture
def played(monkeypatch):
    monkeypatch.setattr(group_members, "PAUSE_S", 0.001)
    made = Played(Event())
    monkeypatch.setattr(group_members, "MemberConnection", made)
    return made


def test_one_after_another_joins_and_leaves_and_goes_on_after_an_error(played):
    come_and_go(BROKERS, "t", Random(1), played.stopping)

    assert [(group, epoch, topic) for group, _, epoch, topic in played.heartbeats] == [
        ("members", epoch, "t") for epoch in (JOINS, LEAVES, JOINS, LEAVES, JOINS, JOINS, JOINS, LEAVES)
    ]
    assert [member for _, member, _, _ in played.heartbeats[::2][:2]] == [
        member for _, member, _, _ in played.heartbeats[1::2][:2]
    ]
    assert not played.open


@pytest.mark.parametrize(("epoch", "topics", "owned"), [(JOINS, ("t",), ()), (LEAVES, None, None)])
def test_who_joins_says_what_it_wants_and_who_leaves_only_that(monkeypatch, epoch, topics, owned):
    sent = []
    monkeypatch.setattr(MemberConnection, "__init__", lambda self: None)
    monkeypatch.setattr(MemberConnection, "_send", lambda self, key, request: sent.append((key, request)))
    monkeypatch.setattr(
        MemberConnection, "_receive", lambda self, key: type("Answer", (), {"error_code": ErrorCode.none})
    )
    MemberConnection().heartbeat("members", "m", epoch, "t")

    ((key, request),) = sent
    assert key == request.__api_key__
    assert request.__version__ == MemberConnection.versions[key]
    assert (request.member_epoch, request.subscribed_topic_names, request.topic_partitions) == (epoch, topics, owned)

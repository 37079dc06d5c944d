"""Commits of consumer groups as writes of registers: which refusals prove that nothing was written."""

import pytest

from tidemark.harness.clients import group_offsets
from tidemark.harness.clients.client import Outcome
from tidemark.harness.clients.group_offsets import GroupOffsets
from tidemark.harness.clients.wire_client import NoAnswerError, RefusedError

BROKER, COORDINATOR = ("127.0.0.1", 1), ("127.0.0.1", 2)


class Played:
    """Connections that answer from one memory, or raise what is asked for."""

    def __init__(self):
        self.offsets, self.opened, self.raises = {}, [], {}

    def __call__(self, address, patience_s):
        assert patience_s == 3.0
        self.opened.append(address)
        return self

    def _may(self, what):
        if what in self.raises:
            raise self.raises[what]

    def coordinator_of(self, group):
        self._may("find")
        return COORDINATOR

    def commit(self, group, partition, offset):
        self._may("commit")
        self.offsets[group, partition] = offset

    def committed(self, group, partition):
        return self.offsets.get((group, partition), group_offsets.NEVER)

    def close(self):
        self.opened.clear()


@pytest.fixture
def played(monkeypatch):
    made = Played()
    monkeypatch.setattr(group_offsets, "GroupConnection", made)
    return made


@pytest.fixture
def client(played):
    made = GroupOffsets("t-0", 3.0)
    made.open(BROKER)
    return made


def test_what_was_committed_is_read(client, played):
    assert client.invoke("read", "k1") == Outcome("ok", None)
    assert client.invoke("write", ("k1", 7)) == Outcome("ok")
    assert client.invoke("read", "k1") == Outcome("ok", 7)
    assert played.opened == [BROKER, COORDINATOR]


def test_who_the_coordinator_is_is_asked_each_time(client, played):
    client.invoke("write", ("k1", 7))
    played.raises["find"] = NoAnswerError("the broker closed the connection")
    assert client.invoke("write", ("k1", 8)).type == "fail"


@pytest.mark.parametrize(
    ("error", "outcome"),
    [("COORDINATOR_LOAD_IN_PROGRESS", "fail"), ("NOT_COORDINATOR", "info"), ("COORDINATOR_NOT_AVAILABLE", "info")],
)
def test_only_what_is_refused_before_the_append_has_failed(client, played, error, outcome):
    played.raises["commit"] = RefusedError(error)
    assert client.invoke("write", ("k1", 7)) == Outcome(outcome, error=error)


def test_without_a_coordinator_nothing_was_asked(client, played):
    played.raises["find"] = NoAnswerError("the broker closed the connection")
    assert client.invoke("write", ("k1", 7)).type == "fail"


def test_a_commit_without_an_answer_proves_nothing(client, played):
    played.raises["commit"] = NoAnswerError("no answer")
    with pytest.raises(NoAnswerError):
        client.invoke("write", ("k1", 7))


def test_all_connections_are_closed(client, played):
    client.invoke("write", ("k1", 7))
    client.close()
    assert played.opened == []

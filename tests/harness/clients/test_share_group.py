"""A member of a share group writes down what it was given, what came of its acknowledgements, and which broker said so."""

from itertools import islice
from random import Random
from uuid import UUID

import pytest
from kio.schema.errors import ErrorCode

from tidemark.harness.clients import share_group, share_member
from tidemark.harness.clients.journal import Journal
from tidemark.harness.clients.share_connection import ACCEPT, RELEASE, Delivered, Fetched, Heartbeat, Layout
from tidemark.harness.clients.share_group import ShareGroup, open_group, restarts
from tidemark.harness.clients.share_member import Held, ShareMember
from tidemark.harness.clients.wire_client import NoAnswerError, RefusedError
from tidemark.nemesis import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

TOPIC_ID = UUID(int=7)
AT = {1: ("127.0.0.1", 1), 2: ("127.0.0.1", 2)}


class Played:
    """A cluster of two brokers, the first of which coordinates, and leads at first. It gives each record until it is accepted."""

    def __init__(self, records=3):
        self.leads, self.available, self.done, self.given = (
            1,
            list(range(records)),
            [],
            dict.fromkeys(range(records), 0),
        )
        self.raises, self.wrong, self.members, self.closed, self.asked = {}, ErrorCode.none, {}, 0, []
        self.locked = []

    def __call__(self, address, patience_s):
        if ("open", address) in self.raises:
            raise self.raises["open", address]
        return Link(self, address)


class Link:
    """A connection to it."""

    def __init__(self, to, address):
        self._to, self._address, self._held = to, address, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _may(self, what):
        self._to.asked.append(what)
        if what in self._to.raises:
            raise self._to.raises.pop(what)

    def close(self):
        self._to.closed += 1
        self._to.available = sorted({*self._to.available, *self._held})
        self._held = []

    def coordinator_of(self, group):
        self._may("find")
        return AT[1]

    def enable(self, feature, level):
        self._may(("enable", feature, level))

    def configure(self, group, config):
        self._may(("configure", group, tuple(config.items())))

    def heartbeat(self, group, member, epoch, topic):
        self._may("heartbeat")
        self._to.members[member] = epoch
        return Heartbeat(epoch + 1, 5.0, (0,) if epoch == 0 else None)

    def layout(self, topic):
        self._may("layout")
        return Layout(TOPIC_ID, {0: (self._to.leads, AT[self._to.leads])})

    def share_fetch(self, whose, session_epoch, of, most, wait_ms, forgotten=()):
        self._may(("fetch", session_epoch))
        to = self._to
        if forgotten:
            assert (of, most, forgotten) == ((TOPIC_ID, ()), 0, (0,))
            to.locked += self._held
            self._held = []
            return {}
        assert of == (TOPIC_ID, [0])
        if to.wrong is not ErrorCode.none:
            return {0: Fetched(to.wrong, ())}
        took, to.available = to.available[:most], to.available[most:]
        self._held += took
        to.given |= {offset: to.given[offset] + 1 for offset in took}
        return {0: Fetched(ErrorCode.none, tuple(Delivered(one, 100 + one, to.given[one]) for one in took))}

    def share_acknowledge(self, whose, session_epoch, of, decisions):
        self._may(("acknowledge", session_epoch))
        for offset, how in decisions:
            self._held.remove(offset)
            (self._to.available if how == RELEASE else self._to.done).append(offset)


@pytest.fixture
def played(monkeypatch):
    made = Played()
    monkeypatch.setattr(share_member, "ShareConnection", made)
    monkeypatch.setattr(share_group, "ShareConnection", made)
    monkeypatch.setattr(share_member, "ERROR_PAUSE_S", 0)
    monkeypatch.setattr(share_group, "SLACK_S", 0.05)
    monkeypatch.setattr(share_group, "lock_ms", lambda _: 50)
    return made


@pytest.fixture
def ops():
    return []


@pytest.fixture
def journal(ops):
    return Journal(lambda: len(ops), ops.append, "all")


@pytest.fixture
def member(played, journal):
    return ShareMember("m1", "t", list(AT.values()), 1.0, journal, Random(1))


def told(ops):
    return [(op.process, op.type, op.f, *op.value[0][1:], op.error) for op in ops]


def test_what_it_is_given_and_what_it_says(member, ops, played):
    assert member.keep_up()
    held, answered = member.poll(2)
    assert answered == {0}
    member.accept_all(held)
    assert told(ops) == [
        ("m1", "invoke", "share-fetch", 1, {}, None),
        ("m1", "ok", "share-fetch", 1, {"t-0": [(0, 100, 1), (1, 101, 1)]}, None),
        ("m1", "invoke", "share-acknowledge", 1, {"t-0": [(0, "accept"), (1, "accept")]}, None),
        ("m1", "ok", "share-acknowledge", 1, {"t-0": [(0, "accept"), (1, "accept")]}, None),
    ]
    assert (played.done, played.available) == ([0, 1], [2])


def test_a_session_counts_its_requests(member, played):
    member.keep_up()
    for _ in range(2):
        member.accept_all(member.poll(1)[0])
    assert [one for one in played.asked if isinstance(one, tuple)] == [
        ("fetch", 0), ("acknowledge", 1), ("fetch", 2), ("acknowledge", 3)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("raised", "came"),
    [
        (RefusedError("INVALID_RECORD_STATE"), "fail"),
        (RefusedError("SHARE_SESSION_NOT_FOUND"), "fail"),
        (RefusedError("NOT_LEADER_OR_FOLLOWER"), "info"),
        (RefusedError("COORDINATOR_NOT_AVAILABLE"), "info"),
        (NoAnswerError("no answer"), "info"),
    ],
    ids=str,
)
def test_only_what_a_broker_refuses_from_memory_was_certainly_not_written(member, ops, played, raised, came):
    member.keep_up()
    held, _ = member.poll(1)
    played.raises["acknowledge", 1] = raised
    assert member.acknowledge(held[0], lambda _: ACCEPT).type == came
    assert ops[-1].type == came
    member.poll(1)
    assert ops[-1].process == ("m1" if came == "fail" else "m1.1")


def test_a_fetch_without_an_answer_ends_the_session_and_the_next_begins_one(member, ops, played):
    member.keep_up()
    played.raises["fetch", 0] = NoAnswerError("no answer")
    assert member.poll(1) == ([], set())
    assert (ops[-1].type, ops[-1].error) == ("info", "no answer")
    played.leads = 2
    member.poll(1)
    assert told(ops[-1:]) == [("m1.1", "ok", "share-fetch", 2, {"t-0": [(0, 100, 1)]}, None)]


def test_a_partition_that_is_led_elsewhere_has_failed(member, ops, played):
    member.keep_up()
    played.wrong = ErrorCode.not_leader_or_follower
    assert member.poll(1) == ([], set())
    assert (ops[-1].type, ops[-1].error) == ("fail", "NOT_LEADER_OR_FOLLOWER")


def test_without_a_connection_nothing_is_told(member, ops, played):
    member.keep_up()
    member._known()
    played.raises["open", AT[1]] = NoAnswerError("nobody listens")
    assert member.poll(1) == ([], set())
    assert ops == []


def test_who_has_walked_away_says_nothing_more(member, ops, played):
    member.keep_up()
    held, _ = member.poll(2)
    member.walk_away()
    assert member.acknowledge(held[0], lambda _: ACCEPT) is None
    assert [op.f for op in ops] == ["share-fetch"] * 2
    assert played.available == [0, 1, 2]


def test_what_is_held_of_a_partition_that_was_forgotten_is_not_given_back(member, ops, played):
    member.keep_up()
    held, _ = member.poll(2)
    member.forget(held)
    member.walk_away()
    assert (played.locked, played.available) == ([0, 1], [2])
    assert [op.type for op in ops] == ["invoke", "ok"]


def test_who_cannot_have_a_partition_forgotten_has_lost_the_session(member, played):
    member.keep_up()
    held, _ = member.poll(2)
    played.raises["fetch", 1] = NoAnswerError("no answer")
    member.forget(held)
    assert (member.trouble, member.acknowledge(held[0], lambda _: ACCEPT)) == ("no answer", None)
    assert played.available == [0, 1, 2]


def test_an_offset_without_a_record_is_told_as_a_gap(member, ops):
    member.keep_up()
    member.poll(1)
    member.acknowledge(Held(0, (Delivered(0, None, 1),)), lambda _: ACCEPT)
    assert ops[-1].value == (("share-acknowledge", 1, {"t-0": [(0, "gap")]}),)


def test_who_is_unknown_to_the_coordinator_joins_anew(member, played):
    member.keep_up()
    member._of_group.due = 0
    played.raises["heartbeat"] = RefusedError("UNKNOWN_MEMBER_ID")
    assert not member.keep_up()
    assert member.keep_up()
    assert [*played.members.values()] == [0]


def test_a_group_begins_before_anything_is_sent(played, ops):
    open_group([AT[1]], ClusterSpec(), {"share.version": 1})
    settings = [one for one in played.asked if isinstance(one, tuple)]
    assert settings[:2] == [
        ("enable", "share.version", 1),
        ("configure", "g", (("share.auto.offset.reset", "earliest"),)),
    ]
    assert -1 in played.members.values()


def group(journal, members):
    return ShareGroup(
        "127.0.0.1:1,127.0.0.1:2", ClusterSpec(), WorkloadSpec(share_members=members, poll_us=4_000), journal, 1
    )


def test_in_the_end_everything_is_accepted(played, journal, ops):
    made = group(journal, 0)
    assert made.told()["share_group"]["drained"] is False
    made.take_the_rest()
    assert made.told() == {"share_group": {"drained": True, "deliveries": 10, "lock_us": 50_000}}
    assert (played.done, played.available) == ([0, 1, 2], [])
    assert all(op.final for op in ops)


def test_members_work_until_they_are_stopped(played, journal, ops, monkeypatch):
    monkeypatch.setattr(share_group, "PARTLY", 0)  # no lock of this cluster ever expires
    made = group(journal, 2)
    made.start()
    for _ in range(1000):
        if len(played.done) == 3 and len({op.process for op in ops}) == 2:
            break
        share_group.time.sleep(0.01)
    made.stop()
    assert sorted(played.done) == [0, 1, 2]
    assert {op.process for op in ops} == {"m1", "m2"}
    assert [*played.members.values()] == [-1, -1]


def test_some_groups_are_killed_and_started_again_from_time_to_time():
    killed = {seed: list(islice(restarts(seed), 50)) for seed in range(400)}
    assert killed == {seed: list(islice(restarts(seed), 50)) for seed in range(400)}
    some = [times for times in killed.values() if times]
    assert 60 < len(some) < 140
    for times in some:
        ends = [0.0, *(back for _, back in times)]
        assert all(
            1 <= dies - before <= 5 and 0.3 <= back - dies <= 1.5
            for before, (dies, back) in zip(ends, times, strict=False)
        )


def test_members_that_are_killed_break_off_and_come_back(played, journal, ops, monkeypatch):
    times = [(0.0, 0.1), (0.2, 0.3)]
    monkeypatch.setattr(share_group, "restarts", lambda seed: iter(times))
    monkeypatch.setattr(share_group, "REASSIGNED", 0)
    monkeypatch.setattr(share_group, "PARTLY", 0)
    made = group(journal, 2)
    made.start()
    for _ in range(1000):
        if len(played.done) == 3 and played.asked.count(("fetch", 0)) >= 4:
            break
        share_group.time.sleep(0.01)
    made.stop()
    assert sorted(played.done) == [0, 1, 2]
    assert played.asked.count(("fetch", 0)) >= 4  # each of them has had a session, and has begun another

"""The table of roles is what the code does: every cell is driven with a real broker, and random runs stay inside it."""

from functools import partial

import pytest

from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.actions import Halt, Sync
from tidemark.nodes.core.broker import Broker
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.events import RetentionDue, ShutdownRequested
from tidemark.nodes.core.follower import Following
from tidemark.nodes.core.leader import Leadership
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import (
    AlterPartitionResponse,
    ConsumeRequest,
    DeleteRecordsRequest,
    EpochRequest,
    EpochResponse,
    FetchResponse,
    HeartbeatReply,
    LeaderAndIsr,
)
from tidemark.nodes.core.replica import Replica
from tidemark.nodes.core.roles import _ROWS, TABLE, Event, Role, TransitionError
from tidemark.nodes.core.variant import PRESETS, parse_variant

T = "t-0"
OTHER = "t-1"
BATCHES = (Batch(0, 1, (70,)), Batch(1, 2, (71,)))
NOT_AWAITED = [(role, event) for role in Role for event in Event if event not in TABLE[role]]


def request(two):
    """The number of the request that is out, or was the last one."""
    return two.replica.following.in_flight if two.replica.following else two.replica.correlation


def told_end(two, epoch=2, error=None):
    """The leader says that an epoch ends at offset 2."""
    two.step(3, EpochResponse(1, T, request(two), EpochEnd(epoch, 2), error))


def got(two, *batches, error=None, diverging=None, leo=9):
    """The leader answers a fetch."""
    two.step(3, FetchResponse(1, T, request(two), list(batches), 0, leo, error, diverging))


def out_of_range(two, leo):
    got(two, error="OFFSET_OUT_OF_RANGE", leo=leo)


def fetcher_dies(two):
    """A batch of another partition with the same leader does not fit (before KIP-461)."""
    two.step(3, LeaderAndIsr(0, OTHER, 1, 5, (1, 2, 3), 0, (1, 2, 3), two.broker.broker_epoch))
    other = two.broker.replicas[OTHER].following
    two.step(3, FetchResponse(1, OTHER, other.in_flight, [Batch(0, 5, (72,)), Batch(0, 5, (72,))], 0, 9))


def stopped(two):
    two.step(3, ShutdownRequested())
    two.step(4, HeartbeatReply(0, may_stop=True))


# How a broker gets into each role: from here on it has seen leader epoch 5, of broker 1 where somebody else leads.


def with_no_leader(two):
    two.told(1, 1, 4)
    two.told(2, -1, 5)


def leading(two):
    two.told(1, 2, 5)


def following(two):
    two.told(1, 1, 5)


def delayed_truncating(two):
    following(two)
    told_end(two, error="NOT_LEADER_OR_FOLLOWER")


def delayed_fetching(two):
    following(two)
    got(two, error="NOT_LEADER_OR_FOLLOWER")


def failed(two):
    """A batch did not fit."""
    following(two)
    got(two, Batch(1, 5, (72,)))


def halted(two):
    """0.10: the leader's log ends before this one's high watermark."""
    following(two)
    out_of_range(two, leo=0)


REACH = {
    Role.NO_LEADER: ("kafka-2.7", with_no_leader),
    Role.LEADING: ("kafka-2.7", leading),
    Role.TRUNCATING: ("kafka-2.1", following),
    Role.TRUNCATING_DELAYED: ("kafka-2.1", delayed_truncating),
    Role.FETCHING: ("kafka-2.7", following),
    Role.FETCHING_DELAYED: ("kafka-2.7", delayed_fetching),
    Role.FAILED: ("kafka-2.7", failed),
    Role.HALTED: ("kafka-0.10", halted),
}


# What makes each event happen.
CAUSE = {
    Event.ELECTED: lambda two: two.told(3, 2, 6),
    Event.ELECTED_AGAIN: lambda two: two.told(3, 2, 7),
    Event.OTHER_ELECTED: lambda two: two.told(3, 3, 6),
    Event.SAME_LEADER: lambda two: two.told(3, 1, 6),
    Event.NOBODY_ELECTED: lambda two: two.told(3, -1, 6),
    Event.NEW_STATE: lambda two: two.told(3, two.replica.leader, 5, (2, 3)),
    Event.FETCH: lambda two: two.fetched_by(3, 3, 0, 5),
    Event.EPOCH_REQUEST: lambda two: two.step(3, EpochRequest(3, T, 1, 5, 1)),
    Event.PRODUCE: lambda two: two.produced(3, 72),
    Event.CONSUME: lambda two: two.step(3, ConsumeRequest(102, T, 0, 1)),
    Event.ISR_ANSWER: lambda two: two.step(3, AlterPartitionResponse(0, T, 1, 5, (2, 3), 9)),
    Event.EPOCH_END: told_end,
    Event.EPOCH_ERROR: lambda two: told_end(two, error="FENCED_LEADER_EPOCH"),
    Event.RECORDS: lambda two: got(two, Batch(2, 5, (72,))),
    Event.OUT_OF_ORDER: lambda two: got(two, Batch(1, 5, (72,))),
    Event.FETCHER_DIED: fetcher_dies,
    Event.DIVERGING: lambda two: got(two, diverging=EpochEnd(1, 1)),
    Event.OUT_OF_RANGE: lambda two: out_of_range(two, leo=1),
    Event.FETCH_ERROR: lambda two: got(two, error="FENCED_LEADER_EPOCH"),
    Event.DELETE: lambda two: two.step(3, DeleteRecordsRequest(102, T, 1, 1)),
    Event.TICK: lambda two: two.tick(900_000),
    Event.RETENTION: lambda two: two.step(3, RetentionDue(T, 1)),
    Event.STOP: stopped,
    Event.REMOVED: lambda two: two.told(3, 1, 7, replicas=(1, 3), delete=True),
}
VARIANT_WITH = {
    Event.SAME_LEADER: "+KAFKA-7164",
    Event.NEW_STATE: "+metadata-log",
    Event.FETCHER_DIED: "+no-partition-failure",
}
"""Event → what a variant must be to meet it."""


@pytest.fixture
def in_role(broker):
    """Broker 2, with two records, in a role."""

    def start(role, event=None):
        variant, reach = REACH[role]
        two = broker(variant + VARIANT_WITH.get(event, ""), node=2, batches=BATCHES, hw=1)
        reach(two)
        assert two.replica.role is role
        return two

    return start


@pytest.fixture
def happened(monkeypatch):
    """(role before, event, role after) of all that happens to replicas; of an event within an event only the inner one."""
    seen = []
    enter, happens = Replica._enter, Replica.happens

    def watched(replica, event, handler):
        def handle(now, m):
            before, already = replica.role, len(seen)
            handler(now, m)
            if len(seen) == already:
                seen.append((before, event, replica.role))

        return handle

    def entering(replica, role):
        enter(replica, role)
        replica.on = {event: watched(replica, event, handler) for event, handler in replica.on.items()}

    def happening(replica, event, now, m):
        watched(replica, event, partial(happens, replica, event))(now, m)

    monkeypatch.setattr(Replica, "_enter", entering)
    monkeypatch.setattr(Replica, "happens", happening)
    return seen


def allowed(role, event):
    return TABLE[role][event].then or (role,)


# Every cell


@pytest.mark.parametrize(("role", "event"), [(role, event) for role in Role for event in TABLE[role]])
def test_after_each_event_the_role_is_the_tables(in_role, happened, role, event):
    two = in_role(role, event)
    replica = two.replica
    happened.clear()
    CAUSE[event](two)

    assert (role, event, replica.role) == happened[-1]
    assert replica.role in allowed(role, event)


@pytest.mark.parametrize(("role", "event"), NOT_AWAITED)
def test_what_the_table_leaves_out_does_not_happen(in_role, happened, role, event):
    two = in_role(role, event)
    happened.clear()
    CAUSE[event](two)

    assert event not in [seen for _, seen, _ in happened]


def test_only_awaited_answers_are_left_out_and_what_only_leaders_or_only_others_meet():
    awaited = {
        Event.EPOCH_END, Event.EPOCH_ERROR, Event.RECORDS, Event.OUT_OF_ORDER, Event.DIVERGING, Event.OUT_OF_RANGE,
        Event.FETCH_ERROR,
    }  # fmt: skip

    others = {Event.SAME_LEADER, Event.ELECTED, Event.ELECTED_AGAIN, Event.FETCHER_DIED}
    assert {event for _, event in NOT_AWAITED} == awaited | others
    assert {role for role in Role if Event.ELECTED_AGAIN in TABLE[role]} == {Role.LEADING}
    assert [role for role, event in NOT_AWAITED if event is Event.ELECTED] == [Role.LEADING]
    assert [role for role, event in NOT_AWAITED if event is Event.SAME_LEADER] == [Role.LEADING]
    assert [role for role, event in NOT_AWAITED if event is Event.FETCHER_DIED] == [
        *(Role.NO_LEADER, Role.LEADING, Role.FAILED)
    ]


def test_no_pair_of_role_and_event_is_said_twice():
    pairs = [(role, event) for event, roles, _ in _ROWS for role in roles]

    assert len(pairs) == len(set(pairs)) == sum(len(cells) for cells in TABLE.values())


def test_what_stays_in_its_role_takes_one_step_at_most():
    """No more than one would be taken."""
    assert [cell for cells in TABLE.values() for cell in cells.values() if not cell.then and len(cell.does) > 1] == []


@pytest.mark.parametrize(
    "name", sorted({name for cells in TABLE.values() for cell in cells.values() for name in cell.does})
)
def test_every_step_is_a_method_that_says_what_it_does(name):
    owner, _, method = name.rpartition(".")
    kind = {"": Replica, "leading": Leadership, "following": Following, "broker": Broker}[owner]

    assert getattr(kind, method).__doc__


# Where several roles may come next


@pytest.mark.parametrize(
    ("variant", "event", "cause", "then"),
    [
        ("kafka-0.10", Event.OTHER_ELECTED, following, Role.FETCHING),
        ("kafka-0.11", Event.OTHER_ELECTED, following, Role.TRUNCATING),
        ("kafka-2.1", Event.OTHER_ELECTED, following, Role.TRUNCATING),
        ("kafka-2.7", Event.OTHER_ELECTED, following, Role.FETCHING),
        ("kafka-2.1", Event.OTHER_ELECTED, lambda two: (fetcher_dies(two), following(two)), Role.FAILED),
        ("kafka-2.1", Event.EPOCH_END, lambda two: (following(two), told_end(two, epoch=2)), Role.FETCHING),
        ("kafka-2.1", Event.EPOCH_END, lambda two: (following(two), told_end(two, epoch=1)), Role.FETCHING),
        ("kafka-2.7", Event.OUT_OF_RANGE, lambda two: (following(two), out_of_range(two, leo=1)), Role.FETCHING),
        (
            "kafka-2.7",
            Event.OUT_OF_RANGE,
            lambda two: (following(two), out_of_range(two, leo=2)),
            Role.FETCHING_DELAYED,
        ),
        ("kafka-0.10", Event.OUT_OF_RANGE, lambda two: (following(two), out_of_range(two, leo=0)), Role.HALTED),
    ],
)
def test_the_rule_and_the_leader_choose_among_them(broker, happened, variant, event, cause, then):
    two = broker(variant, node=2, batches=BATCHES, hw=1)
    cause(two)

    assert happened[-1][1:] == (event, then)


def test_an_epoch_between_two_own_ones_is_asked_about_again(broker, happened):
    two = broker("kafka-2.1", node=2, batches=(Batch(0, 1, (70,)), Batch(1, 4, (71,))))
    following(two)
    told_end(two, epoch=3)

    assert happened[-1] == (Role.TRUNCATING, Event.EPOCH_END, Role.TRUNCATING)


def test_a_step_that_chooses_another_role_is_a_fault_of_the_code(in_role, monkeypatch):
    two = in_role(Role.FETCHING)
    monkeypatch.setattr(Following, "truncate_out_of_range", lambda *_: Role.LEADING)

    with pytest.raises(TransitionError, match=r"fetching: following\.truncate_out_of_range chose leading"):
        out_of_range(two, leo=1)


# What is halted stays so


def test_a_halted_replica_neither_answers_nor_asks(in_role):
    two = in_role(Role.HALTED)
    assert two.done(Halt) == [Halt("fatal")]

    for event in set(CAUSE) - {Event.TICK, Event.STOP, Event.FETCHER_DIED}:
        CAUSE[event](two)
        assert two.did == []


def test_a_broker_that_stops_has_halted_replicas_whose_logs_are_on_disk(in_role):
    two = in_role(Role.LEADING)
    stopped(two)

    assert two.replica.role is Role.HALTED
    assert two.done(Sync) == [Sync(T)]


# Random runs


@pytest.mark.parametrize("profile", ["intact", "destructive"])
@pytest.mark.parametrize("variant", PRESETS)
def test_random_runs_stay_inside_the_table(happened, variant, profile):
    for index in range(2):
        simulate(generate_plan(7, index, profile, ClusterSpec(partitions=2)), parse_variant(variant))
    outside = {(role, event, then) for role, event, then in happened if then not in allowed(role, event)}

    assert outside == set()
    assert {Role.NO_LEADER, Role.LEADING, Role.FETCHING} <= {role for role, _, _ in happened}


def test_a_run_that_left_the_table_would_be_seen(happened, monkeypatch):
    """The claim above would hold of a run that nobody looked at."""
    plan = generate_plan(7, 0, "intact", ClusterSpec())
    monkeypatch.setattr(
        Leadership, "do_what_is_due", lambda leading, *_: setattr(leading.replica, "role", Role.FETCHING)
    )
    simulate(plan, parse_variant("kafka-2.7"))

    assert (Role.LEADING, Event.TICK, Role.FETCHING) in happened

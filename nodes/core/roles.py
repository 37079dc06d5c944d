"""The roles of a replica, and what it does with each event in each of them: one table.

Theory of operation. A replica of a partition is always in exactly one role. What arrives at its broker (a message, the tick of the
timer, the end of the process) is first told apart into an *event*, for which little must be known: whether the replica waits for
this answer, which epochs it has heard of, and who led last:

- a ``LeaderAndIsr`` of an older leader epoch, or of the same one with no newer partition epoch, is no event;
- an answer to anything but the request that is out now is late, and no event. A follower has one request out at a time: the
  question where an epoch ends while it is truncating, a fetch while it is fetching, none while it is delayed. So an answer can
  only be an event in the one role that waits for it;
- a leader epoch is led by one broker. Whoever leads was elected in a newer epoch than whoever led before;
- a broker that is elected while it leads in its own eyes goes on leading. ZooKeeper's controller repeats each request until it is
  answered, in order, so a broker hears of every reign there. One that goes by a metadata log (KRaft) acts on the last state it
  finds, and may have missed the reign of another.

Then :data:`TABLE` says, for the role and the event, which steps to take, in their order, and in which role the replica is
afterwards. A step is a method: of the replica itself, of its ``leading`` (:class:`~tidemark.nodes.core.leader.Leadership`,
what a leader knows of its term), of its ``following`` (:class:`~tidemark.nodes.core.follower.Following`, what a follower
knows of its leader) or of its
``broker``. Where several roles may come next, the last step returns the one. A cell that says nothing of the next role stays as
it is; a pair that is not in the table cannot happen, and would be a ``KeyError``.

:class:`~tidemark.nodes.core.replica.Replica` looks up what it does with frequent events when it first enters a role in a
leader epoch. ``docs/protocol.md`` shows this table, and a picture of it; :mod:`tidemark.nodes.core.roles_drawn` draws both.

TRUNCATING and FETCHING are Kafka's ``ReplicaState``, and *delayed* its ``PartitionFetchState.isDelayed``: the leader refused the
request, and the follower sends it again at the next tick.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """What a replica is doing."""

    __hash__ = str.__hash__  # an enum's own is Python, and is asked for at every look into the table

    NO_LEADER = "no leader"
    """It knows of no leader: none was named yet, or nobody could be elected."""
    LEADING = "leading"
    TRUNCATING = "truncating"
    """It follows, and has asked the leader where its own latest epoch ends."""
    TRUNCATING_DELAYED = "truncating (delayed)"
    FETCHING = "fetching"
    """It follows, and has a fetch out."""
    FETCHING_DELAYED = "fetching (delayed)"
    FAILED = "failed"
    """It follows, but a batch did not fit and it fetches no more, until it hears of a newer leader epoch."""
    HALTED = "halted"
    """Its broker's process is ending, or its broker is no replica any more."""


class Event(StrEnum):
    """What can happen to a replica."""

    __hash__ = str.__hash__

    ELECTED = "elected"
    """A newer leader epoch, and this replica leads it."""
    ELECTED_AGAIN = "elected again"
    """The same, and it leads already in its own eyes."""
    OTHER_ELECTED = "another elected"
    """A newer leader epoch, and another replica leads it."""
    SAME_LEADER = "same leader again"
    """The same, but the leader's id is the last known one, and the variant goes by ids (before KAFKA-7164)."""
    NOBODY_ELECTED = "nobody elected"
    """A newer leader epoch without a leader."""
    NEW_STATE = "newer ISR"
    """A newer partition epoch of the same leader epoch."""
    FETCH = "fetch request"
    EPOCH_REQUEST = "epoch request"
    """``OffsetForLeaderEpoch``."""
    PRODUCE = "produce request"
    CONSUME = "consumer's fetch"
    DELETE = "delete request"
    """``DeleteRecords``."""
    ISR_ANSWER = "ISR answer"
    """The controller's answer to an ``AlterPartition``."""
    EPOCH_END = "epoch's end"
    """The leader's answer to the epoch request that is out."""
    EPOCH_ERROR = "epoch error"
    RECORDS = "records"
    """The leader's answer to the fetch that is out, perhaps with no records in it."""
    OUT_OF_ORDER = "out of order"
    """A batch among the records does not continue the log; the follower finds this while it appends."""
    FETCHER_DIED = "fetcher died"
    """The thread that fetches from its leader has ended (before KIP-461)."""
    DIVERGING = "diverging epoch"
    """The leader's log has no such record as this one's last."""
    OUT_OF_RANGE = "out of range"
    """The fetch offset lies outside the leader's log."""
    FETCH_ERROR = "fetch error"
    """Any other error: a fence, or no leader."""
    TICK = "tick"
    RETENTION = "retention"
    """The oldest batches of its log file are to go."""
    STOP = "stop"
    """A controlled shutdown has come to its end."""
    REMOVED = "removed"
    """A reassignment has taken it away; its log is being deleted."""


class Cell(NamedTuple):
    """What a replica does with an event in a role.

    Attributes:
        does: the steps, in their order, at most one if the role stays; none: the event is ignored, or only changes the role.
        then: the roles it may be in afterwards; none: it stays in this one, and with the same leader epoch.
    """

    does: tuple[str, ...] = ()
    then: tuple[Role, ...] = ()


_WAITING = (Role.NO_LEADER,)
_LEADING = (Role.LEADING,)
_TRUNCATING = (Role.TRUNCATING, Role.TRUNCATING_DELAYED)
_FETCHING = (Role.FETCHING, Role.FETCHING_DELAYED)
_FAILED = (Role.FAILED,)
_NOT_LEADING = (*_WAITING, *_TRUNCATING, *_FETCHING, *_FAILED)
_LIVE = (*_LEADING, *_NOT_LEADING)
_HALTED = (Role.HALTED,)
_AS_RULE_SAYS = (Role.TRUNCATING, Role.FETCHING)
_AS_RULE_SAYS_IF_FETCHER_LIVES = (*_AS_RULE_SAYS, Role.FAILED)

_AWAITED = (
    *(Event.EPOCH_END, Event.EPOCH_ERROR),
    *(Event.RECORDS, Event.OUT_OF_ORDER, Event.DIVERGING, Event.OUT_OF_RANGE, Event.FETCH_ERROR),
)
"""What can only happen in a role that waits for it."""

_ROWS: tuple[tuple[Event, tuple[Role, ...], Cell], ...] = (
    # The controller's word
    (Event.ELECTED, _NOT_LEADING, Cell(("lead",), _LEADING)),
    (Event.ELECTED_AGAIN, _LEADING, Cell(("lead_on",), _LEADING)),
    (Event.OTHER_ELECTED, _NOT_LEADING, Cell(("follow", "following.truncate"), _AS_RULE_SAYS_IF_FETCHER_LIVES)),
    (
        Event.OTHER_ELECTED,
        _LEADING,
        Cell(("leading.resign", "follow", "following.truncate"), _AS_RULE_SAYS_IF_FETCHER_LIVES),
    ),
    (Event.SAME_LEADER, _TRUNCATING, Cell(("follow", "following.truncate"), _AS_RULE_SAYS)),
    (Event.SAME_LEADER, (*_WAITING, *_FETCHING), Cell(("follow", "following.fetch"), (Role.FETCHING,))),
    (Event.SAME_LEADER, _FAILED, Cell(("follow",), _FAILED)),
    (Event.NOBODY_ELECTED, _NOT_LEADING, Cell(("wait",), _WAITING)),
    (Event.NOBODY_ELECTED, _LEADING, Cell(("leading.resign", "wait"), _WAITING)),
    (Event.NEW_STATE, _NOT_LEADING, Cell(("note_partition_epoch",))),
    (Event.NEW_STATE, _LEADING, Cell(("leading.take_isr",))),
    # What is asked of a leader
    (Event.FETCH, _LEADING, Cell(("leading.answer_fetch",))),
    (Event.FETCH, _NOT_LEADING, Cell(("broker.refuse_fetch",))),
    (Event.EPOCH_REQUEST, _LEADING, Cell(("leading.answer_epoch_request",))),
    (Event.EPOCH_REQUEST, _NOT_LEADING, Cell(("broker.refuse_epoch_request",))),
    (Event.PRODUCE, _LEADING, Cell(("leading.append",))),
    (Event.PRODUCE, _NOT_LEADING, Cell(("broker.refuse_produce",))),
    (Event.CONSUME, _LEADING, Cell(("leading.answer_consumer",))),
    (Event.CONSUME, _NOT_LEADING, Cell(("broker.refuse_consumer",))),
    (Event.DELETE, _LEADING, Cell(("leading.delete_records",))),
    (Event.DELETE, _NOT_LEADING, Cell(("broker.refuse_delete",))),
    (Event.ISR_ANSWER, _LEADING, Cell(("leading.take_isr_answer",))),
    (Event.ISR_ANSWER, _NOT_LEADING, Cell()),
    # What a leader answers
    (Event.EPOCH_END, (Role.TRUNCATING,), Cell(("following.truncate_to_answer",), _AS_RULE_SAYS)),
    (
        Event.EPOCH_ERROR,
        (Role.TRUNCATING,),
        Cell(("following.go_on_without_answer",), (Role.TRUNCATING_DELAYED, Role.FETCHING)),
    ),
    (Event.RECORDS, (Role.FETCHING,), Cell(("following.append",))),
    (Event.OUT_OF_ORDER, (Role.FETCHING,), Cell(("following.report_out_of_order", "following.give_up"), _FAILED)),
    (Event.FETCHER_DIED, (*_TRUNCATING, *_FETCHING), Cell(("following.give_up",), _FAILED)),
    (Event.DIVERGING, (Role.FETCHING,), Cell(("following.truncate_diverging",), (Role.FETCHING,))),
    (
        Event.OUT_OF_RANGE,
        (Role.FETCHING,),
        Cell(("following.truncate_out_of_range",), (Role.FETCHING, Role.FETCHING_DELAYED, Role.HALTED)),
    ),
    (Event.FETCH_ERROR, (Role.FETCHING,), Cell((), (Role.FETCHING_DELAYED,))),
    # Time
    (Event.TICK, (*_WAITING, *_FAILED), Cell()),
    (Event.TICK, _LEADING, Cell(("leading.do_what_is_due",))),
    (Event.TICK, (Role.TRUNCATING,), Cell(("following.ask_if_overdue",))),
    (Event.TICK, (Role.TRUNCATING_DELAYED,), Cell(("following.ask",), (Role.TRUNCATING,))),
    (Event.TICK, (Role.FETCHING,), Cell(("following.fetch_if_overdue",))),
    (Event.TICK, (Role.FETCHING_DELAYED,), Cell(("following.fetch",), (Role.FETCHING,))),
    (Event.RETENTION, _LIVE, Cell(("drop_oldest",))),
    (Event.STOP, _LIVE, Cell(("sync",), _HALTED)),
    (Event.REMOVED, _NOT_LEADING, Cell((), _HALTED)),
    (Event.REMOVED, _LEADING, Cell(("leading.resign",), _HALTED)),
    # A process that is ending does nothing more
    *((event, _HALTED, Cell()) for event in Event if event not in _AWAITED and event is not Event.ELECTED_AGAIN),
)

TABLE: dict[Role, dict[Event, Cell]] = {
    role: {event: cell for event, roles, cell in _ROWS if role in roles} for role in Role
}
"""Role → event → what happens."""


class TransitionError(AssertionError):
    """A step chose a role that the table does not have; what is wrong is the code."""

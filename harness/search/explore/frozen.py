"""What is left of the core's objects when they stand still: immutable tuples that can be compared, hashed and renamed.

There is no clock, so no times; there is one partition, whose records are one to a batch, so a log is the epochs of its records, and
leader epoch and offset together name a record. What nothing depends on is left out: correlation numbers (a request and its answer
are one move), partition epochs (a leader knows the controller's last word or it does not), when a follower had caught up.
"""

from __future__ import annotations

from typing import NamedTuple

from tidemark.nodes.core.roles import Role

Ids = tuple[int, ...]


class Term(NamedTuple):
    """What a leader knows (:class:`tidemark.nodes.core.leader.Leadership`).

    Attributes:
        epoch_start: its log end offset when it became leader.
        isr: committed ISR, ascending.
        pending: the ISR it has proposed, (broker, broker epoch) pairs, ascending; None: nothing.
        remotes: (broker, log end offset, broker epoch) of every other replica, ascending.
    """

    epoch_start: int
    isr: Ids
    pending: tuple[tuple[int, int], ...] | None
    remotes: tuple[tuple[int, int, int], ...]


class Replica(NamedTuple):
    """One replica. ``log``: the leader epoch of each record. ``dead``: leaders whose fetcher thread has ended.

    ``last_leader`` is kept where the variant looks at it (KAFKA-7164), ``established`` (it has fetched in this epoch) where an
    invariant does, ``answers`` (to its questions about epochs) where the rule does.
    """

    role: Role
    log: tuple[int, ...]
    cache: tuple[tuple[int, int], ...]
    hw: int
    leader_epoch: int = -1
    leader: int = -1
    last_leader: int = -1
    established: bool = False
    dead: Ids = ()
    term: Term | None = None
    answers: int = 0


class Word(NamedTuple):
    """What the controller tells a broker; the ISR interests nobody but the leader, and is left out for others."""

    leader: int
    epoch: int
    isr: Ids


class Place(NamedTuple):
    """A broker: whether its process runs, what it holds, and what it has not heard yet, oldest first."""

    node: int
    up: bool
    broker_epoch: int
    replica: Replica
    unheard: tuple[Word, ...]


class ControllerState(NamedTuple):
    """What the controller knows. ``last_leader`` and ``elr`` as far as the variant has them (KIP-966)."""

    leader: int
    leader_epoch: int
    isr: Ids
    elr: Ids
    last_leader: int
    live: Ids
    broker_epochs: Ids


class Common(NamedTuple):
    """What belongs to no broker: the controller, and how much may still happen.

    ``committed`` is the longest log below any leader's high watermark so far, where an invariant asks for it, else ().
    """

    controller: ControllerState
    records: int
    crashes: int
    lapses: int
    committed: tuple[int, ...] = ()


Names = tuple[int, ...]
"""New name of broker b at index b − 1."""


def renamed_place(place: Place, names: Names) -> Place:
    """The same with other names for the brokers."""
    replica = place.replica
    term = replica.term
    if term is not None:
        pending = term.pending
        term = Term(
            term.epoch_start,
            _ids(term.isr, names),
            None if pending is None else tuple(sorted((names[b - 1], epoch) for b, epoch in pending)),
            tuple(sorted((names[b - 1], leo, epoch) for b, leo, epoch in term.remotes)),
        )
    return Place(
        names[place.node - 1],
        place.up,
        place.broker_epoch,
        replica._replace(
            leader=_id(replica.leader, names),
            last_leader=_id(replica.last_leader, names),
            dead=_ids(replica.dead, names),
            term=term,
        ),
        tuple(Word(_id(word.leader, names), word.epoch, _ids(word.isr, names)) for word in place.unheard),
    )


def renamed_common(common: Common, names: Names) -> Common:
    """The same with other names for the brokers."""
    state = common.controller
    epochs = dict(zip(names, state.broker_epochs, strict=True))
    return common._replace(
        controller=ControllerState(
            _id(state.leader, names),
            state.leader_epoch,
            _ids(state.isr, names),
            _ids(state.elr, names),
            _id(state.last_leader, names),
            _ids(state.live, names),
            tuple(epochs[b] for b in sorted(epochs)),
        )
    )


def _id(broker: int, names: Names) -> int:
    return names[broker - 1] if broker > 0 else broker


def _ids(brokers: Ids, names: Names) -> Ids:
    return tuple(sorted(names[b - 1] for b in brokers))

"""Which links a fault acts on, seen from its target."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

CONTROLLER = 0
EVERYONE = -1
"""Stands for all clients in a link."""

Link = tuple[int, int]
"""(from, to); 0 is the controller, −1 all clients."""


class Around(NamedTuple):
    """A fault's target and what is around it.

    Attributes:
        node: the target. others: all other brokers.
        pick: the fault's. clients: whether clients are meant as well.
    """

    node: int
    others: tuple[int, ...]
    pick: int
    clients: bool


WhichLinks = Callable[[Around], tuple[Link, ...]]


def with_brokers(*, controller: bool = False, clients: bool = False, to: bool = True, of: bool = True) -> WhichLinks:
    """The links between the target and the other brokers: those to it, and those of its own; with the controller as well, and
    with clients where the fault means them.
    """

    def links(around: Around) -> tuple[Link, ...]:
        peers = [*around.others, *[CONTROLLER] * controller, *[EVERYONE] * (clients and around.clients)]
        there = tuple((around.node, peer) for peer in peers) if of else ()
        return there + tuple((peer, around.node) for peer in peers) if to else there

    return links


def from_controller(around: Around) -> tuple[Link, ...]:
    """What the controller says to the target."""
    return ((CONTROLLER, around.node),)


def with_controller(around: Around) -> tuple[Link, ...]:
    """Both ways between the two."""
    return ((CONTROLLER, around.node), (around.node, CONTROLLER))


def with_controller_by_pick(around: Around) -> tuple[Link, ...]:
    """By `pick` both ways, to the controller, or from it."""
    ways = ((around.node, CONTROLLER), (CONTROLLER, around.node))
    return (ways, ways[:1], ways[1:])[around.pick % 3]


def with_clients(around: Around) -> tuple[Link, ...]:
    """Both ways between the target and all clients."""
    return ((EVERYONE, around.node), (around.node, EVERYONE))


def of_controller(around: Around) -> tuple[Link, ...]:
    """Between the controller and all brokers."""
    return tuple(link for broker in around.others for link in ((CONTROLLER, broker), (broker, CONTROLLER)))


def between_halves(around: Around) -> tuple[Link, ...]:
    """Between the target's half of the brokers, with the controller, and the rest."""
    here = (around.node, *around.others[: len(around.others) // 2])
    there = [broker for broker in around.others if broker not in here]
    far = [*((a, b) for a in here for b in there), *((CONTROLLER, b) for b in there)]
    return tuple(far + [(b, a) for a, b in far])


def around_a_bridge(around: Around) -> tuple[Link, ...]:
    """Between two halves of the other brokers."""
    half = len(around.others) // 2
    return tuple(link for a in around.others[:half] for b in around.others[half:] for link in ((a, b), (b, a)))


def beyond_a_majority(around: Around) -> tuple[Link, ...]:
    """Each broker hears as many of its nearest neighbours in a ring as make a majority with itself, by turns ahead and behind."""
    ring = (around.node, *around.others)
    steps = [step if turn % 2 == 0 else -step for turn in range(len(ring)) for step in (1 + turn // 2,)]
    links = []
    for place, broker in enumerate(ring):
        heard = {ring[(place + step) % len(ring)] for step in steps[: len(ring) // 2]}
        links += [(other, broker) for other in ring if other != broker and other not in heard]
    return tuple(links)

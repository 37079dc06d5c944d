"""Who the members of an etcd cluster are, and how an operator takes one out and in (etcd.io/docs, *runtime reconfiguration*)."""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, TypeVar

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.etcd.gateway import EtcdError, Gateway

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.harness.systems.outside.real_system import Node

    Answer = TypeVar("Answer")

PEERS = 2380
PATIENCE_S = 8.0
"""A member that does not see all others for five seconds refuses to change anything: longer than that."""

Members = frozenset[str]
"""By their addresses for each other; a member that has just come has no name yet."""


def peer_url(node: Node) -> str:
    """Where the others reach it."""
    return f"http://{node.address}:{PEERS}"


def ask_others(node: int, nodes: Mapping[int, Node], ask: Callable[[Gateway], Answer]) -> Answer:
    """What the first member but this one answers.

    Raises:
        NodeError: none does; with what the last one said.
    """
    last: Exception | None = None
    for number, other in nodes.items():
        if number == node:
            continue
        try:
            with closing(Gateway(other.for_clients, PATIENCE_S)) as gateway:
                return ask(gateway)
        except (EtcdError, OSError, HTTPException) as error:
            last = error
    raise NodeError(f"no other member did it: {last}")


def take_out(gateway: Gateway, url: str, known: set[str]) -> None:
    """Have the members agree that one of them is none any more; nothing is done if it is none. Its number, which nobody has a
    second time, is put into `known` first.

    Raises:
        EtcdError: they do not, or nobody knows. OSError, http.client.HTTPException: there is no answer.
    """
    for one in _listed(gateway):
        if url in one["peerURLs"]:
            known.add(one["ID"])
            gateway.ask("cluster/member/remove", {"ID": one["ID"]})


def take_in(gateway: Gateway, url: str, known: set[str]) -> Members:
    """Have the members agree on one more; who they are then. Nobody, if it is still one of them, or if there is no majority that
    could tell: then it may be needed for one. If it is one of them by a number that is not `known`, it has been taken in already,
    and the answer was lost.

    Raises:
        EtcdError: they do not, or nobody knows. OSError, http.client.HTTPException: there is no answer.
    """
    try:
        there = _listed(gateway)
    except EtcdError:
        there = _listed(gateway, by_majority=False)
    number = next((one["ID"] for one in there if url in one["peerURLs"]), None)
    if number is not None and (number in known or not known):
        return frozenset()
    if number is None:
        there = gateway.ask("cluster/member/add", {"peerURLs": [url]})["members"]
    return frozenset(address for one in there for address in one["peerURLs"])


def _listed(gateway: Gateway, *, by_majority: bool = True) -> list[dict[str, Any]]:
    """The members, as a majority agrees, or as this one knows (before etcd 3.5 always)."""
    asked = {"linearizable": by_majority}
    found: list[dict[str, Any]] = gateway.ask("cluster/member/list", asked)["members"]
    return found

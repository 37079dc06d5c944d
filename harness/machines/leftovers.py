"""Containers, networks and volumes of ours that are still there: those of a run, those whose process is gone, or all."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from docker.errors import APIError, DockerException, NotFound
from requests import RequestException

from tidemark.harness.machines.cluster_keys import forget_key
from tidemark.harness.machines.errors import ClusterError, EngineError
from tidemark.harness.machines.interrupts import held_interrupts
from tidemark.harness.machines.owner import RUN, Owner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from docker import DockerClient
    from rich.console import Console

GONE_S = 30.0
"""How long removing may take before it counts as failed."""
_ORDER = ("container", "network", "volume")


class Found(NamedTuple):
    """One thing of ours in the engine.

    Attributes:
        kind: container, network or volume. name, id: the engine's. run: of its cluster. owner: who made it.
    """

    kind: str
    name: str
    id: str
    run: str
    owner: Owner


def every(client: DockerClient, run_id: str | None = None) -> list[Found]:
    """Everything with our labels; of one run, if one is named.

    Raises:
        ClusterError: the engine cannot be asked.
    """
    wanted = {"label": RUN if run_id is None else f"{RUN}={run_id}"}
    try:
        containers = client.api.containers(all=True, filters=wanted)
        networks = client.api.networks(filters=wanted)
        volumes = client.api.volumes(filters=wanted)["Volumes"] or []
    except (DockerException, RequestException) as error:
        raise ClusterError(f"the engine cannot say what is left: {error}") from None
    return [
        *(_found("container", (item["Names"] or [item["Id"]])[0].lstrip("/"), item["Id"], item) for item in containers),
        *(_found("network", item["Name"], item["Id"], item) for item in networks),
        *(_found("volume", item["Name"], item["Name"], item) for item in volumes),
    ]


def stale(client: DockerClient) -> list[Found]:
    """What belongs to a process of this host that has ended.

    Raises:
        ClusterError: the engine cannot be asked.
    """
    return [found for found in every(client) if found.owner.is_gone]


def remove(client: DockerClient, found: Iterable[Found]) -> None:
    """Remove things, containers first, and look whether they are gone; and their clusters' SSH keys. What is gone already is no
    error.

    Raises:
        ClusterError: something is still there after 30 s; the message names it and says what the engine said.
    """
    left = list(found)
    with held_interrupts():
        _remove(client, left)
        for run in {item.run for item in left}:
            forget_key(run)


def _remove(client: DockerClient, left: list[Found]) -> None:
    deadline = time.monotonic() + GONE_S
    while left:
        said = _remove_once(client, left)
        still = {(item.kind, item.id) for item in every(client)}
        left = [item for item in left if (item.kind, item.id) in still]
        if left and time.monotonic() > deadline:
            names = ", ".join(f"{item.kind} {item.name}" for item in left)
            raise ClusterError(f"cannot remove {names}: {said or 'the engine does not say why'}")
        if left:
            time.sleep(0.2)


def offer_cleanup(console: Console) -> None:
    """If a run that was killed left something behind: on a terminal ask whether to remove it, else say how to.

    Says nothing if there is no engine.
    """
    clean_up(console, ask=True)


def clean_up(console: Console, *, ask: bool = False) -> None:
    """Remove what runs that were killed left behind, and say so.

    Says nothing if there is no engine.

    Args:
        console: where to say it.
        ask: whether to, as :func:`offer_cleanup` does; else it is for commands that nobody may be watching.
    """
    from tidemark.harness.machines.docker_engine import connect

    try:
        client = connect(10)
    except EngineError:
        return
    try:
        found = stale(client)
        if not found:
            return
        runs = sorted({item.run for item in found})
        sentence = (
            f"{len(found)} containers, networks and volumes are left of runs that were killed ({', '.join(runs)})"
        )
        if not ask:
            console.print(f"{sentence}; they are removed", soft_wrap=True)
            remove(client, found)
        elif sys.stdin.isatty() and console.is_terminal:
            console.print(sentence)
            if click.confirm("Remove them?", default=True):
                remove(client, found)
        else:
            console.print(f"{sentence}; to remove them: tidemark cluster down --all", soft_wrap=True)
    except ClusterError as error:
        console.print(str(error), soft_wrap=True)
    finally:
        client.close()


def _found(kind: str, name: str, id_: str, item: dict[str, Any]) -> Found:
    labels = item.get("Labels") or {}
    return Found(kind, name, id_, labels.get(RUN, ""), Owner.of(labels))


def _remove_once(client: DockerClient, found: list[Found]) -> str:
    """Try to remove each; what the engine said last of those it would not."""
    said = ""
    for kind in _ORDER:
        some = [item for item in found if item.kind == kind]
        if some:
            with ThreadPoolExecutor(min(8, len(some))) as pool:
                said = next((text for text in pool.map(lambda item: _remove_one(client, item), some) if text), said)
    return said


def _remove_one(client: DockerClient, item: Found) -> str:
    try:
        if item.kind == "container":
            client.api.remove_container(item.id, v=True, force=True)
        elif item.kind == "network":
            for attached in client.api.inspect_network(item.id)["Containers"]:
                client.api.disconnect_container_from_network(attached, item.id, force=True)
            client.api.remove_network(item.id)
        else:
            client.api.remove_volume(item.id, force=True)
    except NotFound:
        return ""
    except APIError as error:
        return str(error.explanation or error)
    except (DockerException, RequestException) as error:
        return str(error)
    return ""

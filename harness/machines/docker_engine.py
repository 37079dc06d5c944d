"""The Docker engine: find it, and say what keeps it from being used.

``DOCKER_HOST`` is respected; without it and without the usual socket, the current ``docker context`` says where to look.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import docker
from docker.context import ContextAPI
from docker.errors import DockerException

from tidemark.harness.machines.errors import EngineError

if TYPE_CHECKING:
    from docker import DockerClient

SOCKET = Path("/var/run/docker.sock")
TIMEOUT_S = 60
CONNECTIONS = 32


class Diagnosis(NamedTuple):
    """How the engine is: ``running``, ``stopped``, ``missing`` or ``forbidden``; a sentence, and the command that helps."""

    state: str
    found: str
    fix: str = ""


def connect(timeout_s: int = TIMEOUT_S) -> DockerClient:
    """A client of the running engine; the caller closes it.

    Args:
        timeout_s: how long one request may take.

    Raises:
        EngineError: there is none that may be used; the message says what to do.
    """
    try:
        return _client(timeout_s)
    except (DockerException, OSError, ValueError) as error:
        found = _diagnose(error)
        raise EngineError(f"{found.found}; {found.fix}") from None


def diagnose() -> Diagnosis:
    """Look for an engine without using it."""
    try:
        client = _client(5)
    except (DockerException, OSError, ValueError) as error:
        return _diagnose(error)
    try:
        version = client.version()
    finally:
        client.close()
    return Diagnosis(
        "running",
        f"Docker {version['Version']} on {version['Os']}/{version['Arch']}, kernel {version['KernelVersion']}",
    )


def _client(timeout_s: int) -> DockerClient:
    """A client of the engine that ``docker`` would use."""
    address = os.environ.get("DOCKER_HOST") or (None if SOCKET.exists() else _address_of_context())
    knock(address or f"unix://{SOCKET}")
    client = docker.from_env(
        timeout=timeout_s,
        max_pool_size=CONNECTIONS,
        environment={**os.environ, **({"DOCKER_HOST": address} if address else {})},
    )
    try:
        client.ping()
    except BaseException:
        client.close()
        raise
    return client


def knock(address: str) -> None:
    """Whether anybody listens at a ``unix://`` address. The SDK finds out too, but leaves a socket open then.

    Raises:
        OSError: nobody does, or we may not.
    """
    if address.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(address.removeprefix("unix://"))


def _address_of_context() -> str | None:
    """Where ``docker context`` points: Docker Desktop and others keep their sockets elsewhere."""
    try:
        context = ContextAPI.get_current_context()
    except (DockerException, OSError, ValueError, KeyError):
        return None
    return str(context.Host) if context and context.Host else None


def _diagnose(error: BaseException) -> Diagnosis:
    given = os.environ.get("DOCKER_HOST")
    said = str(error)
    if "Permission denied" in said or "PermissionError" in said:
        return Diagnosis(
            "forbidden",
            f"no permission to use {given or SOCKET}",
            "run: sudo usermod -aG docker $USER, and log in again",
        )
    if given:
        return Diagnosis(
            "stopped", f"no Docker engine answers at DOCKER_HOST={given}", "start it there, or run: unset DOCKER_HOST"
        )
    if sys.platform != "linux":
        return Diagnosis("missing", "no Docker engine answers", "start Docker Desktop, colima or another one")
    sudo = "" if os.geteuid() == 0 else "sudo "
    if shutil.which("dockerd") is None:
        command = f"{sudo}apt-get install docker.io" if shutil.which("apt-get") else "install Docker Engine"
        return Diagnosis("missing", "Docker is not installed", f"run: {command}" if "apt-get" in command else command)
    systemd = Path("/run/systemd/system").is_dir()
    return Diagnosis(
        "stopped",
        "Docker is installed but does not run",
        f"run: {sudo}{'systemctl start docker' if systemd else 'service docker start'}",
    )

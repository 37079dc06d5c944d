"""The Docker engine: find it, say what keeps it from being used, start one, install one.

``DOCKER_HOST`` is respected; without it and without the usual socket, the current ``docker context`` says where to look.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import docker
from docker.context import ContextAPI
from docker.errors import DockerException

from tidemark.harness.machines.apt import install, may_install
from tidemark.harness.machines.errors import EngineError
from tidemark.harness.machines.folders import state_folder
from tidemark.harness.machines.host_network import HostNetwork

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from docker import DockerClient

SOCKET = Path("/var/run/docker.sock")
TIMEOUT_S = 60
CONNECTIONS = 32
READY_S = 30.0
STOP_S = 30.0


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


def _client(timeout_s: int, address: str | None = None) -> DockerClient:
    """A client of the engine at an address; without one, of the one that ``docker`` would use."""
    if address is None:
        address = os.environ.get("DOCKER_HOST") or (None if SOCKET.exists() else _address_of_context())
        _knock(address or f"unix://{SOCKET}")
        client = docker.from_env(
            timeout=timeout_s,
            max_pool_size=CONNECTIONS,
            environment={**os.environ, **({"DOCKER_HOST": address} if address else {})},
        )
    else:
        _knock(address)
        client = docker.DockerClient(base_url=address, timeout=timeout_s)
    try:
        client.ping()
    except BaseException:
        client.close()
        raise
    return client


def _knock(address: str) -> None:
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


class StartedEngine:
    """An engine that this process started, and may stop. Made by :func:`start_engine`."""

    def __init__(self, process: subprocess.Popen[bytes], pid_file: Path, log: Path, network: HostNetwork) -> None:
        self._process = process
        self._pid_file = pid_file
        self._network = network
        self.log = log
        self._stopped = False

    @property
    def pid(self) -> int:
        """Of dockerd."""
        return self._process.pid

    def stop(self) -> None:
        """End this dockerd, and with it its containers; take its rules and bridge out of the host's network again.

        Raises:
            EngineError: it had to be killed.
        """
        if self._stopped:
            return
        self._stopped = True
        clean = True
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
                clean = False
        self._pid_file.unlink(missing_ok=True)
        self._network.restore()
        if not clean:
            raise EngineError(f"dockerd did not stop within {STOP_S:g} s and was killed; its log is {self.log}")


def can_start() -> bool:
    """Whether :func:`start_engine` has a chance: root, dockerd on PATH, and nobody asked for another engine."""
    return (
        sys.platform == "linux"
        and os.geteuid() == 0
        and shutil.which("dockerd") is not None
        and not os.environ.get("DOCKER_HOST")
    )


def start_engine(
    folder: Path | None = None,
    *,
    arguments: Sequence[str] = (),
    prefix: Sequence[str] = (),
    host: str | None = None,
) -> StartedEngine:
    """Start dockerd in the background and wait until it answers.

    Args:
        folder: for its pid file and log; the state folder by default.
        arguments: further ones of dockerd.
        prefix: a command to run it (and iptables) by, such as ``ip netns exec NAME``.
        host: its socket, if not the usual one.

    Raises:
        EngineError: it does not come up within 30 s; the last line of its log is in the message.
    """
    folder = folder or state_folder()
    log, pid_file = folder / "dockerd.log", folder / "dockerd.pid"
    pid_file.unlink(missing_ok=True)  # one that was killed leaves it, and dockerd would refuse to start
    network = HostNetwork.remember(prefix)
    command = [*prefix, "dockerd", "--pidfile", str(pid_file), *(["--host", host] if host else []), *arguments]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    engine = StartedEngine(process, pid_file, log, network)
    deadline = time.monotonic() + READY_S
    while process.poll() is None and time.monotonic() < deadline:
        if _answers(host or f"unix://{SOCKET}"):
            return engine
        time.sleep(0.1)
    engine.stop()
    raise EngineError(f"dockerd does not start: {_last_line(log)} (its log is {log})")


def _answers(address: str) -> bool:
    try:
        _client(5, address).close()
    except (DockerException, OSError):
        return False
    return True


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def can_install() -> bool:
    """Whether :func:`install_engine` has a chance: apt-get may be used, and nobody asked for another engine."""
    return may_install() and not os.environ.get("DOCKER_HOST")


def install_engine(tell: Callable[[str], None]) -> None:
    """Install Debian's ``docker.io`` (12 s).

    Raises:
        ContainerWorldError: apt-get refuses.
    """
    tell("installing docker.io")
    install("docker.io", "iptables")

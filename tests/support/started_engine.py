"""A Docker engine that a run of tests starts, and stops so that it leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

from docker import DockerClient
from docker.errors import DockerException
from host_network import HostNetwork

from tidemark.harness.machines.docker_engine import SOCKET, knock
from tidemark.harness.machines.errors import EngineError
from tidemark.harness.machines.folders import state_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

READY_S = 30.0
STOP_S = 30.0


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
        knock(address)
        with closing(DockerClient(base_url=address, timeout=5)) as client:
            client.ping()
    except (DockerException, OSError):
        return False
    return True


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"

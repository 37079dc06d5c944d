"""A machine that is this computer: commands run in a shell of ours, and files lie in a folder of the test's."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.machines.errors import CommandFailed, NodeError
from harness.machines.node_control import NodeControl
from harness.machines.node_places import Places
from harness.machines.ssh import Result


class LocalShell:
    """What a :class:`harness.machines.ssh.Shell` offers, without SSH."""

    def __init__(self, name):
        self.name = name
        self.commands = []

    def run(self, command, *, timeout_s=30.0, check=True, stdin=None):
        self.commands.append(command)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", command],
            input=stdin if isinstance(stdin, str) or stdin is None else stdin.decode(),
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        if check and done.returncode:
            raise CommandFailed(f"{self.name} failed", done.returncode, done.stdout, done.stderr)
        return Result(done.returncode, done.stdout, done.stderr)

    def get(self, path, *, timeout_s=30.0):
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise NodeError(str(error)) from None

    def channel(self, host, port, *, timeout_s=15.0):
        try:
            return socket.create_connection((host, port), timeout=None)
        except OSError as error:
            raise NodeError(f"{self.name}: no connection to port {port}: {error}") from None


class LocalMachine:
    """Has the attributes of a :class:`harness.machines.machine.Machine` that do not need a container."""

    def __init__(self, node, ports):
        self.node = node
        self.name = f"b{node}" if node else "controller"
        self.shell = LocalShell(self.name)
        self.inner_ip = "127.0.0.1"
        self.admin_port, self.internal_port, self.host_port = ports
        self.internal = f"127.0.0.1:{self.internal_port}"
        self.advertised = f"127.0.0.1:{self.host_port}"


def free_ports(count):
    """Ports that nobody listens at now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture
def machine():
    """The controller's."""
    return LocalMachine(0, free_ports(3))


@pytest.fixture
def control(machine, tmp_path):
    """Its node process."""
    control = NodeControl(machine, Places(str(tmp_path)))
    yield control
    control.kill()


@pytest.fixture
def config(control):
    """A controller that waits for a broker which never comes."""
    machine, places = control.machine, control.places
    return {
        "node": 0,
        "incarnation": 1,
        "variant": "kafka-2.7",
        "cluster": {"brokers": 1, "replication_factor": 1, "settings": {"min_isr": 1}},
        "listeners": {"internal": {"bind": machine.internal, "advertise": machine.internal}},
        "peers": {"0": machine.internal, "1": "127.0.0.1:9"},
        "hosts": {"1": "127.0.0.1:9"},
        "admin": f"127.0.0.1:{machine.admin_port}",
        "data": places.data,
        "volatile": places.volatile,
        "trace": places.trace,
    }

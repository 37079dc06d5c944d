"""Machines that are this computer: commands run in a shell of ours, and files lie where a test wants them."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from kept_ports import keep_ports

from tidemark.harness.machines.errors import CommandFailed, NodeError
from tidemark.harness.machines.ssh import Result

CHECKOUT = Path(__file__).parents[2]


class LocalShell:
    """What a :class:`tidemark.harness.machines.ssh.Shell` offers, without SSH.

    Attributes:
        commands: what was run.
    """

    def __init__(self, name):
        self.name = name
        self.commands = []
        self._environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(CHECKOUT),
        }

    def run(self, command, *, timeout_s=30.0, check=True, stdin=None):
        self.commands.append(command)
        done = subprocess.run(
            ["sh", "-c", command],
            input=stdin.encode() if isinstance(stdin, str) else stdin or b"",
            env=self._environment,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
        result = Result(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
        if check and result.code:
            raise CommandFailed(f"{self.name}: {result.err}", *result)
        return result

    def get(self, path, *, timeout_s=30.0):
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise NodeError(str(error)) from None

    def channel(self, host, port, *, timeout_s=15.0):
        try:
            connection = socket.create_connection((host, port), timeout_s)
        except OSError as error:
            raise NodeError(f"{self.name}: no connection to port {port}: {error}") from None
        connection.settimeout(None)
        return connection


class LocalMachine:
    """Has the attributes of a :class:`tidemark.harness.machines.machine.Machine` that do not need a container.

    Args:
        node: its number.
        ports: for the admin port, the internal listener and the host's.
    """

    def __init__(self, node, ports):
        self.node = node
        self.name = f"b{node}" if node else "controller"
        self.shell = LocalShell(self.name)
        self.inner_ip = self.host_address = "127.0.0.1"
        self.admin_port, self.internal_port, self.host_port = ports
        self.internal = f"127.0.0.1:{self.internal_port}"
        self.advertised = f"127.0.0.1:{self.host_port}"
        self.environment = {}


def local_machines(nodes, kept):
    """Node → machine, with ports that are theirs until the exit stack is closed."""
    return {node: LocalMachine(node, keep_ports(3, kept)) for node in nodes}

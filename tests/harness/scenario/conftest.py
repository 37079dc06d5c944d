"""A broker that says what it is told to say, and machines that are folders of this one."""

import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from struct import Struct

import pytest

from harness.machines.addresses import free_ports
from harness.machines.errors import CommandFailed, NodeError
from harness.machines.node_places import Places
from harness.machines.ssh import Result
from harness.scenario.live.nodes import Nodes
from nodes.formats.wire.codec import codec
from nodes.formats.wire.frames import response_frame

CHECKOUT = Path(__file__).parents[3]
_LENGTH, _HEADER = Struct(">i"), Struct(">hhih")


class FakeBroker:
    """Answers one request after the other.

    `answer` makes of API key and request the response's entity, or its bytes, or "silence", or None to hang up.
    """

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        self.answer = lambda key, request: None
        self.requests = []
        self._threads = [threading.Thread(target=self._accept)]
        self._connections = []
        self._threads[0].start()

    def _accept(self):
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                self._threads.append(threading.Thread(target=self._serve, args=(connection,)))
                self._threads[-1].start()

    def _serve(self, connection):
        with suppress(OSError, EOFError), connection:
            while True:
                frame = self._read(connection, _LENGTH.unpack(self._read(connection, 4))[0])
                key, version, correlation, name = _HEADER.unpack_from(frame)
                how = codec(key, version)
                request = how.read_request(frame, _HEADER.size + name)
                self.requests.append(request)
                entity = self.answer(key, request)
                if entity is None:
                    return
                if isinstance(entity, bytes):
                    connection.sendall(_LENGTH.pack(4 + len(entity)) + _LENGTH.pack(correlation) + entity)
                elif entity != "silence":
                    connection.sendall(response_frame(correlation, how.response_header, how.write_response, entity))

    def _read(self, connection, size):
        data = BytesIO()
        while data.tell() < size:
            part = connection.recv(size - data.tell())
            if not part:
                raise EOFError
            data.write(part)
        return data.getvalue()

    def close(self):
        for one in (self._listener, *self._connections):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in self._threads:
            thread.join(5)


@pytest.fixture
def broker():
    fake = FakeBroker()
    yield fake
    fake.close()


class LocalShell:
    """Commands here, in place of SSH."""

    def __init__(self, name):
        self._name = name
        self._environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(CHECKOUT),
        }

    def run(self, command, *, timeout_s=30.0, check=True, stdin=None):
        said = stdin.encode() if isinstance(stdin, str) else stdin or b""
        done = subprocess.run(
            ["sh", "-c", command],
            input=said,
            capture_output=True,
            timeout=timeout_s,
            env=self._environment,
            check=False,
        )
        result = Result(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
        if check and result.code:
            raise CommandFailed(f"{self._name}: {result.err}", *result)
        return result

    def get(self, path, *, timeout_s=30.0):
        return Path(path).read_bytes()

    def channel(self, host, port, *, timeout_s=15.0):
        try:
            connection = socket.create_connection((host, port), timeout_s)
        except OSError as error:
            raise NodeError(f"{self._name}: {error}") from None
        connection.settimeout(None)
        return connection


@dataclass
class LocalMachine:
    node: int
    ports: list
    name: str = ""
    inner_ip: str = "127.0.0.1"
    host_address: str = "127.0.0.1"
    environment: dict = field(default_factory=dict)

    def __post_init__(self):
        self.name = f"node-{self.node}"
        self.shell = LocalShell(self.name)
        port, self.host_port, self.admin_port = self.ports
        self.internal = f"127.0.0.1:{port}"
        self.advertised = f"127.0.0.1:{self.host_port}"


class LocalNodes(Nodes):
    """Node processes beside each other on this machine, whose firewall is left alone: a cut is made by the sender."""

    def __init__(self, folder, scenario, variant, time_scale):
        cluster = replace(scenario.cluster, settings=scenario.cluster.settings.scaled(time_scale))
        ids = (0, *cluster.broker_ids())
        ports = free_ports(3 * len(ids))
        machines = {node: LocalMachine(node, ports[3 * node : 3 * node + 3]) for node in ids}
        places = {node: Places(str(folder / str(node))) for node in ids}

        def configure(node, incarnation):
            here, where = machines[node], places[node]
            listeners = {"internal": {"bind": here.internal, "advertise": here.internal}}
            if node:
                listeners["host"] = {"bind": here.advertised, "advertise": here.advertised}
            return {
                "node": node,
                "incarnation": incarnation,
                "variant": variant.name,
                "cluster": cluster.to_json(),
                "first_leader_epoch": scenario.first_epoch,
                "listeners": listeners,
                "peers": {str(n): machine.internal for n, machine in machines.items()},
                "hosts": {str(n): machine.advertised for n, machine in machines.items() if n},
                "admin": f"127.0.0.1:{here.admin_port}",
                "data": where.data,
                "volatile": where.volatile,
                "trace": where.trace,
            }

        super().__init__(machines, configure, places)

    def clean(self):
        self.all_at_once(lambda node: self.controls[node].clean(), self.ids)

    def _close(self, node):
        self.kill(node)

    def cut(self, key, source, to):
        self.put_rules(key, {source: [{"kind": None, "to": to, "effect": "drop", "amount": 0}]})

    def join(self, key):
        return self.drop_rules(key)


@pytest.fixture
def local_machine():
    return LocalMachine(1, [1, 2, 3])


@pytest.fixture
def local_nodes():
    return LocalNodes

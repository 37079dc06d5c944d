"""A broker that says what it is told to say, and machines that are folders of this one."""

import secrets
import socket
import threading
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from struct import Struct

import pytest
from local_machine import local_machines

from tidemark.harness.conform.expectation import judged
from tidemark.harness.machines.cluster import ContainerCluster
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.machines.node_places import Places
from tidemark.harness.scenario import find, run_scenario
from tidemark.harness.scenario.live.nodes import Nodes
from tidemark.harness.scenario.live.target_factory import LiveTargets
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.registry import find_system
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nodes.formats.wire.codec import codec
from tidemark.nodes.formats.wire.frames import response_frame

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


class LocalNodes(Nodes):
    """Node processes beside each other on this machine, whose firewall is left alone: a cut is made by the sender."""

    def __init__(self, kept, folder, scenario, variant, time_scale):
        cluster = replace(scenario.cluster, settings=scenario.cluster.settings.scaled(time_scale))
        ids = (0, *cluster.broker_ids())
        machines = local_machines(ids, kept)
        self.places = {node: Places(str(folder / str(node))) for node in ids}
        super().__init__(Deployment(machines, cluster, variant, scenario.first_epoch), TidemarkSystem())

    def control(self, machine, on_lost):
        return NodeControl(machine, self.places[machine.node], on_lost)

    def config(self, node, incarnation):
        machines = self.machines
        here, where = machines[node], self.places[node]
        listeners = {"internal": {"bind": here.internal, "advertise": here.internal}}
        if node:
            listeners["host"] = {"bind": here.advertised, "advertise": here.advertised}
        return {
            "node": node,
            "incarnation": incarnation,
            "variant": self.deployment.variant.name,
            "cluster": self.deployment.cluster.to_json(),
            "first_leader_epoch": self.deployment.first_leader_epoch,
            "listeners": listeners,
            "peers": {str(n): machine.internal for n, machine in machines.items()},
            "hosts": {str(n): machine.advertised for n, machine in machines.items() if n},
            "admin": f"127.0.0.1:{here.admin_port}",
            "data": where.data,
            "volatile": where.volatile,
            "trace": where.trace,
        }

    def clean(self):
        self.all_at_once(lambda node: self.controls[node].clean(), self.ids)

    def _close(self, node):
        self.kill(node)

    def cut(self, key, source, to):
        self.put_rules(key, {source: [{"kind": None, "to": to, "effect": "drop", "amount": 0}]})

    def join(self, key):
        return self.drop_rules(key)


@pytest.fixture
def local_nodes():
    """Makes :class:`LocalNodes`, whose ports are kept until the test is over."""
    with ExitStack() as kept:
        yield partial(LocalNodes, kept)


@pytest.fixture(scope="module")
def kafka_machines(request, engine, kafka_image):
    """Those of three brokers of Apache Kafka, of the module's VERSION."""
    version = request.module.VERSION
    needs, image = find_system(f"kafka:{version}").needs, kafka_image(version)
    run_id = f"test-{secrets.token_hex(4)}"
    with ContainerCluster.up(3, run_id=run_id, image=image, client=engine, needs=needs) as cluster:
        yield cluster


@pytest.fixture
def play_on_kafka(kafka_machines):
    """Acts a script out on brokers that stand for a preset, and holds it against their model."""

    def play(name, system, preset):
        system = find_system(system)
        outcome = run_scenario(find(name), preset, LiveTargets(kafka_machines.machines, system=system).target)
        return judged(outcome, system)

    return play

"""What an engineer writes to have a system of her own tested: one class, in one file (docs/systems.md)."""

from __future__ import annotations

import http.client
import io
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from tidemark.harness.machines.errors import NodeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tidemark.harness.clients.client import Client
    from tidemark.harness.machines.machine import Machine
    from tidemark.nemesis import Plan

DATA = "/var/lib/tidemark/data"
"""The disk of a node: what lies there is the program's. A power loss takes what was not synced, a lost disk all of it."""
CLIENT_PORT = 19092
"""Where a node must listen for its clients, at any address."""
ASK_S = 2.0
ALONE = "nothing stands beside its nodes that one could be cut from"


class Jar(NamedTuple):
    """One jar out of Maven's repository, without what it depends on.

    Attributes:
        name: ``group:artifact:version``. sha256: what it must be; empty: whatever the repository says.
    """

    name: str
    sha256: str


@dataclass(frozen=True)
class Install:
    """What must be on a node's machine, a Debian 12 with Python 3.11.

    Attributes:
        packages: of Debian.
        files: path there → a file here, or its content. All may be executed.
        jars: path there → a jar, fetched while the image is built.
        commands: for a shell, while the image is built, one after the other.
    """

    packages: Sequence[str] = ()
    files: Mapping[str, Path | bytes] = field(default_factory=dict)
    jars: Mapping[str, Jar] = field(default_factory=dict)
    commands: Sequence[str] = ()


class Process(NamedTuple):
    """What runs on a node.

    Attributes:
        argv: the command. SIGTERM means a clean shutdown.
        files: path there → text, written before each start. env: beside what is there.
        ready: when it can be used: a regular expression that is found in what it prints, or a port at which it listens.
    """

    argv: Sequence[str]
    files: Mapping[str, str] = {}
    env: Mapping[str, str] = {}
    ready: str | int = CLIENT_PORT


class View(NamedTuple):
    """What one node says of one log; None: it does not know, or does not say.

    Attributes:
        leads: whether it leads. epoch: term, ballot, generation: it grows with every leader.
        end: the offset that the next record will have here. committed: all before it is committed, as this node knows.
        leader: number of the node that it takes for the leader.
    """

    leads: bool = False
    epoch: int | None = None
    end: int | None = None
    committed: int | None = None
    leader: int | None = None


class LogEntry(NamedTuple):
    """A record as it stands in a node's log: its offset, the epoch it was written in, and its value; of what is no log of records
    a change as text.
    """

    offset: int
    epoch: int | None
    value: int | str


class Script(NamedTuple):
    """A plan that shows something, by name, with its outcome.

    Attributes:
        about: what happens, in a sentence.
        plan: the faults, at the times of this system.
        loses: whether an acknowledged record is lost, or what was answered of an object contradicts it.
    """

    about: str
    plan: Plan
    loses: bool


class Node:
    """A node, as a system's methods see it.

    Attributes:
        number: from 1. address: where the other nodes reach it, at any port.
    """

    def __init__(self, number: int, machine: Machine) -> None:
        self.number, self.machine = number, machine
        self.address: str = machine.inner_ip

    @property
    def for_clients(self) -> tuple[str, int]:
        """Where clients on this computer reach port 19092 of the node."""
        return self.machine.host_address, self.machine.host_port

    def run(self, command: str) -> str:
        """Run a command there, by ``sh``; gives what it printed.

        Raises:
            NodeError: it failed, or the machine cannot be reached.
        """
        return self.machine.shell.run(command).out

    def ask(self, port: int, request: bytes) -> bytes:
        """Send something to a port of the node, over its loopback; gives all that comes back until it hangs up.

        Raises:
            NodeError: nobody listens. OSError: there is no answer in time.
        """
        channel = self.machine.shell.channel("127.0.0.1", port, timeout_s=ASK_S)
        try:
            channel.settimeout(ASK_S)
            channel.sendall(request)
            answer = b""
            while found := channel.recv(1 << 16):
                answer += found
            return answer
        finally:
            channel.close()

    def get_json(self, port: int, path: str) -> Any:  # noqa: ANN401 - whatever it says
        """What a port of the node answers to an HTTP request.

        Raises:
            NodeError: nobody listens, or it answers something else. OSError: there is no answer in time.
        """
        return self._json_of(port, f"GET {path} HTTP/1.0\r\nHost: {self.address}\r\n\r\n".encode())

    def post_json(self, port: int, path: str, about: object) -> Any:  # noqa: ANN401 - whatever it says
        """The same of a request that has JSON in it.

        Raises:
            NodeError: nobody listens, or it answers something else. OSError: there is no answer in time.
        """
        body = json.dumps(about).encode()
        head = f"POST {path} HTTP/1.0\r\nHost: {self.address}\r\nContent-Type: application/json\r\n"
        return self._json_of(port, f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def _json_of(self, port: int, request: bytes) -> Any:  # noqa: ANN401 - whatever it says
        said = self.ask(port, request)
        response = http.client.HTTPResponse(_Said(said))  # type: ignore[arg-type]
        try:
            response.begin()
            return json.loads(response.read())
        except (http.client.HTTPException, ValueError) as error:
            raise NodeError(f"node {self.number} answers no JSON at port {port}: {error}") from None


class _Said:
    """As much of a socket as http.client needs."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._text)


class RealSystem(ABC):
    """A system of any protocol. `install`, `process` and `client` must be written, and whatever of the others it can show.

    Attributes:
        name: what ``--system`` calls it.
        promise: what it promises of an acknowledged record: ``durable``, ``majority`` or ``ack-quorum`` (docs/anomalies.md).
        promised: the words of its documentation that say so, and where they stand.
        workloads: what its clients can do: ``log``, and those beside it (``register``, ``cas-register``, ``list-append``,
            ``set`` …). The first is what they do where nobody asks for another.
        workload: which of them the run that begins has; set before `beside`.
        data_files: what its data files are called, below its disk, as globs: damage to files strikes these.
        shows_files: whether `log_of` reads files, so that it shows of a damaged node what nobody may have been served.
        suffers_not: kind of fault → why it cannot suffer it, beyond what follows from what it cannot show.
        memory: of a node, bytes. disk: its size.
        model: the variant of ours that does what it does, if there is one: ``tidemark hunt --variant MODEL --confirm NAME`` hunts
            on the model, and plays what it finds here. session_s: how long a node is not missed, for the times of these plans.
        time_scale: by how much the times of plans, which are short, must be multiplied at least.
    """

    name: str
    promise: str = "majority"
    promised: str = ""
    workloads: ClassVar[Sequence[str]] = ("log",)
    workload: str = "log"
    data_files: ClassVar[Sequence[str]] = ("**/*",)
    shows_files: bool = True
    suffers_not: ClassVar[Mapping[str, str]] = {}
    memory: int = 512 << 20
    disk: str = "256m"
    model: str = ""
    session_s: float = 0
    time_scale: float = 1.0

    @abstractmethod
    def install(self) -> Install:
        """What must be on a node's machine."""

    @abstractmethod
    def process(self, node: int, nodes: Mapping[int, Node], logs: Sequence[str]) -> Process:
        """What runs on a node.

        Args:
            node: its number.
            nodes: all of them, itself included.
            logs: the names of the logs that the workload uses, such as ``t-0``.
        """

    def beside(self, machine: Node, nodes: Mapping[int, Node]) -> None:  # noqa: B027 - many need none
        """All nodes are down: start what they cannot do without, such as a metadata store, on a machine of its own.

        No fault strikes it. What an earlier run has left there is still there, and must go.

        Args:
            machine: its number is 0.
            nodes: those that will be started.

        Raises:
            NodeError, OSError: it cannot be done.
        """

    def setup(self, nodes: Mapping[int, Node], logs: Mapping[str, Sequence[int]]) -> None:  # noqa: B027 - many need none
        """All processes run for the first time, and clients are to come: make the logs.

        Args:
            nodes: all of them.
            logs: name → the nodes that are to have it; the one that should lead comes first.

        Raises:
            NodeError, OSError: it cannot be done.
        """

    @abstractmethod
    def client(self, workload: str) -> Client:
        """A client that nobody has opened yet; one process of the history. See docs/systems.md for what it is asked."""

    def view(self, node: Node, log: str) -> View:
        """How a node stands, by its own words. Who has no such method cannot suffer faults that need a role. May raise."""
        raise NotImplementedError

    def log_of(self, node: Node, log: str) -> Sequence[LogEntry] | None:
        """All records of a node's own log, when everything is over, whatever other nodes have; None: this workload leaves none that
        could be compared. May raise.
        """
        raise NotImplementedError

    def leave(self, node: int, nodes: Mapping[int, Node]) -> None:
        """The process of a node has ended: have the others take it out of their members, for good. Who has no such method, and
        `join`, cannot suffer ``leave``. May raise: they refused, or nobody knows.
        """
        raise NotImplementedError

    def join(self, node: int, nodes: Mapping[int, Node]) -> bool:
        """A node that was to leave is about to be started. If it has left, have the others take it in again, as somebody new; asked
        again after whatever this raises, for a minute and a half.

        Returns:
            Whether it had left. Then its disk is emptied, and `process` says what runs on it from now on.
        """
        raise NotImplementedError

    def describe(self) -> Mapping[str, Any]:
        """What a history's first line says of it besides."""
        return {}

    def scripts(self) -> Mapping[str, Script]:
        """What ``tidemark scenario NAME --system …`` plays."""
        return {}

    def refuses(self, plan: Plan) -> str:
        """Why it cannot carry out a plan, in a sentence that goes on after its name; empty if it can."""
        return ""

    @property
    def shows_leaders(self) -> bool:
        """Whether somebody wrote `view`."""
        return type(self).view is not RealSystem.view

    @property
    def has_something_beside(self) -> bool:
        """Whether somebody wrote `beside`."""
        return type(self).beside is not RealSystem.beside

    @property
    def changes_members(self) -> bool:
        """Whether somebody wrote `leave` and `join`."""
        return type(self).leave is not RealSystem.leave and type(self).join is not RealSystem.join

    @property
    def shows_logs(self) -> bool:
        """Whether somebody wrote `log_of`."""
        return type(self).log_of is not RealSystem.log_of

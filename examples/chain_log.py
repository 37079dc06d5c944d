"""A replicated log of a hundred lines over TCP, and how Tidemark is told to test it (docs/systems.md). It has a bug.

`tidemark run --system examples/chain_log.py` tests it as it is; behind a colon stand words: `mended` writes as the text below says,
`clients-only` shows nothing but its clients.

Node 1 leads for ever. It gives each record the next offset, sends it to the others, and acknowledges it when a majority has it on
disk. Lines of JSON go both ways, on one port. The bug: a node answers before it has synced.
"""

import json
import os
import socket
import socketserver
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PORT = 19092
LOG = Path("log")  # in the node's data directory


class Server(socketserver.ThreadingTCPServer):
    """One node."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, node: int, others: list[str], *, mended: bool) -> None:
        super().__init__(("", PORT), Handler)
        self.leads, self.others, self.mended = node == 1, others, mended
        self.lock = threading.Lock()
        text = LOG.read_text() if LOG.exists() else ""
        self.records = [json.loads(line) for line in text.splitlines() if line.endswith("]")]
        LOG.write_text("".join(f"{json.dumps(record)}\n" for record in self.records))
        self.file = LOG.open("a")

    def append(self, record: list[Any]) -> None:
        self.records.append(record)
        self.file.write(f"{json.dumps(record)}\n")
        self.file.flush()
        if self.mended:
            os.fsync(self.file.fileno())

    def answer(self, asked: dict[str, Any]) -> Any:
        with self.lock:
            if asked["do"] == "send" and self.leads:
                self.append([asked["log"], asked["value"]])
                have = 1 + sum(self.told(other) for other in self.others)
                if have * 2 <= len(self.others) + 1:
                    raise TimeoutError("no majority has it")
                return sum(record[0] == asked["log"] for record in self.records) - 1
            if asked["do"] == "copy":
                for record in asked["records"][len(self.records) - asked["from"] :]:
                    self.append(record)
                return len(self.records)
            if asked["do"] == "read" and (self.leads or asked.get("here")):
                return [value for log, value in self.records if log == asked["log"]]
            raise PermissionError("node 1 leads")

    def told(self, other: str) -> bool:
        """Send another node what it lacks; whether it has all then."""
        try:
            has = call(other, PORT, {"do": "copy", "from": 0, "records": []}, 0.3)
            has = call(other, PORT, {"do": "copy", "from": has, "records": self.records[has:]}, 0.3)
        except OSError:
            return False
        return bool(has >= len(self.records))


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    server: Server

    def handle(self) -> None:
        for line in self.rfile:
            try:
                said = {"ok": self.server.answer(json.loads(line))}
            except OSError as error:
                said = {"error": str(error)}
            self.wfile.write(json.dumps(said).encode() + b"\n")


def call(host: str, port: int, asked: dict[str, Any], patience_s: float) -> Any:
    """One question, and its answer."""
    with socket.create_connection((host, port), patience_s) as connection:
        connection.sendall(json.dumps(asked).encode() + b"\n")
        said = json.loads(connection.makefile().readline() or '{"error": "it hung up"}')
    if "error" in said:
        raise OSError(said["error"])
    return said["ok"]


if __name__ == "__main__":
    Server(int(sys.argv[1]), sys.argv[3:], mended=sys.argv[2] == "mended").serve_forever()
    sys.exit()

# What Tidemark loads. The node has no such package, and needs none: it ends above.

from tidemark import Install, LogEntry, Node, Outcome, Process, RealSystem, View  # noqa: E402

THERE = "/opt/chain_log.py"


class ChainClient:
    """One operation at a time: `send` a value to a log, `poll` a log from an offset on. What is raised proves nothing."""

    def open(self, address: tuple[str, int]) -> None:
        self.address = address

    def invoke(self, f: str, value: tuple[str, int]) -> Outcome:
        log, what = value
        if f == "send":
            return Outcome("ok", call(*self.address, {"do": "send", "log": log, "value": what}, 2.0))
        found = call(*self.address, {"do": "read", "log": log}, 2.0)
        return Outcome("ok", [*enumerate(found)][what:])

    def close(self) -> None:
        pass


class ChainLog(RealSystem):
    """What shows nothing but its clients."""

    name = "chain_log"
    promise = "majority"
    promised = "acknowledged when a majority has it on disk (its first docstring)"

    def __init__(self, *, mended: bool) -> None:
        self.how = "mended" if mended else "as it is"
        self.name = f"chain_log:{'mended' if mended else 'lazy'}"

    def install(self) -> Install:
        return Install(files={THERE: Path(__file__)})

    def process(self, node: int, nodes: Mapping[int, Node], logs: Sequence[str]) -> Process:
        others = [other.address for number, other in nodes.items() if number != node]
        return Process(("python3", THERE, str(node), self.how, *others))

    def client(self, workload: str) -> ChainClient:
        return ChainClient()


class ShownChainLog(ChainLog):
    """What shows who leads, and its logs, too."""

    def view(self, node: Node, log: str) -> View:
        end = len(self.log_of(node, log))
        return View(leads=node.number == 1, epoch=1, end=end)

    def log_of(self, node: Node, log: str) -> list[LogEntry]:
        found = call(*node.for_clients, {"do": "read", "log": log, "here": True}, 2.0)
        return [LogEntry(offset, None, value) for offset, value in enumerate(found)]


def system(argument: str) -> RealSystem:
    words = argument.split("+")
    return (ChainLog if "clients-only" in words else ShownChainLog)(mended="mended" in words)

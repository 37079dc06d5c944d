"""Stands in for ``java``: does what a script says, as a broker would seem to do from outside.

The script is the property ``test.script`` of the ``server.properties`` file that is the last argument: a JSON list of steps,
``[what, …]``. ``zoo.cfg`` in its place makes it a ZooKeeper that answers ``srvr``, and ``dump`` with a session of broker 0 that
lasts ``test.session`` seconds more.
"""

import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path


def say(text):
    """A line of the log, with its date."""
    seconds = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds)) + f".{int(seconds * 1000) % 1000:03}"
    print_plain(f"{stamp} {text}")


def print_plain(text, end="\n"):
    sys.stderr.write(text + end)
    sys.stderr.flush()


def serve(address, answer):
    """Answer whatever comes, on every connection."""
    host, port = address.rsplit(":", 1)
    server = socket.create_server((host, int(port)))

    def run():
        while True:
            connection, _ = server.accept()
            say("DEBUG kafka.network.Acceptor - Accepted connection")
            connection.settimeout(5)
            with contextlib.suppress(OSError):
                question = connection.recv(1 << 16)
                if question:
                    connection.sendall(answer(question))
            connection.close()

    threading.Thread(target=run, daemon=True).start()


class Broker:
    def __init__(self, path):
        properties = dict(line.split("=", 1) for line in path.read_text().splitlines())
        self.data = Path(properties["log.dirs"])
        self.steps = json.loads(properties["test.script"].replace("\\\\", "\\"))
        self.terminated = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: self.terminated.set())

    def run(self):
        deeds = {
            "print": say,
            "print-plain": print_plain,
            "print-part": lambda text: print_plain(text, end=""),
            "append": self.append,
            "cut": lambda partition, size: os.truncate(self.segment(partition), size),
            "write": self.write,
            "environment": lambda: self.write("environment.json", json.dumps(dict(os.environ))),
            "arguments": lambda: self.write("arguments.json", json.dumps(sys.argv)),
            "serve": lambda address: serve(address, lambda question: b"\0\0\0\x04ABCD"),
            "sleep": time.sleep,
            "wait": self.wait,
            "kill": lambda number: os.kill(os.getpid(), number),
            "exit": os._exit,
        }
        for what, *rest in self.steps:
            deeds[what](*rest)

    def segment(self, partition):
        return self.data / partition / f"{0:020}.log"

    def append(self, partition, raw):
        self.segment(partition).parent.mkdir(parents=True, exist_ok=True)
        with self.segment(partition).open("ab") as file:
            file.write(bytes.fromhex(raw))

    def write(self, name, text):
        path = self.data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def wait(self):
        while not self.terminated.wait(0.05):
            pass


def zookeeper(path):
    settings = dict(line.split("=", 1) for line in path.read_text().splitlines())
    say("INFO org.apache.zookeeper.server - binding")
    if settings.get("test.broken"):
        print_plain("java.net.BindException: Address already in use")
        sys.exit(1)
    session_ends = time.monotonic() + float(settings.get("test.session", 0))

    def answer(question):
        if question != b"dump":
            return b"Zookeeper version: 3.5.9\nMode: standalone\n"
        held = "0x100000c2b5a0000:\n\t/controller\n\t/brokers/ids/0\n" if time.monotonic() < session_ends else ""
        return (
            f"SessionTracker dump:\nephemeral nodes dump:\nSessions with Ephemerals ({bool(held):d}):\n{held}".encode()
        )

    serve(f"127.0.0.1:{settings['clientPort']}", answer)
    signal.pause()


if __name__ == "__main__":
    last = Path(sys.argv[-1])
    if last.name == "zoo.cfg":
        zookeeper(last)
    else:
        Broker(last).run()

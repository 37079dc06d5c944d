"""A sidecar as a process, around a `java` that does what a test wants."""

import json
import os
import socket
import stat
import subprocess
import sys
import time
from base64 import b64decode
from pathlib import Path

from kept_ports import keep_ports

from tidemark.nodes.formats.record_batch import values_of

FAKE_JAVA = Path(__file__).parents[1] / "nodes" / "sidecar" / "fake_java.py"
PATIENCE_S = 20

LOADED = (
    "INFO kafka.log.LogManager - Completed load of Log(dir=/d/t-0, topic=t, partition=0, highWatermark=0, lastStableOffset=0,"
    " logStartOffset=0, logEndOffset={}) with 1 segments in 21ms (1/1 loaded in /d)"
)
STARTED = "INFO kafka.server.KafkaServer - [KafkaServer id=1] started"
SHUT_DOWN = "INFO kafka.server.KafkaServer - [KafkaServer id=1] shut down completed"
OF_LOG = "kafka.log.Log - [Log partition=t-0, dir=/d] "


def appended(first, end):
    return (
        f"TRACE {OF_LOG}Appended message set with last offset: {end - 1}, first offset: Some((offset={first} segment=[0:0])),"
        f" next offset: {end}, and messages: MemoryRecords(size=69, buffer=java.nio.HeapByteBuffer[pos=0 lim=69 cap=72])"
    )


def eventually(question, what):
    until = time.monotonic() + PATIENCE_S
    while True:
        answer = question()
        if answer:
            return answer
        assert time.monotonic() < until, what
        time.sleep(0.02)


class Node:
    """One sidecar with its files."""

    def __init__(self, root, kept):
        self.root = root
        self.data = root / "data"
        self.java_path = root / "bin"
        self.java_path.mkdir(parents=True)
        java = self.java_path / "java"
        java.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE_JAVA} "$@"\n')
        java.chmod(java.stat().st_mode | stat.S_IXUSR)
        self.kafka, self.admin, self.zookeeper = keep_ports(3, kept)
        self.environment = {}
        self.config = {
            "node": 1,
            "incarnation": 3,
            "version": "2.8.2",
            "role": "broker",
            "properties": {"broker.id": 1, "log.dirs": str(self.data)},
            "heap": "64m",
            "jvm_options": ["-XX:+UseSerialGC"],
            "libs": "/nowhere/libs",
            "proxies": [],
            "peers": {},
            "partitions": {"t-0": [1, 2, 3]},
            "kafka": f"127.0.0.1:{self.kafka}",
            "admin": f"127.0.0.1:{self.admin}",
            "data": str(self.data),
            "trace": str(root / "log" / "trace.jsonl"),
            "process": str(root / "run" / "node.pid"),
        }
        self.process = None

    def start(self, *steps, program=("-m", "tidemark.nodes.sidecar", "--config"), **entries):
        self.config |= entries
        self.config["properties"]["test.script"] = json.dumps(
            [step if isinstance(step, list) else [step] for step in steps]
        )
        path = self.root / "node.json"
        path.write_text(json.dumps(self.config))
        environment = {**os.environ, **self.environment, "PATH": f"{self.java_path}:{os.environ['PATH']}"}
        with (self.root / "node.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *program, str(path)], env=environment, stdout=log, stderr=log
            )
        return self

    def ready(self):
        """Wait until the admin port listens."""
        eventually(self._listens, "the sidecar did not get ready")
        return self

    def _listens(self):
        assert self.process.poll() is None, self.log()
        try:
            socket.create_connection(("127.0.0.1", self.admin), timeout=5).close()
        except OSError:
            return False
        return True

    def wait(self):
        return self.process.wait(PATIENCE_S)

    def ask(self, do, **entries):
        with socket.create_connection(("127.0.0.1", self.admin), timeout=PATIENCE_S) as client:
            client.sendall(json.dumps({"id": 5, "do": do, **entries}).encode() + b"\n")
            with client.makefile("rb") as lines:
                answer = json.loads(lines.readline())
        assert answer.pop("id") == 5
        return answer

    @property
    def jvm(self):
        return int((self.root / "run" / "node.pid").read_text().split()[0])

    def trace(self):
        path = self.root / "log" / "trace.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def events(self):
        """Without times and nodes; of an append its values."""
        return [
            [event, *fields[:3], list(values_of(b64decode(fields[3])))] if event == "append" else [event, *fields]
            for _, _, event, *fields in self.trace()
        ]

    def log(self):
        return (self.root / "node.log").read_text()

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

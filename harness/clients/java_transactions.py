"""Producers of transactions on Kafka's own Java client, as a second opinion on librdkafka (`confluent_transactions`).

With brokers of 4.0 and later it speaks the second protocol of transactions (KIP-890), in which each transaction has a producer
epoch of its own, so that what comes late of one is no part of the next. librdkafka does not speak it (as of 2.16).
"""

from __future__ import annotations

import queue
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tidemark.harness.clients.confluent_settings import NO_SECURITY, transactional_settings
from tidemark.harness.clients.confluent_transactions import patience_s
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.journal import TransactionRecorder
from tidemark.harness.clients.outcomes import OK
from tidemark.harness.clients.script import topic_and_partition
from tidemark.harness.clients.transaction_script import IntendedTransaction, TransactionScript
from tidemark.harness.runs.temporary_folder import temporary_folder
from tidemark.nodes.core.cluster import ClusterSpec

SOURCE = Path(__file__).parent / "java" / "Transactions.java"
NEEDS = "--clients java needs a JDK here (java and javac, 17 or later; Debian: apt-get install openjdk-17-jdk-headless)"
STOP_S = 20.0
LAST_WORDS = 500

_TAKEN_OVER = {
    "bootstrap.servers": "bootstrap.servers",
    "acks": "acks",
    "enable.idempotence": "enable.idempotence",
    "transaction.timeout.ms": "transaction.timeout.ms",
    "message.timeout.ms": "delivery.timeout.ms",
    "socket.timeout.ms": "request.timeout.ms",
    "linger.ms": "linger.ms",
    "metadata.max.age.ms": "metadata.max.age.ms",
    "reconnect.backoff.ms": "reconnect.backoff.ms",
    "reconnect.backoff.max.ms": "reconnect.backoff.max.ms",
    "retry.backoff.ms": "retry.backoff.ms",
    "retry.backoff.max.ms": "retry.backoff.max.ms",
    "socket.connection.setup.timeout.ms": "socket.connection.setup.timeout.ms",
}
"""librdkafka's name of a setting → the Java client's."""


def java_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """What the Java client is told, by what librdkafka would be."""
    found = {_TAKEN_OVER[name]: _told(value) for name, value in settings.items() if name in _TAKEN_OVER}
    least = int(found["linger.ms"]) + int(found["request.timeout.ms"])
    found["delivery.timeout.ms"] = str(max(int(found["delivery.timeout.ms"]), least))
    return found | {"max.block.ms": found["delivery.timeout.ms"], "enable.metrics.push": "false"}


def _told(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class JavaProducers:
    """One JVM for all producers of a run.

    Args:
        bootstrap: brokers to begin with.
        cluster: of the run.
        jars: of Kafka's clients.
        log: where the JVM's own words go.
        security: librdkafka's settings for TLS and SASL; there are none here.

    Raises:
        ClientsError: there is no JDK, or the program cannot be compiled.
    """

    def __init__(
        self,
        bootstrap: str,
        cluster: ClusterSpec,
        jars: Mapping[str, bytes],
        *,
        security: Mapping[str, str] = NO_SECURITY,
    ) -> None:
        if security:
            raise ClientsError("Kafka's Java clients are used without TLS and SASL only.")
        if shutil.which("java") is None or shutil.which("javac") is None:
            raise ClientsError(f"{NEEDS}.")
        self._folder = temporary_folder()
        self._patience_s = patience_s(cluster)
        try:
            program = self._compiled(jars, java_settings(transactional_settings(bootstrap, "all", cluster)))
        except BaseException:
            self._folder.cleanup()
            raise
        self._words = (Path(self._folder.name) / "words").open("wb")
        self._process = subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
            start_new_session=True,
        )
        self._lock = threading.Lock()
        self._answers: dict[str, queue.Queue[list[str]]] = {}
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _compiled(self, jars: Mapping[str, bytes], settings: Mapping[str, str]) -> list[str]:
        """The command that runs the producers."""
        folder = Path(self._folder.name)
        for name, content in jars.items():
            (folder / name).write_bytes(content)
        path = ":".join([str(folder), *(str(folder / name) for name in jars)])
        _run("javac", "-nowarn", "-cp", path, "-d", str(folder), str(SOURCE))
        told = folder / "settings.properties"
        told.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
        jvm = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", path]
        return [*jvm, "Transactions", str(told), f"{self._patience_s * 1000:.0f}"]

    def _listen(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        with self._process.stdout as lines:
            for line in lines:
                fields = line.rstrip("\n").split("\t")
                self._answers[fields[0]].put(fields)
        for answers in [*self._answers.values()]:
            answers.put([])

    def transact(
        self, process: str, intended: IntendedTransaction, breaths: Sequence[float], within_s: float
    ) -> list[str]:
        """Process, outcome, error, offsets of one transaction.

        Raises:
            ClientsError: the JVM has ended, or does not answer.
        """
        sends = ";".join(
            f"{':'.join(map(str, topic_and_partition(key)))}={','.join(map(str, values))}"
            for key, values in intended.sends
        )
        rests = ",".join(f"{breath * 1000:.0f}" for breath in breaths)
        line = f"{process}\t{'abort' if intended.aborts else 'commit'}\t{sends}\t{rests}\n"
        answers = self._answers.setdefault(process, queue.Queue())
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        try:
            with self._lock:
                self._process.stdin.write(line)
                self._process.stdin.flush()
            answer = answers.get(timeout=within_s)
        except (OSError, queue.Empty):
            answer = []
        if not answer:
            raise ClientsError(f"Kafka's Java client does not answer: {self._last_words()}")
        return answer

    def _last_words(self) -> str:
        self._words.flush()
        words = (Path(self._folder.name) / "words").read_text(errors="replace").strip()
        return words[-LAST_WORDS:] or f"it said nothing, and has ended with {self._process.poll()}"

    def close(self) -> None:
        """End the JVM."""
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        try:
            self._process.stdin.close()
            self._process.wait(STOP_S)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        finally:
            self._listener.join()
            self._words.close()
            self._folder.cleanup()


class JavaTransactions:
    """One producer's work: a transaction after the other, until it is told to stop."""

    def __init__(
        self, producers: JavaProducers, script: TransactionScript, recorder: TransactionRecorder, within_s: float
    ) -> None:
        self._producers, self._script, self._recorder, self._within_s = producers, script, recorder, within_s

    def run(self, stopping: threading.Event) -> None:
        """Until `stopping` is set; a transaction that has begun is ended."""
        while not stopping.wait(self._script.pause()):
            intended = self._script.transaction()
            breaths = [self._script.breath() for _ in intended.sends[1:]]
            self._recorder.invoke(intended.sends)
            _, outcome, error, placed = self._producers.transact(
                self._script.process, intended, breaths, self._within_s
            )
            pairs = (one.split("=") for one in placed.split(",") if one)
            offsets = {int(value): int(offset) for offset, value in pairs if int(offset) >= 0}
            self._recorder.complete(intended.sends, outcome, None if outcome == OK else error, offsets)


def _run(*command: str) -> None:
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise ClientsError(f"{command[0]} cannot compile {SOURCE.name}: {found.stderr.strip()[-LAST_WORDS:]}")

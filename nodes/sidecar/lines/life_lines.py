"""Lines about a broker's own life: registered, started, shut down, or given up."""

from __future__ import annotations

import re

from tidemark.nodes.sidecar.line_events import Event, Fatal, Registered, ShutDown, ShuttingDown, Started
from tidemark.nodes.sidecar.lines.stamp import Head

LOGGERS = frozenset(
    {
        "kafka.Kafka$",
        "kafka.server.KafkaServer",
        "kafka.server.KafkaRaftServer",
        "kafka.server.BrokerServer",
        "kafka.server.ControllerServer",
        "kafka.server.BrokerLifecycleManager",
        "org.apache.kafka.server.BrokerLifecycleManager",  # since 4.3
        "kafka.zk.KafkaZkClient",
        "org.apache.kafka.common.utils.AppInfoParser",
    }
)
_DISK = ".LogDirFailureChannel"
"""Tells what the disk refused, before a broker gives up for it."""
_REGISTERED = re.compile(
    r"Registered broker \d+ at path .*czxid \(broker epoch\): (\d+)$"
    r"|Successfully registered broker \d+ with broker epoch (\d+)$"
)
_STARTED = re.compile(r"\[KafkaServer id=\d+\] started$|\[KafkaRaftServer nodeId=\d+\] Kafka Server started$")
_SHUTTING_DOWN = re.compile(r"\[(KafkaServer|BrokerServer|ControllerServer) id=\d+\] shutting down$")
_SHUT_DOWN = re.compile(r"\[(?:KafkaServer|BrokerServer) id=\d+\] shut down completed$")
_CONTROLLER_SHUT_DOWN = re.compile(r"App info kafka\.server for \d+ unregistered$")
"""The last words of a controller, which says them twice, and of a broker, whose :data:`_SHUT_DOWN` comes before or after."""
_FATAL = re.compile(
    r"Fatal error during |Exiting Kafka|Halting Kafka|Halting broker because|Shutdown broker because"
    r"|Encountered fatal fault|Shutting down because we were unable to register|Halting because log truncation is not allowed"
    r"|Exiting because log truncation is not allowed|Unable to start replica fetcher thread"
)
_JVM = re.compile(
    r"Terminating due to java\.lang\.OutOfMemoryError.*|Aborting due to java\.lang\.OutOfMemoryError.*"
    r"|# There is insufficient memory for the Java Runtime Environment.*"
    r"|# A fatal error has been detected by the Java Runtime Environment.*"
    r"|Error occurred during initialization of VM.*|Error: Could not .*|Error: A fatal exception has occurred.*"
    r"|Unrecognized (?:VM )?option.*|Exception in thread \"main\" .*"
)


class Life:
    """One process's life, as it tells it. A broker that gives up shuts down too, but not in good order."""

    def __init__(self) -> None:
        """It has not begun."""
        self._failing = False
        self._controller_leaves = False
        self._disk_error = ""
        self._told_cause = True

    def read(self, head: Head) -> list[Event]:
        """The events of a line that a logger printed."""
        message = head.message
        if head.level == "ERROR":
            if head.logger.endswith(_DISK):
                self._disk_error, self._told_cause = message, False
            return self._fatal(message) if _FATAL.search(message) else []
        if head.level != "INFO" or head.logger not in LOGGERS:
            return []
        found = _REGISTERED.search(message)
        if found is not None:
            return [Registered(int(found[1] or found[2]))]
        if _STARTED.search(message):
            return [Started()]
        if self._failing:
            return []
        found = _SHUTTING_DOWN.search(message)
        if found is not None:
            self._controller_leaves = found[1] == "ControllerServer"
            return [ShuttingDown()]
        if self._controller_leaves and _CONTROLLER_SHUT_DOWN.match(message):
            self._controller_leaves = False
            return [ShutDown()]
        return [ShutDown()] if _SHUT_DOWN.search(message) else []

    def read_jvm(self, line: str) -> list[Event]:
        """The events of a line without time and logger."""
        if not self._told_cause:
            self._disk_error, self._told_cause = f"{self._disk_error}: {line.strip()}", True
        return self._fatal(line) if _JVM.match(line) else []

    def _fatal(self, words: str) -> list[Event]:
        self._failing = True
        because = f" ({self._disk_error})" if self._disk_error and "log dir" in words else ""
        return [Fatal(" ".join(words.split()) + because)]

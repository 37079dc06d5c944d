"""A scan of one folder, from its files to what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tidemark.harness.scan.brokers_folder import BrokersFolderError, look_into
from tidemark.harness.scan.finding import Finding
from tidemark.harness.scan.replica_events import read_lines
from tidemark.harness.scan.signatures_of_lines import found_in_lines, log_starts


@dataclass(frozen=True, slots=True)
class Scanned:
    """What was looked at, and found.

    Attributes:
        findings: in order of time, those of files last. brokers: whose lines or files there are.
        logs, lines: files of lines, and lines in them. replicas: whose segments were read.
        unattributed: lines about replicas of which nobody can say which broker's they are.
    """

    findings: list[Finding]
    brokers: list[str]
    logs: int
    lines: int
    replicas: int
    unattributed: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "findings": [one.to_json() for one in self.findings],
            "brokers": self.brokers,
            "logs": self.logs,
            "lines": self.lines,
            "replicas": self.replicas,
            "unattributed_lines": self.unattributed,
        }


def scan_folder(folder: Path, tell: Callable[[str], None] = lambda _: None) -> Scanned:
    """Look through a folder of brokers' logs, and of their segments and checkpoints where these are there.

    Args:
        folder: one subfolder for each broker, or mixed; archives (.tar.gz) are looked into.
        tell: is told which file is read, for a progress display.

    Raises:
        BrokersFolderError: no folder, nothing of a broker in it, or a damaged file.
        OSError: a file cannot be read.
    """
    there = look_into(folder)
    lines = read_lines(there.texts, tell)
    if not lines.read and not there.directories:
        raise BrokersFolderError(
            f"{folder} holds no logs of Kafka brokers: put their server.log, state-change.log and controller.log in it"
        )
    findings = found_in_lines(lines.by_broker)
    if there.directories:
        from tidemark.harness.scan.signatures_of_files import (
            found_in_files,
        )  # reads batches, for which an extra is needed

        findings += found_in_files(there.directories, log_starts(lines.by_broker), tell)
    brokers = sorted({*lines.by_broker, *(one.broker for one in there.directories)})
    replicas = sum(len(one.replicas) for one in there.directories)
    return Scanned(_once(findings), brokers, lines.files, lines.read, replicas, lines.unattributed)


def _once(findings: list[Finding]) -> list[Finding]:
    """The first of each kind of each replica, with how many there were; lines in order of time, files behind them."""
    found: dict[tuple[str, str, str], Finding] = {}
    for one in sorted(findings, key=lambda one: (not one.time, one.time, one.partition, one.broker, one.name)):
        key = (one.name, one.partition, one.broker)
        before = found.get(key)
        found[key] = one if before is None else replace(before, times=before.times + 1)
    return list(found.values())

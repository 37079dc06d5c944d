"""Finds the log of the controller that runs on a machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tidemark.nodes.admin.trace_file import DECIDED, QUORUM_DECIDED
from tidemark.nodes.formats.partition_files import METADATA_LOG
from tidemark.nodes.sidecar.config import KRAFT_CONTROLLER, ZOOKEEPER, SidecarConfig
from tidemark.nodes.sidecar.controller.committed_state import CommittedControllerLog
from tidemark.nodes.sidecar.controller.controller_log import ControllerLog
from tidemark.nodes.sidecar.controller.metadata_state import MetadataControllerLog
from tidemark.nodes.sidecar.controller.zookeeper_state import ZooKeeperControllerLog
from tidemark.nodes.sidecar.server_files import metadata_directory


def open_controller_log(config: SidecarConfig) -> ControllerLog:
    """The controller's log of this machine, of which what an earlier sidecar traced is not told again.

    Args:
        config: of the machine of node 0.

    Raises:
        ValueError: it is another machine's.
        OSError: the trace is there and cannot be read.
    """
    told = already_traced(config.trace)
    if config.role == ZOOKEEPER:
        directory = config.zookeeper.get("dataLogDir") or config.zookeeper["dataDir"]
        return ZooKeeperControllerLog(Path(directory) / "version-2", config.partitions, told)
    if config.role == KRAFT_CONTROLLER:
        return MetadataControllerLog(metadata_directory(config) / METADATA_LOG, config.partitions, told)
    raise ValueError(f"node {config.node} is no controller")


def open_committed_log(config: SidecarConfig, committed: Callable[[], int]) -> CommittedControllerLog:
    """The log of one of several controllers, likewise: but for the decisions of the last offset, which may be told again.

    Args:
        config: of the machine.
        committed: up to which offset it is committed, as this node has heard.

    Raises:
        OSError: the trace is there and cannot be read.
    """
    told = max((entry[4] for entry in _entries(config.trace) if entry[2] == QUORUM_DECIDED), default=0)
    return CommittedControllerLog(metadata_directory(config) / METADATA_LOG, config.partitions, committed, told)


def already_traced(trace: Path) -> int:
    """How many of the controller's decisions are in a trace file, and were in it before it began again.

    Raises:
        OSError: a file is there and cannot be read.
    """
    return sum(entry[2] in DECIDED for entry in _entries(trace)) + int(_text(traced_before(trace)) or 0)


def traced_before(trace: Path) -> Path:
    """The file that says how many decisions a trace file that began again held before, beyond those that it tells once more."""
    return trace.with_name(f"{trace.name}.before")


def _entries(trace: Path) -> Iterator[list[Any]]:
    for line in _text(trace).splitlines():
        with suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, list) and len(entry) > 2:
                yield entry


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""

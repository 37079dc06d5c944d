"""Finds the log of the controller that runs on a machine."""

from __future__ import annotations

import json
from pathlib import Path

from tidemark.nodes.sidecar.config import KRAFT_CONTROLLER, ZOOKEEPER, SidecarConfig
from tidemark.nodes.sidecar.controller.controller_log import ControllerLog
from tidemark.nodes.sidecar.controller.metadata_state import MetadataControllerLog
from tidemark.nodes.sidecar.controller.zookeeper_state import ZooKeeperControllerLog
from tidemark.nodes.sidecar.server_files import metadata_directory

DECIDED = frozenset({"elect", "isr-change", "reassign", "register", "fence", "unfence", "min-isr", "elr-switch"})


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
        return MetadataControllerLog(metadata_directory(config) / "__cluster_metadata-0", config.partitions, told)
    raise ValueError(f"node {config.node} is no controller")


def already_traced(trace: Path) -> int:
    """How many of the controller's decisions are in a trace file, and were in it before it began again.

    Raises:
        OSError: a file is there and cannot be read.
    """
    lines, before = (_text(path) for path in (trace, traced_before(trace)))
    return sum(_event(line) in DECIDED for line in lines.splitlines()) + int(before or 0)


def traced_before(trace: Path) -> Path:
    """The file that says how many decisions a trace file that began again held before, beyond those that it tells once more."""
    return trace.with_name(f"{trace.name}.before")


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


def _event(line: str) -> str:
    try:
        entry = json.loads(line)
    except ValueError:
        return ""
    return str(entry[2]) if isinstance(entry, list) and len(entry) > 2 else ""

"""The files that Kafka and ZooKeeper read when they start, and what a node of a KRaft cluster must find in its log directory."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tidemark.nodes.sidecar.config import KRAFT_CONTROLLER, SidecarConfig
from tidemark.nodes.sidecar.jvm_command import tool_command

FORMATTED = Path("/opt/kafka/format")
"""A log directory of a KRaft controller as Kafka's own tool formats it."""

RELEASE = Path("/opt/kafka")
"""The Kafka that is run."""
META = "meta.properties"
_SPECIAL = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


class ServerFilesError(Exception):
    """A file that the node needs is not there; the message says which."""


def choose_release(version: str, release: Path = RELEASE) -> None:
    """Where the image has several, each in ``/opt/kafka-VERSION``, have ``/opt/kafka`` lead to this one.

    Raises:
        OSError: it cannot.
    """
    wanted = release.with_name(f"{release.name}-{version}")
    if wanted.is_dir():
        new = release.with_name(f"{release.name}.new")
        new.unlink(missing_ok=True)
        new.symlink_to(wanted.name)
        new.replace(release)


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Write a Java properties file.

    Raises:
        OSError: it is not there.
    """
    lines = [f"{_escaped_key(key)}={_escaped(value)}\n" for key, value in properties.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="latin-1", errors="backslashreplace")


def _escaped(value: str) -> str:
    escaped = value.translate(_SPECIAL)
    return "\\" + escaped if escaped[:1] == " " else escaped


def _escaped_key(key: str) -> str:
    return "".join("\\" + c if c in " :=#!" else c for c in key.translate(_SPECIAL))


def write_plain(path: Path, entries: Mapping[str, str]) -> None:
    """Write a ``zoo.cfg``.

    Raises:
        OSError: it is not there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{key}={value}\n" for key, value in entries.items()))


def log_directories_of(config: SidecarConfig) -> tuple[Path, ...]:
    """Where the JVM keeps its logs."""
    named = config.properties.get("log.dirs") or config.properties.get("log.dir")
    return tuple(Path(one.strip()) for one in named.split(",")) if named else (config.data,)


def log_directory(config: SidecarConfig) -> Path:
    """The first of these."""
    return log_directories_of(config)[0]


def metadata_directory(config: SidecarConfig) -> Path:
    """Where a KRaft node keeps the cluster's metadata log."""
    named = config.properties.get("metadata.log.dir")
    return Path(named) if named else log_directory(config)


def format_directory(config: SidecarConfig, formatted: Path = FORMATTED) -> None:
    """Put into the log directory of a KRaft node what its JVM wants to find there, unless it is there.

    Raises:
        ServerFilesError: it cannot be had.
        OSError: it could not be written.
    """
    directories = dict.fromkeys((*log_directories_of(config), metadata_directory(config)))
    for failed in [directory for directory in directories if directory.is_file()]:
        del directories[failed]
    for directory in directories:
        directory.mkdir(parents=True, exist_ok=True)
    if not config.is_kraft:
        return
    template = formatted / META
    if config.initial_controllers and not (metadata_directory(config) / META).exists():
        _format_as_voter(config, _entries(template).get("cluster.id", ""))
    for directory in directories:
        if (directory / META).exists():
            continue
        if not template.exists():
            raise ServerFilesError(f"{template} is missing: build the image anew.")
        of_controller = (config.role == KRAFT_CONTROLLER or config.votes) and directory == metadata_directory(config)
        if of_controller:
            shutil.copytree(formatted, directory, dirs_exist_ok=True)
        if config.quorum or not of_controller:
            _write_meta(directory / META, template, config.node)


def _format_as_voter(config: SidecarConfig, cluster: str) -> None:
    """Kafka's tool writes who the voters are into a first snapshot of the metadata log."""
    properties = config.process.with_name("format.properties")
    write_properties(properties, config.properties)
    told = ["--cluster-id", cluster, "--config", str(properties), "--initial-controllers", config.initial_controllers]
    command = tool_command(config, "kafka.tools.StorageTool", ["format", "--ignore-formatted", *told])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ServerFilesError(f"Kafka cannot format the directory of a voter: {(done.stderr or done.stdout).strip()}")


def _write_meta(path: Path, template: Path, node: int) -> None:
    """The cluster's id with this node's own number; a directory's id is the JVM's to draw."""
    entries = _entries(template)
    kept = {"version": entries.get("version", "1"), "cluster.id": entries.get("cluster.id", ""), "node.id": str(node)}
    new = path.with_suffix(".new")
    write_plain(new, kept)
    new.replace(path)


def _entries(template: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in template.read_text().splitlines() if "=" in line)

"""What the nodes know of a run, fetched when it is over: traces, logs, and everything on their disks.

A run of which something is missing is an error and never a shorter history.
"""

from __future__ import annotations

import io
import tarfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from shlex import quote
from typing import TYPE_CHECKING

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.machines.cluster import node_name
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.machine_faults import BALLAST
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.partition_files import is_partition
from tidemark.nodes.formats.read_log import read_segment
from tidemark.nodes.formats.segment import base_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tidemark.harness.evidence.replica_evidence import Segment
    from tidemark.harness.machines.node_control import NodeControl

NODES = "nodes"
"""Folder in a run's folder: an archive for each node."""
FETCH_S = 120.0


@dataclass(slots=True)
class Evidence:
    """What was fetched from one node.

    Attributes:
        archive: its files, a compressed tar.
        trace: its trace file. log: what the process printed.
        segments: partition → content of its log file.
        files: path → content of all of them.
    """

    node: int
    name: str
    archive: bytes
    trace: str
    log: str
    segments: dict[str, bytes]
    files: dict[str, bytes] = field(default_factory=dict, repr=False)

    def read_segments(self) -> dict[str, Segment]:
        """The logs' batches.

        Raises:
            RunError: a log cannot be read.
        """
        try:
            return {name: read_segment(content) for name, content in self.segments.items()}
        except BadBatchError as error:
            raise RunError(f"a log file of {self.name} cannot be read: {error}") from None


def fetch(node: int, control: NodeControl) -> Evidence:
    """Fetch a node's files, whether or not its process runs.

    Raises:
        RunError: they cannot be fetched.
    """
    places = control.places
    wanted = (places.trace, places.log, places.config, places.data, places.volatile, *places.more)
    # Files may grow while they are read (exit code 1), and need not be there.
    script = f"""
archive=$(mktemp) || exit
set --
for path in {" ".join(map(quote, wanted))}; do [ -e "$path" ] && set -- "$@" "$path"; done
tar -czf "$archive" --exclude={BALLAST} --exclude="*.index" --exclude="*.timeindex" -P "$@" 2>/dev/null || [ $? -eq 1 ] || exit
echo "$archive"
"""
    try:
        path = control.run(script, to="pack its files", timeout_s=FETCH_S).strip()
        archive = control.read(path)
        control.run(f"rm -f {quote(path)}", to="remove its archive")
    except ContainerWorldError as error:
        raise RunError(f"the evidence of {control.name} cannot be fetched: {error}") from None
    return _unpacked(node, control, archive)


def _unpacked(node: int, control: NodeControl, archive: bytes) -> Evidence:
    places = control.places
    files = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        for member in packed:
            content = packed.extractfile(member)
            if content is not None:
                files[f"/{member.name.lstrip('/')}"] = content.read()
    segments = {}
    for path in sorted(files):  # the later of two, if a process ended while it dropped the beginning of a log
        directory, _, name = path.rpartition("/")
        partition = directory.removeprefix(places.volatile + "/")
        if partition != directory and is_partition(partition) and base_of(name) is not None:
            segments[partition] = files[path]
    if places.trace not in files:
        raise RunError(f"{control.name} has no trace, so the history would not be whole")
    log = files.get(places.log, b"").decode(errors="replace")
    trace = files[places.trace].decode(errors="replace")
    return Evidence(node, control.name, archive, trace, log, segments, files)


def fetch_all(controls: Mapping[int, NodeControl], folder: Path | None = None) -> dict[int, Evidence]:
    """Fetch from all nodes at once; with a folder, keep the archives there.

    Raises:
        RunError: something cannot be fetched; what can be is in the folder.
    """
    return _at_once(controls, lambda node: _kept(fetch(node, controls[node]), folder))


def _kept(evidence: Evidence, folder: Path | None) -> Evidence:
    if folder is not None:
        (folder / NODES).mkdir(parents=True, exist_ok=True)
        (folder / NODES / f"{node_name(evidence.node)}.tar.gz").write_bytes(evidence.archive)
    return evidence


def _at_once(nodes: Mapping[int, object], deed: Callable[[int], Evidence]) -> dict[int, Evidence]:
    """All of them, even if one fails."""
    with ThreadPoolExecutor(len(nodes)) as threads:
        futures = {node: threads.submit(deed, node) for node in nodes}
    errors = [error for future in futures.values() if (error := future.exception()) is not None]
    if errors:
        raise errors[0]
    return {node: future.result() for node, future in futures.items()}

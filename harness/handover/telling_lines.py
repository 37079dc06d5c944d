"""The lines of brokers' and controller's logs that tell the story, in order of time."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.harness.handover.kept_folder import PLACES, without_stamps
from tidemark.harness.machines.cluster import node_name
from tidemark.harness.scan.replica_events import read_lines
from tidemark.harness.scan.scan import scan_folder
from tidemark.harness.scan.stamped_line import stamped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.harness.handover.kept_folder import KafkaNode
    from tidemark.harness.scan.finding import Finding

_OFTEN: Final = re.compile(r"Setting high watermark \(offset=")
"""Told for every record; the page leaves it out, but for what a signature points at."""
_INTERNAL: Final = re.compile(r"__cluster_metadata|__consumer_offsets|__transaction_state|has finalized features epoch")


class TellingLines(NamedTuple):
    """All of them as text, those for the page, and signatures of losses that are known."""

    all: list[str]
    for_page: list[str]
    findings: list[Finding]


def telling_lines(folder: Path, nodes: Mapping[int, KafkaNode]) -> TellingLines:
    """Those of all nodes.

    Args:
        folder: of the nodes' archives.
        nodes: what was read of them.
    """
    texts = {node.name: (lambda text=node.log: io.BytesIO(text.encode())) for node in nodes.values()}
    lines = read_lines(texts, lambda _: None)
    merged = sorted(
        (line for of_broker in lines.by_broker.values() for line in of_broker if not _INTERNAL.search(line.text)),
        key=lambda line: line.time,
    )
    width = max((len(node.name) for node in nodes.values()), default=0)
    told = [(f"{line.file:{width}}  {_short(line.text)}", line.text) for line in merged]
    findings = [_of_archive(one, nodes) for one in scan_folder(folder).findings]
    shown = {one.line for one in findings}
    return TellingLines(
        [words for words, _ in told],
        [words for words, text in told if not _OFTEN.search(text) or text in shown],
        findings,
    )


def _of_archive(one: Finding, nodes: Mapping[int, KafkaNode]) -> Finding:
    """As it is told of the archive's own files, whose lines are the same."""
    names = {f"{node_name(number)}.tar.gz{PLACES.log}": f"{node.name}/server.log" for number, node in nodes.items()}
    names |= {f"{node_name(number)}.tar.gz{PLACES.data}": f"{node.name}/data" for number, node in nodes.items()}
    meaning, file = one.meaning, one.file
    for before, after in names.items():
        meaning, file = meaning.replace(before, after), file.replace(before, after)
    return replace(one, meaning=meaning, file=file, line=without_stamps(one.line))


def _short(text: str) -> str:
    """Without the day, and without the logger."""
    parts = stamped(text)
    return text if parts is None else f"{parts.time.partition('T')[2]} {parts.level} {parts.message}"

"""Everything about one run in one archive (.tar.gz)."""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING, NamedTuple

from tidemark.harness.evidence.collect import NODES
from tidemark.harness.handover.kafka_tools import ask_kafka
from tidemark.harness.handover.long_logs import shortened
from tidemark.harness.handover.page import page, verdict_in_a_line
from tidemark.harness.handover.redaction import Redaction
from tidemark.harness.handover.repeat.shell_script import ShellScript, shell_script, why_not
from tidemark.harness.handover.telling_lines import telling_lines
from tidemark.harness.runs.folder import HISTORY, PLAN, VERDICT
from tidemark.harness.scenario.kept_run import SCRIPT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.harness.handover.kafka_tools import Run
    from tidemark.harness.handover.kept_folder import KeptFolder

PAGE, REPEAT = "README.md", "repeat.sh"
_TEXTS = (SCRIPT, PLAN, HISTORY, VERDICT)


class Archive(NamedTuple):
    """What is in it: path → content; and what became of the shell script: itself, or why there is none."""

    files: dict[str, bytes]
    repeat: ShellScript | str


def gather(kept: KeptFolder, run: Run | None) -> Archive:
    """All that goes into the archive, without secrets and without this machine's paths.

    Args:
        kept: the run.
        run: asks Kafka's tools (`tidemark.harness.handover.kafka_tools.ask_kafka`); without it nobody does.
    """
    said = None if run is None else ask_kafka(kept.nodes, run)
    broker = kept.nodes[max(kept.nodes)]
    hide = Redaction((node.properties for node in kept.nodes.values()), (kept.system,))
    properties = hide.settings(broker.properties)
    lines = telling_lines(kept.folder / NODES, kept.nodes)
    repeat: ShellScript | str = why_not(kept.scenario, kept.releases[0], properties)
    texts = {"lines.txt": shortened("\n".join(lines.all) + "\n")}
    if not repeat and kept.scenario is not None:
        repeat = shell_script(kept.scenario, kept.variant, kept.releases, properties, verdict_in_a_line(kept))
        texts[REPEAT] = repeat.text
    texts |= {
        name: (kept.folder / name).read_text(encoding="utf-8") for name in _TEXTS if (kept.folder / name).exists()
    }
    for node in kept.nodes.values():
        texts[f"{node.name}/server.log"] = shortened(node.log)
        texts[f"{node.name}/server.properties"] = _as_file(hide.settings(node.properties))
    for place, dump in (said.dumps if said is not None else {}).items():
        name, _, partition = place.partition("/")
        texts[f"{name}/dump/{partition}.txt"] = dump
    texts[PAGE] = page(kept, said, lines, repeat, properties)
    files = {name: hide.text(text).encode() for name, text in texts.items()}
    for node in kept.nodes.values():
        files |= {f"{node.name}/data/{path}": content for path, content in node.files.items()}
    return Archive(files, repeat)


def _as_file(properties: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in properties.items())


def write_archive(out: Path, name: str, files: Mapping[str, bytes]) -> None:
    """Write it, the page first; it tells no time and no owner of this machine.

    Raises:
        OSError: it cannot be written.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted(files, key=lambda path: (path != PAGE, path != REPEAT, path)):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mode = len(files[path]), 0o755 if path == REPEAT else 0o644
            archive.addfile(entry, io.BytesIO(files[path]))
    out.write_bytes(gzip.compress(packed.getvalue(), mtime=0))

"""What Kafka's own tools say: segments dumped by ``kafka-dump-log``, and the defaults of a broker's settings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.harness.systems.kafka.known_settings import TELLS_ALL, defaults_in
from tidemark.nodes.formats.log_directories import BOTH
from tidemark.nodes.formats.segment import base_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.harness.handover.kept_folder import KafkaNode

    Run = Callable[[str, Mapping[str, bytes]], dict[str, bytes]]

_IN: Final = "/tmp/in/"  # noqa: S108 (in the container)
METADATA: Final = "__cluster_metadata-0"
DEFAULTS: Final = "defaults.html"
_SCRIPT: Final = f"""
kafka="java -Xmx256m -cp $(cat /opt/kafka/classpath)"
main=org.apache.kafka.tools.DumpLogSegments
$kafka $main 2>&1 | grep -q 'Could not find or load main class' && main=kafka.tools.DumpLogSegments
{TELLS_ALL} >/tmp/out/{DEFAULTS} 2>/dev/null || rm -f /tmp/out/{DEFAULTS}
cd /tmp/in
for folder in */*; do
  case "$folder" in */{METADATA}) how=--cluster-metadata-decoder ;; *) how=--print-data-log ;; esac
  files="$(echo "$folder"/*.log | tr ' ' ,)"
  mkdir -p "/tmp/out/$(dirname "$folder")"
  $kafka $main --files "$files" $how >"/tmp/out/$folder.txt" 2>&1 || echo "kafka-dump-log failed" >>"/tmp/out/$folder.txt"
done
"""
_BATCH: Final = re.compile(r"^baseOffset: \d+ lastOffset: \d+ .*?partitionLeaderEpoch: (-?\d+)")
_RECORD: Final = re.compile(r"^\|? ?offset: (\d+) .*?payload: ?(.*)$")

_DECISION: Final = re.compile(
    r"^\| offset: (\d+) CreateTime: (\d+) .*payload: "
    r'\{"type":"((?:PARTITION|BROKER_REGISTRATION|FENCE|UNFENCE)\w*)",.*?"data":(.*)\}$',
    re.MULTILINE,
)


class Said(NamedTuple):
    """All of it.

    Attributes:
        dumps: ``NODE/PARTITION`` → text. defaults: setting → what it is unless somebody sets it; empty where nobody can say.
    """

    dumps: dict[str, str]
    defaults: dict[str, str]


def ask_kafka(nodes: Mapping[int, KafkaNode], run: Run) -> Said:
    """Dump every log of every node.

    Args:
        nodes: whose logs.
        run: runs a script of the shell, with files, where Kafka's jars are; what is in its folder ``/tmp/out`` in the end.
    """
    files = {
        f"{node.name}/{log}": content
        for node in nodes.values()
        for path, content in node.files.items()
        if (log := _in_one_directory(path)).count("/") == 1 and base_of(log.rpartition("/")[2]) is not None
    }
    found = run(_SCRIPT, files)
    page = found.pop(DEFAULTS, b"").decode(errors="replace")
    dumps = {path.removesuffix(".txt"): text.decode(errors="replace").replace(_IN, "") for path, text in found.items()}
    return Said(dict(sorted(dumps.items())), defaults_in(page))


def _in_one_directory(path: str) -> str:
    """A file's path as a broker with one log directory has it."""
    first, _, rest = path.partition("/")
    return rest if first in BOTH else path


def dumped_records(dump: str) -> dict[int, tuple[int, str]]:
    """Offset → leader epoch and value, as ``kafka-dump-log`` prints them."""
    found: dict[int, tuple[int, str]] = {}
    epoch = -1
    for line in dump.splitlines():
        if (batch := _BATCH.match(line)) is not None:
            epoch = int(batch[1])
        elif (record := _RECORD.match(line)) is not None:
            found[int(record[1])] = epoch, record[2]
    return found


class Decision(NamedTuple):
    """A record of the controller's about a partition or a broker: ms since 1970, its offset and kind, and what it says."""

    time_ms: int
    offset: int
    kind: str
    says: str


def decisions(dump: str) -> list[Decision]:
    """What the controller's log tells of partitions and brokers, as ``kafka-dump-log`` prints it."""
    return [Decision(int(at), int(offset), kind, says) for offset, at, kind, says in _DECISION.findall(dump)]


def not_default(properties: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Setting → its value and Kafka's default, where they differ; the latter is empty where nobody can say."""
    return {
        name: (value, defaults.get(name, "")) for name, value in properties.items() if defaults.get(name, "") != value
    }

"""A run's folder, as ``run``, ``scenario``, ``conform`` and ``hunt --confirm`` leave it: its nodes' files, and what came of it."""

from __future__ import annotations

import json
import re
import tarfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tidemark.checkers import HistoryFormatError
from tidemark.harness.evidence.collect import NODES
from tidemark.harness.runs.folder import PLAN, VERDICT, load_history
from tidemark.harness.scenario import ScenarioError, parse_scenario
from tidemark.harness.scenario.kept_run import SCRIPT, read_outcome
from tidemark.harness.systems.kafka.kafka_versions import UPGRADE
from tidemark.harness.systems.kafka.places import KafkaPlaces
from tidemark.nemesis import PlanError, read_plan

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.checkers import History
    from tidemark.harness.scenario import Scenario
    from tidemark.nemesis import Plan

PLACES = KafkaPlaces()
_STAMP = re.compile(r"^(\d+) ((?:zookeeper: )?\[?\d{4}-\d\d-\d\d[T ][\d:.,]+)", re.MULTILINE)
"""What the sidecar puts before a line, its machine's clock in µs, and the broker's own time."""


class KeptFolderError(ValueError):
    """What no archive can be made of; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class KafkaNode:
    """What one node had on its disk.

    Attributes:
        name: ``controller``, or ``broker-N``. version: of Kafka.
        properties: of the server, as it was started last. jvm: its heap and options.
        log: all that it printed, with its own times only.
        clock: one moment, in µs of the run and as the log has it; nothing if the node printed or traced nothing.
        files: path below its log directory → content.
    """

    name: str
    version: str
    properties: dict[str, str]
    jvm: tuple[str, ...]
    log: str
    clock: tuple[int, datetime] | None
    files: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class KeptFolder:
    """One run.

    Attributes:
        nodes: by number; the controller is 0.
        verdict, outcome: as they were written; the latter is of a script.
        scenario, plan: what was played, a script or a plan.
    """

    folder: Path
    nodes: dict[int, KafkaNode]
    history: History
    verdict: dict[str, Any]
    outcome: dict[str, Any]
    scenario: Scenario | None
    plan: Plan | None

    @property
    def version(self) -> str:
        """Of Kafka; the newest, whose tools read all logs."""
        return self.releases[-1]

    @property
    def releases(self) -> tuple[str, ...]:
        """Of Kafka: one; in an upgrade the older, and that which nodes ran from their second start on."""
        upgrade = UPGRADE.match(str(self.history.meta.get("system", "")))
        return upgrade.groups() if upgrade else (self.nodes[max(self.nodes)].version,)

    @property
    def system(self) -> str:
        """As the command had it."""
        return str(self.history.meta.get("system", f"kafka:{self.version}"))

    @property
    def variant(self) -> str:
        """The preset that the brokers stood for."""
        return str(self.history.meta["variant"])

    def at(self, time_us: int) -> str:
        """A moment of the run in the brokers' own time; empty if nobody can say."""
        clock = next((node.clock for node in self.nodes.values() if node.clock is not None), None)
        if clock is None:
            return ""
        return (clock[1] + timedelta(microseconds=time_us - clock[0])).isoformat(" ", "milliseconds")

    @property
    def name(self) -> str:
        """Of the archive."""
        what = self.scenario.name if self.scenario else f"{self.plan.seed}-{self.plan.index}" if self.plan else "run"
        return f"{what}-kafka-{'..'.join(self.releases)}"


def read_kept(folder: Path) -> KeptFolder:
    """Read it.

    Raises:
        KeptFolderError: it is not the folder of one run on real Kafka, or something in it is damaged.
        OSError: it cannot be read.
    """
    archives = sorted((folder / NODES).glob("*.tar.gz"))
    if not archives:
        inside = next(iter(sorted(path.parent for path in folder.glob(f"*/{NODES}"))), None)
        hint = f"give one of its runs, such as {inside}" if inside else "play it with --system kafka:VERSION"
        raise KeptFolderError(f"{folder} has no files of Kafka's brokers: {hint}")
    try:
        history = load_history(folder)
        nodes = dict(_node(path, history) for path in archives)
        verdict = json.loads((folder / VERDICT).read_text(encoding="utf-8"))
        script = folder / SCRIPT
        scenario = parse_scenario(script.read_text(encoding="utf-8"), SCRIPT) if script.exists() else None
        plan = read_plan(folder / PLAN) if (folder / PLAN).exists() else None
        return KeptFolder(folder, nodes, history, verdict, read_outcome(folder), scenario, plan)
    except FileNotFoundError as error:
        raise KeptFolderError(f"{folder} has no {error.filename.rpartition('/')[2]}: its run came to no end") from None
    except (HistoryFormatError, ScenarioError, PlanError, json.JSONDecodeError, tarfile.TarError, EOFError) as error:
        raise KeptFolderError(f"{folder} is damaged: {error}") from None


def _node(path: Path, history: History) -> tuple[int, KafkaNode]:
    files: dict[str, bytes] = {}
    with tarfile.open(path) as packed:
        for member in packed:
            content = packed.extractfile(member) if member.isfile() or member.islnk() else None
            if content is not None:
                files[f"/{member.name.lstrip('/')}"] = content.read()
    config = json.loads(files.get(PLACES.config, b"{}"))
    if "properties" not in config:
        raise KeptFolderError(f"{path} is no Kafka's: an archive is made of a run with --system kafka:VERSION")
    number = int(config["node"])
    data = str(config["properties"].get("log.dirs", PLACES.data))
    data = PLACES.data if "," in data else data
    log = files.get(PLACES.log, b"").decode(errors="replace")
    return number, KafkaNode(
        "controller" if number == 0 else f"broker-{number}",
        str(config["version"]),
        {str(name): str(value) for name, value in config["properties"].items()},
        (f"-Xmx{config['heap']}", *config["jvm_options"]),
        without_stamps(log),
        _clock(number, log, files.get(PLACES.trace, b""), history),
        {
            name.removeprefix(f"{data}/"): found
            for name, found in files.items()
            if name.startswith(f"{data}/") and found
        },
    )


def without_stamps(log: str) -> str:
    """As the broker printed it."""
    return _STAMP.sub(r"\2", log)


def _clock(node: int, log: str, trace: bytes, history: History) -> tuple[int, datetime] | None:
    """From the first event that a node traced, and the first line that it printed."""
    line = _STAMP.search(log)
    first = trace.decode(errors="replace").partition("\n")[0]
    told = next((event for event in history.trace if event[1] == node and event[2] == "start"), None)
    if line is None or told is None or not first.startswith("["):
        return None
    began_us = int(json.loads(first)[0]) - int(told[0])
    return int(line[1]) - began_us, datetime.fromisoformat(line[2].rpartition(" ")[2].strip("[").replace(",", "."))

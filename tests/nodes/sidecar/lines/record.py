"""Records what real brokers say, for the tests beside this file.

    python tests/nodes/sidecar/lines/record.py 4.3.1 lives             the recording 4.3.1, and the controller's log of it
    python tests/nodes/sidecar/lines/record.py 4.3.1 no-leader         4.3.1-no-leader, and so on
    python tests/nodes/sidecar/lines/record.py 4.3.1                   all that there are

A story is a script of ``stories/`` (or one of Tidemark's own), acted out on containers with sidecars as they are. Kept are the
lives of :data:`STORIES`, trimmed: what a broker says again and again goes, and so do fetches that brought nothing. What a logger
says that nobody here has heard of stays.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tidemark.harness.live.run_loop import monotonic_us
from tidemark.harness.live.session import ContainerSession
from tidemark.harness.machines import machine_faults
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.scenario import find, parse_scenario
from tidemark.harness.scenario.live.target import LiveTarget
from tidemark.harness.scenario.live.target_factory import LiveTargets
from tidemark.harness.scenario.target import PARTITION
from tidemark.harness.systems.kafka.kafka_versions import parse_system
from tidemark.harness.systems.kafka.system import KafkaSystem
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.core.variant import parse_variant
from tidemark.nodes.sidecar.lines.stamp import split

HERE = Path(__file__).parent
CONTROLLER_LOGS = HERE.parent / "controller" / "logs"
LINE = re.compile(r"(\d{6,}) (.*)")
"""As the sidecar copies a JVM's line: when it came, and what it says."""
NOTHING_FETCHED = (" topics=[], forgottenTopicsData=[]", " responses=[]")
"""A fetch within a session names only what has changed since the last."""
SAID_AGAIN = (
    "kafka.network.",
    "org.apache.kafka.raft.",
    "org.apache.kafka.common.config.",
    "org.apache.kafka.common.metrics.",
    "org.apache.kafka.image.",
    "org.apache.kafka.server.config.",
    "kafka.server.KafkaConfig",
    "kafka.server.ClientQuotaManager",
    "kafka.coordinator.",
    "org.apache.kafka.coordinator.",
    "org.apache.kafka.queue.",
    "org.apache.kafka.server.network.",
    "org.apache.kafka.server.purgatory.",
    "org.apache.kafka.server.quota.",
    "org.apache.kafka.server.share.",
    "org.apache.kafka.server.util.",
)
"""Loggers whose lines tell nothing of a replica, and fill pages."""
OFTEN = 3
"""So often is kept what is the same but for its figures, such as that a broker cannot be reached."""
DIGITS = re.compile(r"\d+")
STACK = 3
"""Lines kept of what a message goes on with: an exception, and its first frames."""

tell = partial(print, file=sys.stderr)


def fill_the_disk_of_b(target: LiveTarget) -> None:
    machine_faults.fill_disk(target._nodes.controls[2])


def start_b_on_a_full_disk(target: LiveTarget) -> None:
    target.wait("B has given up", lambda: target._nodes.gone(2))
    with suppress(NodeError):
        target._nodes.start(2)
    target.wait("B has given up again", lambda: target._nodes.gone(2))


def delete_below_12(target: LiveTarget) -> None:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    topic, _, index = PARTITION.rpartition("-")
    host, port = target._clients.address(1)
    admin = AdminClient({"bootstrap.servers": f"{host}:{port}"})
    for deleted in admin.delete_records([TopicPartition(topic, int(index), 12)]).values():
        deleted.result(timeout=20)


@dataclass(frozen=True)
class Story:
    """What to act out, whose lives to keep, and what no script can say: step → what is done after it."""

    script: str
    lives: dict[int, tuple[int, ...]]
    after: dict[int, Callable[[LiveTarget], None]] = field(default_factory=dict)
    ends: tuple[int, ...] = ()


STORIES = {
    "lives": Story("lives", {1: (2, 3), 2: (1,), 3: (1,)}, ends=(1, 3)),
    "no-leader": Story("no-leader", {2: (1, 2, 3)}, {3: delete_below_12}, ends=(2,)),
    "log-start": Story("log-start", {1: (1,), 2: (2, 3)}, ends=(1, 2)),
    "disk-full": Story("disk-full", {2: (1, 2)}, {1: fill_the_disk_of_b, 2: start_b_on_a_full_disk}),
    "kip-279": Story("kip-279", {1: (2,)}, ends=(1,)),
}


class Watched(KafkaSystem):
    """Remembers when each life of a node began."""

    def configure(self, node, incarnation, deployment):
        self.born.append((monotonic_us(), node, incarnation))
        return super().configure(node, incarnation, deployment)


def script(name):
    own = HERE / "stories" / f"{name}.scenario"
    return parse_scenario(own.read_text(encoding="utf-8"), own.name) if own.exists() else find(name)


def act(target: LiveTarget, story: Story, plays: str) -> None:
    target.prepare()
    target.boot()
    for step in target.scenario.steps:
        tell(f"{step.number}. {step.words}")
        for command in step.commands:
            if command.variants is None or plays in command.variants:
                command.perform(target)
        if step.number in story.after:
            story.after[step.number](target)
    target.run(2_000_000)


def record(version: str, name: str) -> None:
    story = STORIES[name]
    scenario = script(story.script)
    system = Watched(parse_system(f"kafka:{version}"), {})
    system.born = []
    plays = system.default_variant
    with ContainerSession(scenario.cluster.brokers, tell=tell, system=system) as session:
        target = LiveTargets(session.open().machines, system=system).target(scenario, parse_variant(plays))
        try:
            act(target, story, plays)
            nodes = target._nodes
            nodes.all_at_once(nodes.kill, nodes.ids)
            if name == "lives":
                keep_controller_log(version, nodes.controls[CONTROLLER])
            logs = {
                b: nodes.controls[b].read(nodes.controls[b].places.log).decode(errors="replace") for b in story.lives
            }
            disks = {b: system.read_disk(nodes.controls[b], PARTITION) for b in story.ends}
        finally:
            target.dispose()
    keep(HERE / "recordings" / (version if name == "lives" else f"{version}-{name}"), story, system.born, logs, disks)


def keep_controller_log(version, control):
    log = control.read(f"{control.places.data}/kafka/__cluster_metadata-0/{0:020}.log")
    (CONTROLLER_LOGS / f"metadata-{version}.gz").write_bytes(gzip.compress(log, mtime=0))


def keep(folder, story, born, logs, disks) -> None:
    folder.mkdir(exist_ok=True)
    for broker, lives in story.lives.items():
        began = sorted((at, incarnation) for at, node, incarnation in born if node == broker)
        for incarnation in lives:
            starts = {number: at for at, number in began}
            until = starts.get(incarnation + 1, 1 << 62)
            lines = [
                found[2]
                for found in map(LINE.fullmatch, logs[broker].splitlines())
                if found and starts[incarnation] <= int(found[1]) < until
            ]
            (folder / f"{broker}.{incarnation}.log").write_text("".join(f"{line}\n" for line in trimmed(lines)))
    ends = [
        f'  "{broker}": {{"batches": {json.dumps([[base, base + len(values), epoch] for base, epoch, values in disk.batches])}, '
        f'"cache": {json.dumps([list(entry) for entry in disk.epochs])}}}'
        for broker, disk in sorted(disks.items())
    ]
    (folder / "end.json").write_text("{\n" + ",\n".join(ends) + "\n}\n" if ends else "{}\n")


def trimmed(lines):
    kept, follows = [], 0
    said = Counter()
    for line in lines:
        head = split(line)
        if head is not None:
            words = DIGITS.sub("#", head.message)
            said[words] += head.level not in {"TRACE", "DEBUG"} and head.logger != "state.change.logger"
            wanted = not idle(head) and said[words] <= OFTEN
            follows = STACK if wanted and head.level in {"WARN", "ERROR"} else 0
        else:
            wanted = follows > 0
            follows -= 1
        if wanted:
            kept.append(line)
    return kept


def idle(head):
    if head.logger == "org.apache.kafka.clients.NetworkClient":
        if head.message.startswith("[ReplicaFetcher "):
            return any(words in head.message for words in NOTHING_FETCHED)
        return " ALTER_" not in head.message
    return head.logger.startswith(SAID_AGAIN) or "__cluster_metadata" in head.message


if __name__ == "__main__":
    wanted = sys.argv[2:] or list(STORIES)
    for name in wanted:
        record(sys.argv[1], name)

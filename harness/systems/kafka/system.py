"""Apache Kafka brokers as a system under test, from 2.x with ZooKeeper to 4.x with KRaft.

Beside each broker runs a sidecar (``tidemark.nodes.sidecar``) that reads the broker's log lines and files, and speaks the
admin protocol of Tidemark's own nodes; so the world above does the same to both.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import replace
from shlex import join as shlex_join
from shlex import quote
from typing import TYPE_CHECKING, Any

from tidemark.harness.evidence.replica_evidence import ReplicaEvidence
from tidemark.harness.machines.errors import NodeError, NodeSilent
from tidemark.harness.machines.machine import INTERNAL_PORT
from tidemark.harness.machines.needs import MachineNeeds
from tidemark.harness.systems.capabilities import ReadsLogs, Rules, Watched
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.kafka.control import KafkaControl
from tidemark.harness.systems.kafka.coordinator_files import coordinator_logs_of
from tidemark.harness.systems.kafka.disk import read_disk
from tidemark.harness.systems.kafka.evidence import segments_of
from tidemark.harness.systems.kafka.internal_topics import INTERNAL_TOPICS
from tidemark.harness.systems.kafka.interpretation import interpret, not_verified, read_as
from tidemark.harness.systems.kafka.jvm_settings import WATCHED, JvmSettings
from tidemark.harness.systems.kafka.kafka_versions import (
    KafkaVersion,
    is_meant,
    model_of,
    parse_system,
    protocol_for,
    shown_preset,
)
from tidemark.harness.systems.kafka.known_settings import refuse_unknown
from tidemark.harness.systems.kafka.metadata_files import metadata_log_of
from tidemark.harness.systems.kafka.node_configuration import LIBRARIES, node_configuration, voters
from tidemark.harness.systems.kafka.properties import (
    CONTROLLERS,
    QUORUM_PORT,
    JvmPlace,
    server_properties,
    topic_configs,
)
from tidemark.harness.systems.kafka.voters import directory_of
from tidemark.harness.systems.outside.connected import addresses_of
from tidemark.harness.systems.speaks_kafka import SpeaksKafka
from tidemark.harness.systems.system import HAS_TRANSACTIONS, SystemRefusalError
from tidemark.nemesis.kinds import CHANGES_VOTERS, MOVES_LOGS
from tidemark.nemesis.object_workload import GROUP_OFFSETS
from tidemark.nemesis.plan import SHARE_GROUP
from tidemark.nodes.core.messages import CONTROLLER, NOT_ENOUGH_REPLICAS
from tidemark.nodes.formats.log_directories import EMPTY, FAIL, MEND

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from docker import DockerClient

    from tidemark.checkers.history.trace_events import TraceEvent
    from tidemark.harness.clients.workload import Workload, WorkloadOrder
    from tidemark.harness.evidence.collect import Evidence
    from tidemark.harness.evidence.partition_disk import Disk
    from tidemark.harness.evidence.replica_evidence import Segment
    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.machines.node_control import NodeControl
    from tidemark.nemesis import Plan
    from tidemark.nodes.families import AnyVariant

DISK = "512m"
TOPIC_S = 30.0
SESSION_END_S = 5.0
LOOK_S = 0.1
ELECTION_S = 30.0
REASSIGNMENT_S = 30.0
NEXT_RUN_S = 60.0
LEADERSHIP = "leadership"
ISR_CHANGES = "ISR changes"
FROM_CONTROLLER = frozenset({LEADERSHIP, "ISR answers", "heartbeat answers", "registration answers"})
TO_CONTROLLER = frozenset({ISR_CHANGES, "heartbeats", "registrations"})
NOT_CONTROLLER = "NOT_CONTROLLER"
STATUS_S = 2.0
NOBODY_S = 5.0
"""For so long an order waits for one of several controllers to be active: twice what an election of a controller takes, mostly."""
OF_KRAFT = frozenset({"ISR answers", "heartbeat answers", "registrations", "registration answers"})
OF_ZOOKEEPER = frozenset({"leadership answers"})
HALT = "log truncation is not allowed"
ONE_LOG_DIRECTORY = (
    "{name} has one log directory for each broker, because Kafka with KRaft has several since 3.7 (KIP-858): use kafka:2.8.2 or "
    "kafka:3.9.2"
)
FAILED_LOG_DIRECTORY = "tidemark.nodes.sidecar.failed_log_directory"
FIXED_VOTERS = (
    "the controllers of {name} are always the same, because voters come and go in a quorum of three since 3.9 (KIP-853): use "
    "kafka:4.3.1@3-controllers"
)
VOTER_S = 8.0
"""For an answer to one order of another voter. A controller gives up after its ``controller.quorum.request.timeout.ms``, 2 s."""
VOTER_TRIES_S = 40.0
"""So long an operator tries: a voter is added when it runs and has caught up."""
AGAIN_S = 0.5
DONE_ALREADY = ("DUPLICATE_VOTER", "VOTER_NOT_FOUND")
OF_CLIENTS = ("kafka-clients-*.jar", "slf4j-api-*.jar")
"""The jars that a Java client needs."""
STARTING = "Fatal error during KafkaServer startup"
UNREGISTERED = "unable to register with the controller quorum"
"""After ``initial.broker.registration.timeout.ms``."""
TOO_EARLY = ("NodeExists", "ZooKeeperClientExpiredException", "SessionExpiredException")


class KafkaSystem(SpeaksKafka, ReadsLogs, Watched):
    """``--system kafka:VERSION[@PROTOCOL]``, ``kafka:VERSION..VERSION``, ``kafka:PATH``, ``kafka:VERSION+PATH``; behind each
    ``@3-controllers``.

    Args:
        kafka: version, and the protocol version it is held to, if any.
        broker_config: further settings of all brokers; they win over those that the run asks for.
        proxied: whether the sidecars stand between the nodes, so that messages can be dropped, held and delayed; without that,
            links can only be cut.
        jvm: how the brokers run.
    """

    needs = MachineNeeds(memory=WATCHED.memory, volatile_size="16m", data_size=DISK, usual_memory=450 << 20)
    time_scale = 3.0
    controller_first = True
    renumbers_epochs = True
    outlives_controller = True
    has_transactions = True
    objects = (GROUP_OFFSETS,)
    container_kill = "crash"

    def __init__(
        self,
        kafka: KafkaVersion,
        broker_config: Mapping[str, str],
        *,
        proxied: bool = True,
        jvm: JvmSettings = WATCHED,
    ) -> None:
        self.kafka = kafka
        self.proxied = proxied
        self.jvm = jvm
        self.needs = replace(type(self).needs, memory=jvm.memory)
        self.broker_config = dict(broker_config)
        self.controllers = voters(kafka)
        self._quorum = len(self.controllers) > 1
        self.controller_first = not self._quorum
        # To elect a controller takes its own time before a leader is elected.
        self.keeps_times = not self.broker_config and not self._quorum
        self.name = str(kafka)

    @classmethod
    def parse(cls, text: str, broker_config: Mapping[str, str]) -> KafkaSystem:
        """The system of a text such as ``kafka:2.8.2@1.1``.

        Raises:
            SystemRefusalError: no such version can be run.
        """
        return cls(parse_system(text), broker_config)

    def variant(self, name: str) -> AnyVariant:
        """What the brokers do under the protocol that a preset stands for, under the preset's name."""
        return replace(model_of(self.kafka, name), name=name)

    def plays_unasked(self, name: str) -> bool:
        """What somebody's build is meant to do is for that person to say."""
        return not is_meant(self.kafka, name)

    def model(self, preset: str) -> tuple[str, str]:
        """A binary under an older protocol is not that older binary: its model, and the binary held to that protocol."""
        protocol = protocol_for(self.kafka, preset)
        return model_of(self.kafka, preset).name, str(replace(self.kafka, protocol=protocol))

    @property
    def default_variant(self) -> str:
        """What the binary is by itself, or under the protocol it is held to."""
        return shown_preset(self.kafka)

    def tells_apart(self, kind: str) -> bool:
        """ZooKeeper's answers do not say what they answer, and who registers does so in its session; with KRaft brokers fetch what
        they are told.
        """
        return kind not in (OF_KRAFT if self.kafka.uses_zookeeper else OF_ZOOKEEPER)

    def check(self, plan: Plan, variant: AnyVariant) -> None:
        super().check(plan, variant)
        if plan.workload.transactional and not self.has_idempotence(variant):
            raise SystemRefusalError(f"the message format of {self.name} has no transactions: {HAS_TRANSACTIONS}")
        if not self.has_two_log_directories and any(fault.kind in MOVES_LOGS for fault in plan.faults):
            raise SystemRefusalError(ONE_LOG_DIRECTORY.format(name=self.name))
        if not self.kafka.has_dynamic_quorum and any(fault.kind in CHANGES_VOTERS for fault in plan.faults):
            raise SystemRefusalError(FIXED_VOTERS.format(name=self.name))
        if plan.workload.patience_us:
            raise SystemRefusalError(
                f"brokers of {self.name} wait as long as a client tells them, so that none is more patient than they are: "
                "leave out workload.patience_us"
            )
        if self._quorum and plan.cluster.brokers < len(self.controllers) - 1:
            raise SystemRefusalError(
                f"{len(self.controllers) - 1} of the controllers of {self.name} are brokers: use --brokers "
                f"{len(self.controllers) - 1} or more"
            )
        place = JvmPlace(1, "10.0.0.2", "", "10.0.0.1", "/")
        server_properties(self.kafka, protocol_for(self.kafka, variant.name), plan.cluster, place, self.broker_config)

    @property
    def has_share_groups(self) -> bool:  # type: ignore[override]
        """By its version."""
        return self.kafka.has_share_groups

    @property
    def has_two_log_directories(self) -> bool:
        """Whether brokers can have two (KIP-112; with KRaft KIP-858)."""
        return self.kafka.uses_zookeeper or self.kafka.has_log_directories_in_kraft

    # Install, configure, control

    def install(self, client: DockerClient, tell: Callable[[str], None]) -> str:
        from tidemark.harness.machines.kafka_image import build_kafka_image, build_upgrade_image

        if self.kafka.later is None:
            image = build_kafka_image(client, self.kafka.version, tell, build_of=self.kafka.build)
        else:
            image = build_upgrade_image(client, self.kafka.version, self.kafka.later, tell)
        refuse_unknown(client, image, self.kafka.version, self.broker_config)
        return image

    def control(self, machine: Machine, on_lost: Callable[[], None] | None = None) -> NodeControl:
        return KafkaControl(machine, on_lost)

    def configure(self, node: int, incarnation: int, deployment: Deployment) -> dict[str, Any]:
        """As ``tidemark.nodes.sidecar.config`` reads it."""
        return node_configuration(
            self.kafka, node, incarnation, deployment, self.broker_config, proxied=self.proxied, jvm=self.jvm
        )

    def before_start(self, node: int, controls: Mapping[int, NodeControl], deployment: Deployment) -> None:
        """A broker that was killed cannot register again before its session with ZooKeeper has ended: the new one finds the old
        one's node, which is another session's, and gives up. Whoever supervises brokers tries until it works; here they wait.
        """
        if not self.kafka.uses_zookeeper or node == CONTROLLER:
            return
        deadline = time.monotonic() + 2 * deployment.cluster.settings.session_us / 1e6 + SESSION_END_S
        with suppress(NodeError):
            while time.monotonic() < deadline:
                session = controls[CONTROLLER].status()["sessions"].get(str(node))
                if session is None or not session["live"]:
                    return
                time.sleep(LOOK_S)

    def setup(self, controls: Mapping[int, NodeControl], deployment: Deployment) -> None:
        """Make the topic, through Kafka's own API."""
        partitions = {name: list(replicas) for name, replicas in deployment.cluster.assignment().items()}
        config = topic_configs(deployment.cluster)
        self._ask(controls, "create-topics", TOPIC_S, partitions=partitions, config=config)
        for internal in INTERNAL_TOPICS.get(deployment.workload, ()):
            partitions, config = internal.replicas(deployment.cluster), internal.config(deployment.cluster)
            self._ask(controls, "create-topics", TOPIC_S, partitions=partitions, config=config)
        if deployment.workload == SHARE_GROUP:
            self._open_share_group(deployment)

    def _open_share_group(self, deployment: Deployment) -> None:
        from tidemark.harness.clients.errors import ClientsError
        from tidemark.harness.clients.share_group import open_group

        reached = {broker: deployment.machines[broker].advertised for broker in deployment.cluster.broker_ids()}
        try:
            open_group(addresses_of(reached), deployment.cluster, self.kafka.switches_on_share_groups)
        except ClientsError as error:
            raise NodeError(str(error)) from None

    # From one run to the next

    def can_go_on(self, before: Deployment, after: Deployment) -> bool:
        """Not in an upgrade, nor where internal topics count, nor with several controllers, who all have traced what is committed.
        What a broker's properties say of topics, topics say themselves.
        """
        if (
            self.kafka.uses_zookeeper
            or self._quorum
            or self.kafka.later is not None
            or before.workload
            or after.workload
        ):
            return False
        return before.nodes == after.nodes and all(
            self._as_it_starts(node, before) == self._as_it_starts(node, after) for node in after.nodes
        )

    def _as_it_starts(self, node: int, deployment: Deployment) -> dict[str, Any]:
        config = self.configure(node, 1, deployment)
        of_topics = topic_configs(deployment.cluster)
        return config | {
            "properties": {key: value for key, value in config["properties"].items() if key not in of_topics}
        }

    def clear(self, controls: Mapping[int, NodeControl], before: Deployment) -> None:
        """Delete its topics, through Kafka's own API, and have the sidecars begin anew."""
        self._ask(controls, "delete-topics", TOPIC_S, topics=sorted(before.topics))
        _ask_all(controls, "next-run")

    def forget(self, controls: Mapping[int, NodeControl], after: Deployment) -> None:
        """High watermarks of topics that are deleted stay in their checkpoint, until it is written again."""
        _ask_all({node: controls[node] for node in after.cluster.broker_ids()}, "forgotten")

    def workload(self, order: WorkloadOrder) -> Workload:
        if order.plan.workload.object is None:
            return super().workload(order)
        from tidemark.harness.systems.kafka.group_offset_clients import GroupOffsetClients

        return GroupOffsetClients(order, members=self.kafka.has_consumer_group_heartbeats)

    def promise_of(self, plan: Plan) -> str | None:
        """Of what lies in an internal topic nobody knows who was in sync."""
        return None if plan.workload.object is None else "durable"

    def client_jars(self) -> Mapping[str, bytes]:
        """From the image that the brokers run from."""
        from tidemark.harness.machines.docker_engine import connect
        from tidemark.harness.machines.run_once import OUT, run_once

        client = connect()
        try:
            wanted = " ".join(f"{LIBRARIES}/{name}" for name in OF_CLIENTS)
            return run_once(client, self.install(client, lambda _: None), f"cp {wanted} {OUT}/", {})
        finally:
            client.close()

    # While it runs

    def elect(self, controls: Mapping[int, NodeControl], partition: str, how: str, target: int) -> str:
        """Through Kafka's own API, asked by the sidecar of the controller's machine."""
        try:
            self._ask(controls, "elect", ELECTION_S, partition=partition, how=how, target=target)
        except NodeError as error:
            return str(error)
        return ""

    def reassign(self, controls: Mapping[int, NodeControl], partition: str, replicas: Sequence[int]) -> str:
        """Through Kafka's own API, likewise."""
        asked = {"partition": partition, "replicas": list(replicas), "wait": False}
        try:
            self._ask(controls, "reassign", REASSIGNMENT_S, **asked)
        except NodeSilent:
            raise
        except NodeError as error:
            return str(error)
        return ""

    def set_min_isr(self, controls: Mapping[int, NodeControl], topics: Collection[str], min_isr: int) -> str:
        """Through Kafka's own API, likewise."""
        return self._change(controls, "min-isr", topics=sorted(topics), min_isr=min_isr)

    def allow_unclean(self, controls: Mapping[int, NodeControl], topics: Collection[str], *, on: bool) -> str:
        """Through Kafka's own API, likewise."""
        return self._change(controls, "unclean", topics=sorted(topics), on=on)

    def switch_elr(self, controls: Mapping[int, NodeControl], *, on: bool) -> str:
        """Through Kafka's own API, likewise."""
        return self._change(controls, "elr", on=on)

    def move_log(self, controls: Mapping[int, NodeControl], broker: int, partition: str) -> str:
        """Through Kafka's own API, asked of the broker itself by its sidecar."""
        if not self.has_two_log_directories:
            return ONE_LOG_DIRECTORY.format(name=self.name)
        return self._change(controls, "move-log", of=broker, partition=partition)

    def throttle_moves(self, controls: Mapping[int, NodeControl], broker: int, rate: int) -> str:
        """Through Kafka's own API. With KRaft the controller is asked, and the broker need not run."""
        asked = broker if self.kafka.uses_zookeeper else CONTROLLER
        return self._change(controls, "throttle-moves", of=asked, broker=broker, rate=rate)

    def fail_log_dir(self, control: NodeControl, partition: str, *, other: bool) -> str:
        return str(self._to_log_dirs(control, FAIL, "--partition", partition, *["--other"] * other)["directory"])

    def mend_log_dir(self, control: NodeControl, *, emptied: bool) -> tuple[str, list[str]]:
        told = self._to_log_dirs(control, EMPTY if emptied else MEND)
        return told["directory"], told["lost"]

    def _to_log_dirs(self, control: NodeControl, *order: str) -> dict[str, Any]:
        script = f"python3 -m {FAILED_LOG_DIRECTORY} --data {quote(control.places.data)} {shlex_join(order)}"
        told: dict[str, Any] = json.loads(control.run(script, to=f"{order[0]} a log directory"))
        return told

    def change_voter(
        self, controls: Mapping[int, NodeControl], deployment: Deployment, node: int, *, there: bool
    ) -> str:
        """Through Kafka's own API, asked of the active controller; again while there is no answer that settles it.

        Who is told, when asked again, that it is so already does not know that its own order did it.
        """
        if not self.kafka.has_dynamic_quorum:
            return FIXED_VOTERS.format(name=self.name)
        host, port = deployment.machines[node].inner_ip, INTERNAL_PORT if node == CONTROLLER else QUORUM_PORT
        what: dict[str, object] = {"node": node, "directory": directory_of(node)}
        if there:
            what["listener"] = [CONTROLLERS, host, port]
        deadline = time.monotonic() + VOTER_TRIES_S
        while True:
            try:
                self._ask(controls, "voter", VOTER_S, **what)
            except NodeError as error:
                if any(name in str(error) for name in DONE_ALREADY) or time.monotonic() > deadline:
                    return str(error)
                time.sleep(AGAIN_S)
            else:
                return ""

    def directory_of(self, node: int) -> str:
        return directory_of(node)

    def _change(self, controls: Mapping[int, NodeControl], order: str, *, of: int = CONTROLLER, **what: object) -> str:
        try:
            if of == CONTROLLER:
                self._ask(controls, order, REASSIGNMENT_S, **what)
            else:
                controls[of].admin.ask(order, timeout_s=REASSIGNMENT_S, **what)
        except NodeError as error:
            return str(error)
        return ""

    def _ask(self, controls: Mapping[int, NodeControl], order: str, timeout_s: float, **what: object) -> None:
        """Ask the controller; of several the active one, and again who is it then while that one says that it is not.

        Raises:
            NodeError: it refused, or did not answer; nobody was it for as long.
        """
        if not self._quorum:
            controls[CONTROLLER].admin.ask(order, timeout_s=timeout_s, **what)
            return
        deadline = time.monotonic() + NOBODY_S
        while True:
            active = self._active(controls)
            if active is not None:
                try:
                    active.admin.ask(order, timeout_s=timeout_s, **what)
                except NodeError as error:
                    if NOT_CONTROLLER not in str(error) or time.monotonic() > deadline:
                        raise
                else:
                    return
            elif time.monotonic() > deadline:
                raise NodeError(f"no controller was active for {NOBODY_S:g} s")
            time.sleep(LOOK_S)

    def _active(self, controls: Mapping[int, NodeControl]) -> NodeControl | None:
        """Who says that it is the active controller, in the latest epoch: one that was cut off may not know that it is not."""
        found: dict[int, NodeControl] = {}
        for node in self.controllers:
            with suppress(NodeError):
                if controls[node].admin.is_open:
                    said = controls[node].admin.ask("status", timeout_s=STATUS_S)["controller"]
                    found |= {said["epoch"]: controls[node]} if said["leads"] else {}
        return found[max(found)] if found else None

    def spread(self, rules: Mapping[int, Rules], nodes: Iterable[int]) -> dict[int, Rules]:
        """To every sidecar: a message passes that of the machine which accepted its connection, whoever sent it.

        What the controller says of leaders comes from whichever broker is it, and there ISR changes go: node 0 is the first,
        but not the only one that can. Of several controllers any can be the one that all its other messages come from and go to.
        """
        from_any = FROM_CONTROLLER if self._quorum else {LEADERSHIP}
        to_any = TO_CONTROLLER if self._quorum else {ISR_CHANGES}
        everywhere = [
            {
                "kind": rule["kind"],
                "from": None if sender == CONTROLLER and rule["kind"] in from_any else sender,
                "to": None if rule["kind"] in to_any else rule["to"],
                "effect": rule["effect"],
                "amount": rule["amount"],
            }
            for sender, of_sender in sorted(rules.items())
            for rule in of_sender
        ]
        return dict.fromkeys(nodes, everywhere) if everywhere else {}

    def is_halt(self, words: str) -> bool:
        """A broker's protocol has one reason to give up: the leader's log is shorter, and unclean elections are off."""
        return HALT in words

    def came_too_early(self, words: str) -> bool:
        """A broker that finds its id taken by the session of its last life, which ZooKeeper has not ended yet; or whose own
        session ended before it was up; or that found no active controller for a minute, where there are several to be one.
        """
        if self._quorum and UNREGISTERED in words:
            return True
        return STARTING in words and any(part in words for part in TOO_EARLY)

    def has_idempotence(self, variant: AnyVariant) -> bool:
        """Not with the message formats before 0.11, which have no leader epochs either."""
        return variant.has_epoch_cache

    def refusals(self, acks: str) -> frozenset[str]:
        """A leader that is deposed answers NOT_LEADER_OR_FOLLOWER to whoever still waits for its followers, too."""
        return frozenset({NOT_ENOUGH_REPLICAS}) if acks == "all" else super().refusals(acks)

    # Evidence

    def read_disk(self, control: NodeControl, partition: str) -> Disk:
        return read_disk(control, partition)

    def segments(self, evidence: Evidence) -> dict[str, Segment]:
        return segments_of(evidence)

    def interpret(self, found: ReplicaEvidence) -> ReplicaEvidence:
        """Find the epochs of records whose format has none, and see whether log lines and files agree."""
        return interpret(found, self.kafka.version, dreams=not self.kafka.uses_zookeeper, quorum=self._quorum)

    def own_logs(self, evidence: Evidence, status: Mapping[str, Any]) -> Iterator[TraceEvent]:
        """Those of coordinators; with several controllers the metadata log as well."""
        yield from coordinator_logs_of(evidence)
        metadata = metadata_log_of(evidence, status["metadata_hw"]) if self._quorum else None
        if metadata is not None:
            yield metadata

    @property
    def about(self) -> str:
        """Which Kafka somebody's build is taken for."""
        build = self.kafka.build
        if build is None:
            return ""
        what = (
            f"{build.path} in front of Kafka {build.version}"
            if build.in_front
            else f"Kafka {build.version} of {build.path}"
        )
        return f"{what} (digest {build.digest}): its logs are read as those of {read_as(self.kafka.version)}"

    def doubts_all_evidence(self) -> str:
        """A version whose log lines nobody has verified."""
        return not_verified(self.kafka.version) or (not_verified(self.kafka.later) if self.kafka.later else "")

    def describe(self, variant: AnyVariant) -> dict[str, Any]:
        """Binary, protocol, and settings that were asked for."""
        protocol = protocol_for(self.kafka, variant.name)
        told: dict[str, Any] = {"system": str(replace(self.kafka, protocol=protocol))}
        if build := self.kafka.build:
            told["build"] = {"version": build.version, "digest": build.digest, "in_front": build.in_front}
            told["build"]["read_as"] = read_as(self.kafka.version)
        return told | ({"broker_config": self.broker_config} if self.broker_config else {})


def _ask_all(controls: Mapping[int, NodeControl], order: str) -> None:
    """Ask all at once, and wait for the last."""
    asked = [(control.admin, control.admin.post(order)) for control in controls.values()]
    for admin, future in asked:
        admin.wait(future, order, NEXT_RUN_S)

"""Tidemark's own nodes: the protocol core in a process with sockets and files.

What containers need is imported late: the simulator asks this system too, which variants it knows, and does without them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidemark.harness.runs.own_rules import digests
from tidemark.harness.systems.capabilities import ReadsLogs, Watched
from tidemark.harness.systems.speaks_kafka import SpeaksKafka
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from docker import DockerClient

    from tidemark.harness.evidence.collect import Evidence
    from tidemark.harness.evidence.partition_disk import Disk
    from tidemark.harness.evidence.replica_evidence import ReplicaEvidence, Segment
    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.machines.node_control import NodeControl
    from tidemark.harness.systems.deployment import Deployment
    from tidemark.nodes.families import AnyVariant


class TidemarkSystem(SpeaksKafka, ReadsLogs, Watched):
    """``--system tidemark``."""

    name = "tidemark"
    runs_on_hosts = True
    keeps_times = True

    def variant(self, name: str) -> AnyVariant:
        """Any, of whichever family.

        Raises:
            VariantError: there is none of that name. SystemRefusalError: it has a truncation rule that nodes do not know.
        """
        from tidemark.nodes.families import parse_variant

        variant = parse_variant(name)
        if rules := digests(variant.name):
            raise SystemRefusalError(
                f"the nodes of {self.name} know no truncation rule {', '.join(rules)}: it runs in the simulator"
            )
        return variant

    def install(self, client: DockerClient, tell: Callable[[str], None]) -> str:
        from tidemark.harness.machines.images import ensure_image

        return ensure_image(client, tell)

    def control(self, machine: Machine, on_lost: Callable[[], None] | None = None) -> NodeControl:
        from tidemark.harness.machines.node_control import NodeControl

        return NodeControl(machine, on_lost=on_lost)

    def configure(self, node: int, incarnation: int, deployment: Deployment) -> dict[str, Any]:
        """As ``tidemark.nodes.process.config`` reads it."""
        from tidemark.harness.machines.node_places import Places
        from tidemark.harness.systems.tidemark_config import node_config

        return node_config(
            node,
            incarnation,
            machines=deployment.machines,
            places=Places(),
            cluster=deployment.cluster,
            variant=deployment.variant,
            first_leader_epoch=deployment.first_leader_epoch,
        )

    def elect(self, controls: Mapping[int, NodeControl], partition: str, how: str, target: int) -> str:
        """Node 0 decides; not asked where there is no controller."""
        controls[CONTROLLER].elect(partition, how, target)
        return ""

    def stand(self, control: NodeControl, partition: str, *, wait: bool = True) -> None:
        asked = control.admin.post("stand", partition=partition)
        if wait:
            control.admin.wait(asked, "stand")

    def change_members(self, control: NodeControl, partition: str, members: Sequence[int]) -> None:
        """Within two seconds."""
        control.admin.wait(control.admin.post("reassign", partition=partition, replicas=list(members)), "reassign", 2.0)

    def reassign(self, controls: Mapping[int, NodeControl], partition: str, replicas: Sequence[int]) -> str:
        answer = controls[CONTROLLER].admin.ask("reassign", partition=partition, replicas=list(replicas))
        return str(answer["refused"])

    def allow_unclean(self, controls: Mapping[int, NodeControl], topics: Collection[str], *, on: bool) -> str:
        """Of all topics: node 0 decides."""
        from tidemark.harness.machines.errors import NodeError

        try:
            controls[CONTROLLER].admin.ask("unclean", on=on)
        except NodeError as error:
            return str(error)
        return ""

    def fail_controller(self, controls: Mapping[int, NodeControl]) -> None:
        """Its process goes on, and holds what was written."""
        controls[CONTROLLER].admin.ask("controller", there=False)

    def elect_controller(self, controls: Mapping[int, NodeControl]) -> None:
        """The process takes over from itself."""
        controls[CONTROLLER].admin.ask("controller", there=True)

    def retain(self, control: NodeControl, partition: str, batches: int) -> None:
        control.admin.ask("retention", partition=partition, batches=batches)

    def segments(self, evidence: Evidence) -> dict[str, Segment]:
        """Logs, and bookies' journals under the names of their directories."""
        from tidemark.harness.evidence.journals import records_of
        from tidemark.harness.evidence.run_error import RunError
        from tidemark.nodes.formats.bad_batch import BadBatchError
        from tidemark.nodes.formats.journal import partition_of

        found = evidence.read_segments()
        try:
            journals = {n: records_of(content) for n, content in evidence.segments.items() if partition_of(n)}
        except BadBatchError as error:
            raise RunError(f"a journal of {evidence.name} cannot be read: {error}") from None
        return found | journals

    def interpret(self, found: ReplicaEvidence) -> ReplicaEvidence:
        """Of bookies it is the journals that are held against what they told: their logs lie in no file."""
        from tidemark.harness.evidence.journals import agreement_of_journals, has_journals
        from tidemark.harness.evidence.replica_evidence import doubts_together

        if not has_journals(found):
            return super().interpret(found)
        doubted = doubts_together(found.doubted, agreement_of_journals(found))
        return replace(found, doubted=doubted, segments={})

    def lay_out(self, control: NodeControl, partition: str, disk: Disk) -> None:
        from tidemark.harness.evidence.partition_disk import lay_out

        lay_out(control, partition, disk)

    def read_disk(self, control: NodeControl, partition: str) -> Disk:
        from tidemark.harness.evidence.partition_disk import read_disk

        return read_disk(control, partition)

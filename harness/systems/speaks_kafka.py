"""A system whose clients speak Kafka's wire protocol: its workload, and what their errors prove."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidemark.harness.systems.system import System
from tidemark.nodes.core.messages import NOT_ENOUGH_REPLICAS, NOT_LEADER
from tidemark.nodes.families import family_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.harness.clients.workload import Workload, WorkloadOrder
    from tidemark.nemesis import Plan
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.families import AnyVariant


class SpeaksKafka(System):
    """Brokers that answer Produce, Fetch and the others (docs/systems-from-inside.md)."""

    def has_idempotence(self, variant: AnyVariant) -> bool:
        """Whether its brokers take the sequence numbers of idempotent producers (KIP-98)."""
        return True

    def refusals(self, acks: str) -> frozenset[str]:
        """Errors of a Produce request with these acks that prove that nothing was written."""
        return frozenset({NOT_LEADER, NOT_ENOUGH_REPLICAS})

    def workload(self, order: WorkloadOrder) -> Workload:
        from tidemark.harness.clients.kafka_workload import KafkaWorkload  # its messages are an extra's

        plan, family = order.plan, family_of(order.variant)
        return KafkaWorkload(
            ",".join(order.addresses.values()),
            _as_clients_know(plan),
            plan.workload,
            clock=order.clock,
            record=order.record,
            noise_seed=plan.noise_seed,
            library=order.library,
            counters=order.counters,
            log=order.log,
            idempotent=self.has_idempotence(order.variant),
            own_entries=not family.has_isr,
            reads_anywhere=family.reads_anywhere,
            asks_leaders=_is_linearizable(order.variant),
            jars=self.client_jars if self.has_transactions else None,
        )

    def client_jars(self) -> Mapping[str, bytes]:
        """File name → content of the jars of Kafka's own clients, where its brokers `has_transactions`.

        Raises:
            ContainerWorldError: they cannot be had.
        """
        raise NotImplementedError

    def describe_clients(self, variant: AnyVariant) -> dict[str, Any]:
        """Producers that are not idempotent; consumers that are ours and no library's."""
        own = family_of(variant).reads_anywhere or _is_linearizable(variant)
        return {
            **({} if self.has_idempotence(variant) else {"idempotent": False}),
            **({"readers": "own"} if own else {}),
        }


def _is_linearizable(variant: AnyVariant) -> bool:
    """Whether a poll is promised to show all that was acknowledged or read before."""
    return bool(getattr(variant, "linearizable_reads", False))


def _as_clients_know(plan: Plan) -> ClusterSpec:
    """The cluster, with the clients' own patience instead of the brokers'."""
    cluster, patience = plan.cluster, plan.workload.patience_us
    return replace(cluster, settings=replace(cluster.settings, produce_timeout_us=patience)) if patience else cluster

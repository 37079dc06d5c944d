"""A cluster in containers for as long as a benchmark needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bench.throughput import VARIANT
from tidemark.harness.live.link_faults import TRANSPORT
from tidemark.harness.live.live_cluster import LiveCluster
from tidemark.harness.live.recorder import Recorder
from tidemark.harness.live.session import ContainerSession
from tidemark.nemesis import Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings


@contextmanager
def booted(session: ContainerSession, brokers: int, *, variant: str = VARIANT, slower: float = 1) -> Iterator[str]:
    """Start the nodes; gives the brokers' addresses for clients once there is a leader.

    Args:
        session: its machines and its system are used.
        brokers: how many.
        variant: a name the system knows.
        slower: by how much the times of the default settings are multiplied.
    """
    settings = Settings(min_isr=min(2, brokers)).scaled(slower)
    cluster = ClusterSpec(brokers=brokers, replication_factor=min(3, brokers), settings=settings)
    plan = Plan(0, 0, 0, "by hand", cluster, WorkloadSpec(), (), 0)
    machines = session.open().machines
    with Recorder({}, None, lambda _entry: None) as recorder:
        protocol = session.system.variant(variant)
        live = LiveCluster(machines, plan, protocol, recorder, delay=TRANSPORT, system=session.system)
        try:
            live.boot()
            yield ",".join(machines[broker].advertised for broker in cluster.broker_ids())
        finally:
            live.close()

"""What a page must say of each system: how it was set, what its documentation promises, and which setting repairs what is lost."""

from __future__ import annotations

from typing import NamedTuple

from tidemark.harness.survey.entrants import FLUSH, OWN, Entrant
from tidemark.harness.systems.outside.adapter import OutsideSystem

ISR = (
    "This guarantees that the record will not be lost as long as at least one in-sync replica remains alive. "
    "(Kafka's documentation, producer configs, acks)"
)
FLUSHED = (
    "if this was set to 1 we would fsync after every message; […] In general we recommend you not set this and use replication for "
    "durability (Kafka's documentation, topic configs, flush.messages)"
)
RAFT = "Updated on stable storage before responding to RPCs. (Ongaro and Ousterhout, Raft, figure 2)"
UNSYNCED_KAFKA = (
    "three replicas, `acks=all`, `min.insync.replicas=2`, no unclean elections; all else default: no append is synced"
)

FLUSS = (
    "a log table of three replicas, acks of all; two must be in sync (`log.replica.min-in-sync-replicas-number`; default 1), and a "
    "silent server counts as failed after 12 s (`zookeeper.client.session-timeout`; default 60 s); no idempotence; all else default"
)

ETCD = (
    "three members, all default: every entry is synced. Clients add elements to a set; an acknowledged element that later reads no "
    "longer show counts as a lost record"
)

SAME = "the same, and "
"""Begins the settings of a system that stands beside another."""

BUT_NATS = (
    "If multiple servers fail simultaneously, all due to an OS failure, and before their data has been fsync-ed, the cluster may "
    "fail to recover the most recently acknowledged messages. If a failed server lost data locally due to an OS failure, although "
    "extremely rare, it may rejoin the cluster and form a new majority with nodes that have never received or persisted a given "
    "message. (docs.nats.io, JetStream, since the end of 2025)"
)
"""What it says besides."""


class About(NamedTuple):
    """Of one system.

    Attributes:
        title: for people. settings: how it runs. promised: the words of its documentation. repairs: the name of the system
            that this one is beside, with the setting that repairs what it loses; empty if it is beside none.
    """

    title: str
    settings: str
    promised: str
    repairs: str = ""


def about(one: Entrant) -> About:
    """What is known of a system; of one that nobody here knows, what it says itself."""
    kind, _, version = one.name.partition(":")
    if kind == "kafka":
        release = f"Kafka {version.partition('+')[0]}"
        if not one.settings:
            return About(release, UNSYNCED_KAFKA, ISR)
        listed = ", ".join(f"`{key}={value}`" for key, value in one.settings.items())
        syncs = one.name.endswith(FLUSH)
        title = f"{release}, each append synced" if syncs else f"{release}, {listed}"
        return About(title, f"{SAME}{listed}", FLUSHED if syncs else ISR, f"kafka:{version.partition('+')[0]}")
    if kind == OWN:
        named = one.variant
        own = "Tidemark's own nodes, written to be tested"
        if named.startswith("raft"):
            return About(f"our own nodes, `{named}`", f"{own}; every entry is synced before it is acknowledged", RAFT)
        return About(f"our own nodes, `{named}`", f"{own}; Kafka's protocol and settings, so no append is synced", ISR)
    promised = one.system.real.promised if isinstance(one.system, OutsideSystem) else ""
    if kind == "nats":
        release, _, option = version.partition("@")
        if option:
            return About(
                f"NATS JetStream {release}, each message synced",
                f"{SAME}`sync_interval: always`",
                promised,
                f"nats:{release}",
            )
        return About(
            f"NATS JetStream {release}",
            "a stream of three replicas in files; all else default: synced every two minutes",
            f"{promised}<br>{BUT_NATS}",
        )
    if kind == "etcd":
        return About(f"etcd {version}", ETCD, promised)
    if kind == "fluss":
        return About(f"Apache Fluss {version}", FLUSS, promised)
    return About(one.name, "as its file says", promised)

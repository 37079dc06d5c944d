"""Messages between brokers, controller and clients: the fields of Kafka's requests that the protocol turns on.

Every message names its ``source`` node, so a message is itself the event "this has arrived". Requests carry a ``correlation``
number that their response repeats; a response to anything but the latest request of its kind is ignored. An ``error`` is
Kafka's name for it, or None. They are plain mutable slots classes because the simulator makes hundreds of thousands a second;
nobody changes one after it was sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.log import Batch

NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"
FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"
OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
NOT_ENOUGH_REPLICAS = "NOT_ENOUGH_REPLICAS"
NOT_ENOUGH_REPLICAS_AFTER_APPEND = "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT"
STALE_BROKER_EPOCH = "STALE_BROKER_EPOCH"
INVALID_UPDATE_VERSION = "INVALID_UPDATE_VERSION"
INELIGIBLE_REPLICA = "INELIGIBLE_REPLICA"
NEW_LEADER_ELECTED = "NEW_LEADER_ELECTED"
UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION"

CONTROLLER = 0
"""The controller's node id; brokers are 1, 2, 3 …"""

ALL = "all"
"""acks=all (−1)."""


@dataclass(slots=True)
class FetchRequest:
    """A follower asks for records from ``offset`` on (Fetch v15's fields; KIP-320, KIP-595, KIP-903).

    ``start`` is its log start offset (KIP-107).
    """

    source: int
    partition: str
    offset: int
    leader_epoch: int
    last_fetched_epoch: int
    broker_epoch: int
    correlation: int
    start: int = 0


@dataclass(slots=True)
class FetchResponse:
    """Records from ``offset`` on, or a diverging epoch, or an error.

    ``start`` is the leader's log start offset, which followers take over (KIP-107). It and ``leo`` serve followers that are out of
    range, where Kafka's ask with ``ListOffsets``.
    """

    source: int
    partition: str
    correlation: int
    batches: list[Batch]
    hw: int
    leo: int
    error: str | None = None
    diverging: EpochEnd | None = None
    start: int = 0


@dataclass(slots=True)
class EpochRequest:
    """OffsetForLeaderEpoch: where does ``epoch`` end? ``current_epoch`` is the asker's leader epoch (KIP-320).

    ``lineage``: epochs of the asker and where they end, of a rule that sends them (KIP-279's alternative 2).
    """

    source: int
    partition: str
    epoch: int
    current_epoch: int
    correlation: int
    lineage: tuple[EpochEnd, ...] = ()


@dataclass(slots=True)
class EpochResponse:
    """The largest epoch not above the one asked for and its end offset; (-1, -1) is undefined."""

    source: int
    partition: str
    correlation: int
    answer: EpochEnd
    error: str | None = None


@dataclass(slots=True)
class ProduceRequest:
    """One batch of a producer; ``acks`` is ``"all"``, ``"1"`` or ``"0"``."""

    source: int
    partition: str
    values: Sequence[int]
    acks: str
    correlation: int


@dataclass(slots=True)
class ProduceResponse:
    """The base offset, or an error.

    ``NOT_LEADER_OR_FOLLOWER`` and ``NOT_ENOUGH_REPLICAS`` are only sent when nothing was appended. A leader that is deposed
    with the batch in its log answers ``REQUEST_TIMED_OUT``: the outcome is unknown.
    """

    source: int
    partition: str
    correlation: int
    base_offset: int
    error: str | None = None


@dataclass(slots=True)
class ConsumeRequest:
    """A consumer asks for records from ``offset`` up to the high watermark."""

    source: int
    partition: str
    offset: int
    correlation: int


@dataclass(slots=True)
class ConsumeResponse:
    """(offset, value) pairs below the high watermark, or an error; ``start`` is where a consumer that is out of range may begin,
    ``position`` where one goes on, unless that is behind the last record (−1).
    """

    source: int
    partition: str
    correlation: int
    records: list[tuple[int, int]]
    hw: int
    error: str | None = None
    start: int = 0
    position: int = -1


HIGH_WATERMARK = -1
"""In place of an offset: up to the high watermark."""


@dataclass(slots=True)
class DeleteRecordsRequest:
    """A client asks a leader to delete the records below ``offset``, which may be :data:`HIGH_WATERMARK` (KIP-107)."""

    source: int
    partition: str
    offset: int
    correlation: int


@dataclass(slots=True)
class DeleteRecordsResponse:
    """The low watermark, which is the least log start of all live replicas, once it has reached the offset; or an error.

    ``OFFSET_OUT_OF_RANGE`` and ``UNSUPPORTED_VERSION`` prove that nothing was deleted. After the others the leader's log start may
    have moved.
    """

    source: int
    partition: str
    correlation: int
    low_watermark: int
    error: str | None = None


@dataclass(slots=True)
class MetadataRequest:
    """A client asks any broker who leads what."""

    source: int
    correlation: int


@dataclass(slots=True)
class MetadataResponse:
    """Partition → leader, as the asked broker knows it (−1: none)."""

    source: int
    correlation: int
    leaders: dict[str, int]


@dataclass(slots=True)
class LeaderAndIsr:
    """Controller to broker: the state of a partition (``LeaderAndIsr`` with ZooKeeper, a partition record with KRaft).

    May arrive late, and with KRaft out of order or not at all. ``broker_epoch`` is the incarnation it was meant for (KIP-380);
    ``eligible`` are the replicas that could be in the ISR now, being neither fenced nor shutting down (KIP-841). ``correlation``
    numbers ZooKeeper's requests. ``delete`` asks a broker that is no replica to delete what it has (``StopReplica``, ZooKeeper).
    ``controller_epoch`` says which of ZooKeeper's controllers, one after the other, has decided it. ``settings`` counts an
    operator's changes of ``min_isr`` and ``unclean``, of which brokers hear on the same way; before the first one it is 0.
    """

    source: int
    partition: str
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    partition_epoch: int
    replicas: tuple[int, ...]
    broker_epoch: int
    eligible: tuple[int, ...] = ()
    correlation: int = 0
    delete: bool = False
    controller_epoch: int = 0
    min_isr: int = 0
    settings: int = 0
    unclean: bool = False


@dataclass(slots=True)
class StateTaken:
    """A broker answers a ``LeaderAndIsr`` request, whatever it made of it (ZooKeeper)."""

    source: int
    correlation: int


@dataclass(slots=True)
class AlterPartition:
    """A leader proposes an ISR of (broker, broker epoch) pairs (KIP-497, KIP-903; compare and set on ``partition_epoch``)."""

    source: int
    partition: str
    leader_epoch: int
    partition_epoch: int
    isr: tuple[tuple[int, int], ...]
    broker_epoch: int
    correlation: int


@dataclass(slots=True)
class AlterPartitionResponse:
    """The committed state, or an error. ``min_isr`` and ``settings`` as in :class:`LeaderAndIsr`, for the variant that has them."""

    source: int
    partition: str
    correlation: int
    leader_epoch: int
    isr: tuple[int, ...]
    partition_epoch: int
    error: str | None = None
    min_isr: int = 0
    settings: int = 0


@dataclass(slots=True)
class Register:
    """A broker's process asks to be part of the cluster.

    ``previous_broker_epoch`` is the epoch that a clean shutdown wrote beside the log (KIP-966), −1 without that proof.
    """

    source: int
    incarnation: int
    previous_broker_epoch: int


@dataclass(slots=True)
class Registered:
    """The new broker epoch."""

    source: int
    incarnation: int
    broker_epoch: int


@dataclass(slots=True)
class Heartbeat:
    """Keeps the session, reports which partition epochs are known, and may ask to shut down.

    ``closing`` is the end of a ZooKeeper session: the process ends now. ``settings``: of how many changes it knows.
    """

    source: int
    broker_epoch: int
    known: dict[str, int] = field(default_factory=dict)
    shutting_down: bool = False
    closing: bool = False
    settings: int = 0


@dataclass(slots=True)
class HeartbeatReply:
    """Accepted, or ``STALE_BROKER_EPOCH``; ``may_stop`` lets a broker that asked to shut down go."""

    source: int
    may_stop: bool
    error: str | None = None


@dataclass(slots=True)
class Elect:
    """An operator's election: ``preferred``, ``forced`` (to a valid replica) or ``unclean`` (to any live one)."""

    source: int
    partition: str
    how: str
    target: int


@dataclass(slots=True)
class Reassign:
    """An operator's reassignment: from now on the replicas are to be ``replicas``, the preferred leader first (KIP-455)."""

    source: int
    partition: str
    replicas: tuple[int, ...]


@dataclass(slots=True)
class SetMinIsr:
    """An operator sets the topic's ``min.insync.replicas`` (IncrementalAlterConfigs, KIP-339)."""

    source: int
    min_isr: int


@dataclass(slots=True)
class AllowUnclean:
    """An operator sets the topic's ``unclean.leader.election.enable`` (IncrementalAlterConfigs, KIP-339)."""

    source: int
    on: bool


@dataclass(slots=True)
class SwitchElr:
    """An operator switches ELR on or off (UpdateFeatures of ``eligible.leader.replicas.version``, KIP-584, KIP-966)."""

    source: int
    on: bool


KINDS: dict[str, type] = {
    "fetch requests": FetchRequest,
    "fetch responses": FetchResponse,
    "epoch requests": EpochRequest,
    "epoch responses": EpochResponse,
    "leadership": LeaderAndIsr,
    "leadership answers": StateTaken,
    "ISR changes": AlterPartition,
    "ISR answers": AlterPartitionResponse,
    "registrations": Register,
    "registration answers": Registered,
    "heartbeats": Heartbeat,
    "heartbeat answers": HeartbeatReply,
    "acks": ProduceResponse,
}
"""What people call a kind of message when they want to stop it: in scenarios, and in a node's transport."""

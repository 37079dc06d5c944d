"""Which protocol a Kafka broker can be held to, which preset that is, and which variant of our own core models it.

A ZooKeeper broker (2.x) speaks the protocol that ``inter.broker.protocol.version`` says, so one binary holds all rules by which
Kafka ever truncated. A KRaft broker's protocol is the metadata version its cluster was made with, here always the binary's own.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tidemark.harness.machines.errors import ImageError
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nodes.core.variant import PRESETS, Variant, VariantError, parse_variant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.harness.machines.kafka_build import KafkaBuild

Number = tuple[int, ...]

OLDEST_WITH_ZOOKEEPER: Number = (2, 4)
"""Since then any operator can reassign, and elect an unclean leader, through Kafka's protocol (KIP-455, KIP-460)."""
OLDEST_WITH_KRAFT: Number = (3, 3)
"""KRaft is for production since then (KIP-833)."""
OLDEST_WITH_LOG_DIRECTORIES_IN_KRAFT: Number = (3, 7)
OLDEST_WITH_CONTROLLERS_ADDRESS: Number = (3, 9)
OLDEST_WITH_DYNAMIC_QUORUM: Number = (3, 9)
OLDEST_WITH_CONSUMER_GROUP_HEARTBEATS: Number = (4, 0)
OLDEST_WITH_SHARE_GROUPS: Number = (4, 1)
"""Since then there is the first version of their requests that is still spoken; switched off at first (KIP-932)."""
SHARE_GROUPS_ARE_ON: Number = (4, 2)

PROTOCOLS = (
    "0.10.0", "0.10.1", "0.10.2", "0.11.0", "1.0", "1.1", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8",
)  # fmt: skip
"""What ``inter.broker.protocol.version`` can be, as far as the binary is new enough. Kafka takes further
names of the same protocols."""

_TEXT = re.compile(r"kafka:(\d+(?:\.\d+)*)(?:@(\d+(?:\.\d+)*))?")
UPGRADE = re.compile(r"kafka:(\d+(?:\.\d+)*?)\.\.(\d+(?:\.\d+)*)")
_BUILT = re.compile(r"kafka:(?:(\d+(?:\.\d+)*)\+)?([^+@]*/.*?)(?:@(\d+(?:\.\d+)*))?")
"""A path has a slash in it, and nothing but its first folder can be taken for a version."""
_CONTROLLERS = re.compile(r"(.*)@(\d+)-controllers?")
QUORUM = 3
"""So many controllers a quorum has that survives the loss of one."""
_FULL = 3
"""Numbers of a version that can be fetched, such as 2.8.2."""


class _Era(NamedTuple):
    """The protocols from ``since`` on behave as ``model`` says, in the newest binary of their line."""

    since: Number
    preset: str
    model: str


_BINARY = "+bounce-detection+fresh-answers+partition-failure+replace-reassignment+elect-when-allowed+KAFKA-9672"
"""KIP-380 is in every binary from 2.2 on: the controller tells incarnations apart by their registration's zxid, whatever the
protocol. That requests carry broker epochs needs protocol 2.2, and only matters to a request older than a restart. So are the fixes
of KAFKA-7786 (2.1.1) and KIP-461 (2.3). Since 2.4 a reassignment can take another one's place (KIP-455), and until 3.0 a leader
whose ISR names a removed broker takes nobody out of it (KAFKA-9672). Since 2.1 unclean elections that are allowed are held at once
(KAFKA-6835)."""
_BEFORE_39 = "+no-heed-unclean"
"""KRaft's controllers before 3.9 do not heed whether a topic may have unclean elections (KAFKA-12670)."""
_OLD_KRAFT = f"+metadata-log+no-whole-target+refuse-strangers+no-elect-when-allowed{_BEFORE_39}"
"""What KRaft's binaries before 3.7 have beside their protocol: a reassignment that ends when all that it adds are in sync
(KAFKA-15665, until 3.8), and leaders that refuse a fetch of a broker that is no replica (KAFKA-13837, since 3.3)."""

_ERAS = (
    _Era((0, 10), "kafka-0.10", f"kafka-2.0+truncation=hw{_BINARY}"),
    _Era((0, 11), "kafka-0.11", f"kafka-2.0+truncation=kip101{_BINARY}"),
    _Era((2, 0), "kafka-2.0", f"kafka-2.0{_BINARY}"),
    _Era((2, 1), "kafka-2.1", f"kafka-2.1{_BINARY}"),
    _Era((2, 7), "kafka-2.7", "kafka-2.7+KAFKA-14704+KAFKA-9672+KAFKA-13091"),
    _Era((3, 3), "kafka-3.7", f"kafka-2.7{_OLD_KRAFT}"),
    _Era((3, 5), "kafka-3.7", f"kafka-2.7+broker-epochs{_OLD_KRAFT}"),
    _Era((3, 6), "kafka-3.7", f"kafka-2.7+broker-epochs{_OLD_KRAFT}+no-shrink-raises-epoch"),
    _Era((3, 7), "kafka-3.7", f"kafka-3.7{_BEFORE_39}"),
    _Era((3, 8), "kafka-3.7", f"kafka-3.7+whole-target{_BEFORE_39}"),
    _Era((3, 9), "kafka-3.7", "kafka-3.7+whole-target"),
    _Era((4, 1), "kafka-4.0", "kafka-4.0"),
    _Era((4, 3), "kafka-4.0", "kafka-4.0+no-whole-target"),
)
"""What depends on the protocol and what on the binary (2.4 or newer):

* How a follower truncates: protocol. 0.11 asks with OffsetForLeaderEpoch v0, which is answered without an epoch (KIP-101); 2.0
  with v1 (KIP-279); 2.7 lets the fetch do it. A log whose messages have no epochs (0.10) is cut to the high watermark.
* KIP-320's fences: protocol 2.1, whose fetches (v9 and later) and epoch requests (v2) carry the leader epoch.
* The new leader assigns its epoch at once (KAFKA-7415), followers restart at every epoch (KAFKA-7164), and no follower stops its
  broker because its log is longer than its leader's (KAFKA-7414): binary. So the models of 0.10 and 0.11 are built on that of 2.0.
* The leader writes the ISR itself (KIP-497), and an ISR that the controller shrinks raises the leader epoch (KAFKA-15021): protocol
  before 2.7, and before 3.6.
* A leader looks at its high watermark when the controller has shrunk its ISR (KAFKA-13091): binary, 3.1, so not 2.8.2's.
* Broker epochs in AlterPartition and fetches (KIP-903): protocol 3.5. No HW advance under min ISR (KAFKA-15583): binary, 3.7.
* A reassignment ends without those of its target that were there before and are not in sync (KAFKA-19975; seen on 4.3.1, not on
  4.1.1), unless the target is smaller, which the model does not ask.
* Eligible leader replicas (KIP-966): on in a cluster that is made with 4.1.
"""

_PRESET_PROTOCOL = {
    "kafka-0.10": "0.10.2",
    "kafka-0.11": "0.11.0",
    "kafka-2.0": "2.0",
    "kafka-2.1": "2.1",
    "kafka-2.7": "2.8",
}
_KRAFT_PRESETS: dict[str, tuple[Number, Number, str]] = {
    "kafka-3.7": ((3, 7), (4, 1), "kafka:3.9.1"),
    "kafka-4.0": ((4, 1), (1 << 30,), "kafka:4.1.1"),
}
"""Preset → the first version it stands for, the first one it does not, and what to use."""


@dataclass(frozen=True, slots=True)
class KafkaVersion:
    """A Kafka binary, and the protocol version it is held to.

    Attributes:
        version: in full, such as ``2.8.2``.
        protocol: such as ``1.1``; None for the binary's own.
        build: somebody's own, if it is not the release.
        later: what a node runs from its second start on, as in a rolling upgrade; None: the same.
        controllers: of KRaft's quorum; more than one: node 0 and the first brokers.
    """

    version: str
    protocol: str | None = None
    build: KafkaBuild | None = None
    later: str | None = None
    controllers: int = 1

    def __str__(self) -> str:
        """What ``--system`` calls it; of a build it says what it is, and not where it lies."""
        build = f"+{self.build.digest}" if self.build else ""
        later = f"..{self.later}" if self.later else ""
        quorum = f"@{self.controllers}-controllers" if self.controllers > 1 else ""
        return f"kafka:{self.version}{later}{build}" + (f"@{self.protocol}" if self.protocol else "") + quorum

    def at_start(self, number: int) -> KafkaVersion:
        """What a node runs when it starts for the first (1), the second … time."""
        return replace(self, version=self.later, later=None) if self.later and number > 1 else self

    @property
    def uses_zookeeper(self) -> bool:
        """Whether the cluster is kept in ZooKeeper; else by KRaft."""
        return _number(self.version) < OLDEST_WITH_KRAFT

    @property
    def tells_controllers_address(self) -> bool:
        """Whether KRaft's controllers tell brokers where to find them, and can be told what to tell (KIP-853)."""
        return _number(self.version) >= OLDEST_WITH_CONTROLLERS_ADDRESS

    @property
    def has_log_directories_in_kraft(self) -> bool:
        """Whether the controller knows in which log directory a replica is (KIP-858)."""
        return _number(self.version) >= OLDEST_WITH_LOG_DIRECTORIES_IN_KRAFT

    @property
    def has_dynamic_quorum(self) -> bool:
        """Whether it has several controllers that can be other ones while it runs (KIP-853)."""
        return self.controllers > 1 and _number(self.version) >= OLDEST_WITH_DYNAMIC_QUORUM

    @property
    def has_consumer_group_heartbeats(self) -> bool:
        """Whether members of consumer groups are given their partitions by the coordinator (KIP-848)."""
        return _number(self.version) >= OLDEST_WITH_CONSUMER_GROUP_HEARTBEATS

    @property
    def has_share_groups(self) -> bool:
        """Whether brokers have share groups (KIP-932)."""
        return _number(self.version) >= OLDEST_WITH_SHARE_GROUPS

    @property
    def switches_on_share_groups(self) -> Mapping[str, int]:
        """Features that must be switched on for that, and to which level."""
        return {} if _number(self.version) >= SHARE_GROUPS_ARE_ON else {"share.version": 1}

    @property
    def own_protocol(self) -> str:
        """The protocol of a binary that is not told another one."""
        return ".".join(self.version.split(".")[:2])


def parse_system(text: str) -> KafkaVersion:
    """The broker that a person typed: ``kafka:VERSION``, ``kafka:PATH`` or ``kafka:VERSION+PATH``, and ``@PROTOCOL`` behind any; or
    ``kafka:VERSION..VERSION``, an upgrade. Behind all of them ``@3-controllers``.

    Raises:
        SystemRefusalError: no such broker can be run.
    """
    quorum = _CONTROLLERS.fullmatch(text.strip())
    return _one(text) if quorum is None else _with_quorum(_one(quorum[1]), int(quorum[2]))


def _with_quorum(kafka: KafkaVersion, controllers: int) -> KafkaVersion:
    if kafka.uses_zookeeper:
        raise SystemRefusalError(
            f"Kafka {kafka.version} keeps its cluster in ZooKeeper, so it has no quorum of controllers: use "
            f"kafka:4.3.1@{QUORUM}-controllers"
        )
    if controllers not in {1, QUORUM}:
        raise SystemRefusalError(f"a quorum of {controllers} controllers is not run: use @{QUORUM}-controllers")
    return replace(kafka, controllers=controllers)


def _one(text: str) -> KafkaVersion:
    match = _TEXT.fullmatch(text.strip())
    if match is not None:
        return _checked(KafkaVersion(match[1], match[2]))
    match = UPGRADE.fullmatch(text.strip())
    if match is not None:
        return _upgrade(match[1], match[2])
    match = _BUILT.fullmatch(text.strip())
    if match is None:
        raise SystemRefusalError(
            f"{text!r} names no Kafka: use kafka:VERSION such as kafka:2.8.2, kafka:VERSION@PROTOCOL such as kafka:2.8.2@1.1, "
            "kafka:VERSION..VERSION for an upgrade such as kafka:3.9.2..4.3.1, or a build of your own, kafka:PATH such as "
            "kafka:./kafka or kafka:VERSION+PATH such as kafka:4.3.1+./classes; @3-controllers behind it for a quorum"
        )
    return _checked(_built(match[1], Path(match[2]).expanduser(), match[3]))


def _upgrade(version: str, later: str) -> KafkaVersion:
    older, newer = _checked(KafkaVersion(version)), _checked(KafkaVersion(later))
    if older.uses_zookeeper:
        raise SystemRefusalError(
            f"Kafka {version} keeps its cluster in ZooKeeper, which only a migration takes to KRaft: begin an upgrade with 3.3 or "
            "newer"
        )
    if _number(version) >= _number(later):
        raise SystemRefusalError(f"Kafka {later} is not newer than {version}: an upgrade is kafka:OLDER..NEWER")
    return replace(older, later=newer.version)


def _built(release: str | None, path: Path, protocol: str | None) -> KafkaVersion:
    from tidemark.harness.machines.kafka_build import build_in_front, whole_build

    if release is not None:
        _checked(KafkaVersion(release))
    try:
        build = whole_build(path) if release is None else build_in_front(release, path)
    except ImageError as error:
        raise SystemRefusalError(str(error)) from None
    return KafkaVersion(build.number, protocol, build)


def _checked(kafka: KafkaVersion) -> KafkaVersion:
    """The same, unless it cannot be run.

    Raises:
        SystemRefusalError: it cannot.
    """
    version, protocol = kafka.version, kafka.protocol
    number = _number(version)
    if len(number) != _FULL:
        raise SystemRefusalError(f"{version} is not a whole version of Kafka: use three numbers, such as kafka:2.8.2")
    if number < OLDEST_WITH_ZOOKEEPER:
        raise SystemRefusalError(
            f"Kafka {version} is too old for an operator's elections and reassignments over its protocol: use kafka:2.8.2"
            f"{_suggested_protocol(number)}"
        )
    if (3, 0) <= number < OLDEST_WITH_KRAFT:
        raise SystemRefusalError(
            f"Kafka {version} is not run, because its KRaft was not ready for production: use kafka:2.8.2 or kafka:3.9.1"
        )
    if protocol is not None:
        _check_protocol(kafka, protocol)
    return kafka


def protocols_of(kafka: KafkaVersion) -> tuple[str, ...]:
    """The protocol versions this binary can be held to, the oldest first."""
    if not kafka.uses_zookeeper:
        return (kafka.own_protocol,)
    return tuple(protocol for protocol in PROTOCOLS if _number(protocol) <= _number(kafka.own_protocol))


def protocol_for(kafka: KafkaVersion, preset: str) -> str:
    """The protocol version under which this binary is what a preset stands for, or a variant that is its own model; or what a build
    of its is meant to be.

    Raises:
        SystemRefusalError: it cannot be that under any, or was asked for under another one.
    """
    if preset not in PRESETS:
        protocol = _protocol_of_model(kafka, preset)
        if protocol is None and is_meant(kafka, preset):
            return kafka.protocol or kafka.own_protocol
        if protocol is None:
            raise SystemRefusalError(_no_such_preset(kafka, preset))
        return protocol
    if preset in _KRAFT_PRESETS:
        protocol = _kraft_protocol(kafka, preset)
    elif not kafka.uses_zookeeper:
        raise SystemRefusalError(
            f"Kafka {kafka.version} cannot be held to the protocol of {preset}: use --system kafka:2.8.2"
        )
    else:
        protocol = _zookeeper_protocol(kafka, preset)
    if kafka.protocol is None:
        return protocol
    if shown_preset(kafka) != preset:
        raise SystemRefusalError(
            f"{kafka} is {shown_preset(kafka)} and not {preset}: leave out @{kafka.protocol}, or ask for {shown_preset(kafka)}"
        )
    return kafka.protocol


def shown_preset(kafka: KafkaVersion) -> str:
    """The preset that this binary, under the protocol it is held to, comes nearest to."""
    return _era(kafka.protocol or kafka.own_protocol).preset


def model_variant(version: str, protocol: str | None) -> Variant:
    """The variant of our own core that models a binary under a protocol, as exactly as a variant can.

    Args:
        version: of the binary, in full.
        protocol: such as ``1.1``; None for the binary's own.
    """
    return parse_variant(_era(protocol or KafkaVersion(version).own_protocol).model)


def model_of(kafka: KafkaVersion, name: str) -> Variant:
    """The model of a binary under the protocol that a preset stands for, with the modifiers that a build of it is meant to have.

    Raises:
        SystemRefusalError: it cannot be that.
    """
    model = model_variant(kafka.version, protocol_for(kafka, name))
    return parse_variant(f"{model.name}+{name.partition('+')[2]}") if is_meant(kafka, name) else model


def is_meant(kafka: KafkaVersion, name: str) -> bool:
    """Whether a variant says what somebody's build does otherwise than the release that it was made from."""
    preset, _, modifiers = name.partition("+")
    if kafka.build is None or not modifiers or preset != shown_preset(kafka):
        return False
    with suppress(VariantError):
        parse_variant(f"{model_variant(kafka.version, kafka.protocol).name}+{modifiers}")
        return _protocol_of_model(kafka, name) is None
    return False


def _era(protocol: str) -> _Era:
    number = _number(protocol)
    return max((era for era in _ERAS if era.since <= number), key=lambda era: era.since)


def _protocol_of_model(kafka: KafkaVersion, name: str) -> str | None:
    """The newest protocol under which a variant does in everything what this binary does; None if there is none."""
    try:
        wanted = parse_variant(name)
    except VariantError:
        return None
    protocols = (kafka.protocol,) if kafka.protocol else reversed(protocols_of(kafka))
    return next(
        (one for one in protocols if replace(model_variant(kafka.version, one), name=wanted.name) == wanted), None
    )


def _check_protocol(kafka: KafkaVersion, protocol: str) -> None:
    known = protocols_of(kafka)
    if protocol in known:
        return
    if not kafka.uses_zookeeper:
        raise SystemRefusalError(
            f"Kafka {kafka.version} runs under its own metadata version only: use kafka:{kafka.version}, or kafka:2.8.2@PROTOCOL"
        )
    raise SystemRefusalError(f"Kafka {kafka.version} has no protocol version {protocol}: use one of {', '.join(known)}")


def _kraft_protocol(kafka: KafkaVersion, preset: str) -> str:
    first, past, use = _KRAFT_PRESETS[preset]
    number = _number(kafka.version)
    if number < first:
        raise SystemRefusalError(f"{preset} needs Kafka {_dotted(first)} or newer: use --system {use}")
    if number >= past:
        raise SystemRefusalError(
            f"{preset} keeps no eligible leader replicas, and Kafka {kafka.version} does: use --system {use}"
        )
    return kafka.own_protocol


def _zookeeper_protocol(kafka: KafkaVersion, preset: str) -> str:
    wanted = _PRESET_PROTOCOL[preset]
    if wanted in protocols_of(kafka):
        return wanted
    if shown_preset(KafkaVersion(kafka.version)) == preset:
        return kafka.own_protocol
    raise SystemRefusalError(f"{preset} needs Kafka {preset.removeprefix('kafka-')} or newer: use --system kafka:2.8.2")


def _no_such_preset(kafka: KafkaVersion, preset: str) -> str:
    own = model_variant(kafka.version, kafka.protocol).name
    known = ", ".join(dict.fromkeys((*PRESETS, own)))
    if preset.split("+", maxsplit=1)[0] in PRESETS:
        return (
            f"{preset} modifies the protocol, which cannot be done to {kafka}: use one of {known}, or --system tidemark"
        )
    return f"{kafka} knows no variant {preset!r}: use one of {known}"


def _suggested_protocol(number: Number) -> str:
    spoken = [protocol for protocol in PROTOCOLS if _number(protocol)[:2] <= number[:2]]
    return f"@{spoken[-1]}" if spoken else ""


def _number(version: str) -> Number:
    return tuple(int(part) for part in version.split("."))


def _dotted(number: Number) -> str:
    return ".".join(str(part) for part in number)

"""A plan: everything about a run except the variant, as readable JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tidemark.nemesis.fault import Fault, FaultError
from tidemark.nemesis.object_workload import ObjectWorkload, ObjectWorkloadError
from tidemark.nemesis.send import Send, SendError
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import LONGEST_US, ClusterSpecError


class PlanError(ValueError):
    """A plan that cannot be used; the message says where and why."""


TRANSACTIONS = "transactions"
"""The workload that sends records to logs in Kafka's transactions (KIP-98)."""
IN_A_TRANSACTION = 4
SHARE_GROUP = "share-group"
"""The workload in which, beside all that happens to logs, the members of a share group take records (KIP-932)."""
MEMBERS = 4
ON_LOGS: dict[str, dict[str, Any]] = {
    TRANSACTIONS: {"transactional": IN_A_TRANSACTION},
    SHARE_GROUP: {"share_members": MEMBERS},
}
"""The workloads on logs that are more than sends and polls, and what makes them."""
MOST_CLIENTS = 1_000
MOST_IN_A_BATCH = 100_000


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """How busy the clients are.

    Attributes:
        producers, consumers: number of client processes.
        interval_us: mean pause between two sends of one producer.
        poll_us: mean pause between two polls of one consumer.
        batch: the most records a batch holds.
        burst: so many sends of a producer follow each other at once; then it rests as long as it would have between them.
        patience_us: how long a producer waits for an answer; 0: as long as the brokers do (``produce_timeout_us``).
        again_us: after so long without an answer, or after one that proves nothing, a producer sends its batch again, which leaders
            know (idempotence, KIP-98); 0: never. Real clients do so by their own time-outs.
        sends: exactly what is sent, if that is not left to chance; ``interval_us`` and ``batch`` mean nothing then.
        transactional: so many sends one of Kafka's transactions has at most; 0: producers send without transactions.
        share_members: so many members has a share group that takes the records, beside the consumers; 0: there is none.
        object: what clients work on, if it is no log: all of them, producers and consumers, do its operations then.
    """

    producers: int = 2
    consumers: int = 1
    interval_us: int = 80_000
    poll_us: int = 250_000
    batch: int = 3
    burst: int = 1
    patience_us: int = 0
    again_us: int = 0
    transactional: int = 0
    share_members: int = 0
    sends: tuple[Send, ...] | None = None
    object: ObjectWorkload | None = None

    def __post_init__(self) -> None:
        """Refuse a workload without producers or with senseless pauses."""
        if self.burst < 1 or not all(0 <= waits <= LONGEST_US for waits in (self.patience_us, self.again_us)):
            raise PlanError(
                f"workload: burst must be at least 1, and patience_us and again_us between 0 and a day ({LONGEST_US})"
            )
        if not 0 <= self.transactional <= MOST_IN_A_BATCH:
            raise PlanError(f"workload: transactional must be between 0 and {MOST_IN_A_BATCH}")
        if self.share_members and self.transactional:
            raise PlanError("workload: transactional and share_members cannot be had together")
        if not 0 <= self.share_members <= MOST_CLIENTS:
            raise PlanError(f"workload: share_members must be between 0 and {MOST_CLIENTS}")
        if max(self.producers, self.consumers) > MOST_CLIENTS or self.batch > MOST_IN_A_BATCH:
            raise PlanError(
                f"workload: at most {MOST_CLIENTS} producers and consumers, and {MOST_IN_A_BATCH} records in a batch"
            )
        if self.producers < 1 or self.consumers < 0 or self.batch < 1 or min(self.interval_us, self.poll_us) < 1:
            raise PlanError("workload: needs at least one producer, and positive intervals and batch size")
        for i, send in enumerate(self.sends or ()):
            if send.producer > self.producers or send.records > MOST_IN_A_BATCH:
                raise PlanError(
                    f"workload: sends[{i}] needs one of {self.producers} producers, and at most {MOST_IN_A_BATCH} records"
                )

    def scaled(self, factor: float) -> WorkloadSpec:
        """The same with every time multiplied."""
        sends = self.sends and tuple(replace(send, at_us=int(send.at_us * factor)) for send in self.sends)
        names = ("interval_us", "poll_us", "patience_us", "again_us")
        pauses: dict[str, Any] = {name: int(getattr(self, name) * factor) for name in names}
        return replace(self, **pauses, sends=sends)

    def to_json(self) -> dict[str, Any]:
        """Plain values; bursts, patience, repeats, transactions, members, sends and object are there if they are not as usual."""
        told = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("sends", "object")}
        unusual = (("burst", 1), ("patience_us", 0), ("again_us", 0), ("transactional", 0), ("share_members", 0))
        for name, usual in unusual:
            if told[name] == usual:
                del told[name]
        if self.object is not None:
            told["object"] = self.object.to_json()
        return told if self.sends is None else {**told, "sends": [send.to_json() for send in self.sends]}


@dataclass(frozen=True, slots=True)
class Plan:
    """One run's plan; paired comparisons give the same plan to every variant.

    Attributes:
        index, seed: where it comes from (``generate_plan(seed, index)``).
        noise_seed: names the noise streams (latencies, torn tails, think times).
        profile: which set of faults it was drawn from.
        faults_end_us: at this time everything is healed and convergence is demanded.
        fixed_delay_us: in the simulator every message takes exactly this long, and clients rest evenly, instead of by noise.
    """

    index: int
    seed: int
    noise_seed: int
    profile: str
    cluster: ClusterSpec
    workload: WorkloadSpec
    faults: tuple[Fault, ...]
    faults_end_us: int
    fixed_delay_us: int | None = None

    def __post_init__(self) -> None:
        """Refuse a run that ends before it begins, and faults at brokers that do not exist."""
        if self.faults_end_us < 0:
            raise PlanError(f"faults_end_us: must not be negative, and is {self.faults_end_us}")
        if self.faults_end_us > LONGEST_US:
            raise PlanError(f"faults_end_us: must be within a day ({LONGEST_US})")
        for name in ("transactional", "share_members"):
            if getattr(self.workload, name) and self.cluster.acks != "all":
                raise PlanError(f'workload: {name} needs acks "all" of the cluster, and they are "{self.cluster.acks}"')
        if self.fixed_delay_us is not None and not 1 <= self.fixed_delay_us <= LONGEST_US:
            raise PlanError(f"fixed_delay_us: must be positive and within a day, and is {self.fixed_delay_us}")
        for i, fault in enumerate(self.faults):
            named = int(fault.target[1:]) if fault.target[1:].isdecimal() else 1
            if not 1 <= named <= self.cluster.brokers:
                raise PlanError(
                    f"faults[{i}]: there is no broker {fault.target}; the cluster has b1 to b{self.cluster.brokers}"
                )

    @property
    def beside_sends(self) -> str:
        """What its clients do, if it is more than to send records to logs and poll them: an object's kind, or one of `ON_LOGS`."""
        if self.workload.object is not None:
            return self.workload.object.kind
        return next((kind for kind, made in ON_LOGS.items() if any(getattr(self.workload, name) for name in made)), "")

    def with_workload(self, kind: str) -> Plan:
        """The same plan, whose clients work on an object, with a mix that goes by the plan's noise; or on logs, in `TRANSACTIONS`
        or with a `SHARE_GROUP`, which need ``acks=all``.
        """
        if kind in ON_LOGS:
            work = replace(self.workload, **ON_LOGS[kind])
            return replace(self, workload=work, cluster=replace(self.cluster, acks="all"))
        return replace(self, workload=replace(self.workload, object=ObjectWorkload.drawn(kind, self.noise_seed)))

    def scaled(self, factor: float) -> Plan:
        """The same plan with every time multiplied: settings, workload, faults and their amounts where those are times.

        For worlds that are slower than the simulator, whose times are compressed about tenfold.
        """
        if factor == 1:
            return self

        def times(us: int) -> int:
            return int(us * factor)

        faults = [
            replace(
                fault,
                at_us=times(fault.at_us),
                lasts_us=times(fault.lasts_us),
                amount=times(fault.amount) if fault.amount_is_time else fault.amount,
            )
            for fault in self.faults
        ]
        delay = self.fixed_delay_us
        return replace(
            self,
            cluster=replace(self.cluster, settings=self.cluster.settings.scaled(factor)),
            workload=self.workload.scaled(factor),
            faults=tuple(faults),
            faults_end_us=times(self.faults_end_us),
            fixed_delay_us=None if delay is None else max(times(delay), 1),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        fixed = {} if self.fixed_delay_us is None else {"fixed_delay_us": self.fixed_delay_us}
        return {
            "index": self.index,
            "seed": self.seed,
            "noise_seed": self.noise_seed,
            "profile": self.profile,
            "faults_end_us": self.faults_end_us,
            **fixed,
            "cluster": self.cluster.to_json(),
            "workload": self.workload.to_json(),
            "faults": [fault.to_json() for fault in self.faults],
        }

    def to_text(self) -> str:
        """The plan file: JSON, with each fault on a line of its own."""
        data = self.to_json()
        faults = data.pop("faults")
        head = json.dumps(data, indent=1).removesuffix("\n}")
        lines = ",\n  ".join(json.dumps(fault) for fault in faults)
        return f'{head},\n "faults": [\n  {lines}\n ]\n}}\n'

    @staticmethod
    def from_json(data: Any) -> Plan:  # noqa: ANN401 - anything a file may hold
        """The reverse of :meth:`to_json`.

        Raises:
            PlanError: with the place, such as ``faults[2]``.
        """
        if not isinstance(data, dict):
            raise PlanError("a plan is a JSON object")
        known = [f.name for f in fields(Plan)]
        for name in data:
            if name not in known:
                raise PlanError(f"unknown entry {name!r}")
        if not isinstance(data.get("faults"), list):
            raise PlanError("faults: must be a list")
        faults = []
        for i, entry in enumerate(data["faults"]):
            try:
                faults.append(Fault.from_json(entry))
            except FaultError as error:
                raise PlanError(f"faults[{i}]: {error}") from None
        numbers = {}
        for name, default in (("index", 0), ("seed", 0), ("noise_seed", 0), ("faults_end_us", 8_000_000)):
            numbers[name] = data.get(name, default)
            if type(numbers[name]) is not int:
                raise PlanError(f"{name}: must be an integer, not {numbers[name]!r}")
        fixed = data.get("fixed_delay_us")
        if fixed is not None and type(fixed) is not int:
            raise PlanError(f"fixed_delay_us: must be an integer, not {fixed!r}")
        try:
            cluster = ClusterSpec.from_json(_object(data, "cluster"))
        except ClusterSpecError as error:
            raise PlanError(str(error)) from None
        return Plan(
            profile=str(data.get("profile", "by hand")),
            cluster=cluster,
            workload=_workload(_object(data, "workload")),
            faults=tuple(faults),
            fixed_delay_us=fixed,
            **numbers,
        )


def _object(data: dict[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise PlanError(f"{name}: must be an object, not {found!r}")
    return found


def _workload(data: dict[str, Any]) -> WorkloadSpec:
    known = [f.name for f in fields(WorkloadSpec)]
    for name, value in data.items():
        if name not in known:
            raise PlanError(f"workload: unknown entry {name!r}")
        if name not in ("sends", "object") and type(value) is not int:
            raise PlanError(f"workload: {name} must be int, not {value!r}")
    sends, work = data.get("sends"), data.get("object")
    try:
        chosen = None if work is None else ObjectWorkload.from_json(work)
    except ObjectWorkloadError as error:
        raise PlanError(f"workload: object: {error}") from None
    return WorkloadSpec(**{**data, "sends": None if sends is None else _sends(sends), "object": chosen})


def _sends(data: object) -> tuple[Send, ...]:
    if not isinstance(data, list):
        raise PlanError("workload: sends must be a list")
    sends = []
    for i, entry in enumerate(data):
        try:
            sends.append(Send.from_json(entry))
        except SendError as error:
            raise PlanError(f"workload: sends[{i}] {error}") from None
    return tuple(sends)


def read_plan(path: Path) -> Plan:
    """Read a plan file.

    Raises:
        PlanError: one sentence with file, line and reason.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8 text'})") from None
    try:
        plan = Plan.from_json(json.loads(text, object_pairs_hook=_each_once))
        _refuse_in_vain(plan)
        return plan
    except json.JSONDecodeError as error:
        raise PlanError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise PlanError(f"{path}: arrays or objects are nested too deep") from None
    except PlanError as error:
        raise PlanError(f"{path}, line {_line_of(text, str(error))}: {error}") from None
    except ValueError as error:
        raise PlanError(f"{path}: not JSON ({error})") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, of which JSON itself would silently keep the last of two entries of one name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise PlanError(f"the entry {twice!r} is given twice")
    return found


def _refuse_in_vain(plan: Plan) -> None:
    """Refuse what a person who wrote a file cannot have meant."""
    for i, fault in enumerate(plan.faults):
        if fault.after is None and fault.at_us > plan.faults_end_us:
            raise PlanError(
                f"faults[{i}]: strikes at {fault.at_us}, after faults_end_us, {plan.faults_end_us}, when everything is healed"
            )
        if fault.partition >= plan.cluster.partitions:
            raise PlanError(
                f"faults[{i}]: there is no partition {fault.partition}; they are 0 to {plan.cluster.partitions - 1}"
            )


def _line_of(text: str, message: str) -> int:
    """The line a complaint is about: that of the nth fault, or of the entry it names first."""
    place = message.split(":", maxsplit=1)[0]
    if place.startswith("faults["):
        decoder = json.JSONDecoder()
        at = text.index("[", text.index('"faults"')) + 1
        for left in range(int(place[7:-1]), -1, -1):
            while text[at] in " \t\r\n,":
                at += 1
            if left:
                _, at = decoder.raw_decode(text, at)
    else:
        words = [w for w in message.replace(".", " ").replace(":", " ").replace("'", " ").split() if f'"{w}"' in text]
        at = text.find(f'"{words[-1]}"') if words else 0
    return text.count("\n", 0, max(at, 0)) + 1

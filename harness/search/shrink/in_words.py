"""A plan in words: what its clients send and what strikes, in order of time."""

from __future__ import annotations

from tidemark.harness.search.shrink.size import records_of
from tidemark.nemesis import Fault, Plan, Send

MOST_SENDS = 10
"""So many are told one by one."""


def shape(plan: Plan) -> str:
    """How large a plan is, in a few words.

    >>> from tidemark.nemesis import Plan, WorkloadSpec
    >>> from tidemark.nodes.core.cluster import ClusterSpec
    >>> shape(Plan(0, 0, 0, "by hand", ClusterSpec(), WorkloadSpec(sends=()), (), 1))
    '0 faults, 0 records, 3 brokers'
    """
    drawn = plan.workload.sends is None
    records = "records as drawn" if drawn else count(records_of(plan), "record")
    cluster = plan.cluster
    partitions = f", {cluster.partitions} partitions" if cluster.partitions > 1 else ""
    return f"{count(len(plan.faults), 'fault')}, {records}, {count(cluster.brokers, 'broker')}{partitions}"


def count(number: int, what: str) -> str:
    """``1 fault``, ``2 faults``."""
    return f"{number} {what}" + ("" if number == 1 else "s")


def lines_of(plan: Plan) -> list[str]:
    """A line for each send and fault, with its time, and one for the end of the faults; of very many sends only the last."""
    sends = plan.workload.sends or ()
    told = [(send.at_us, _send(send)) for send in sends[-MOST_SENDS:]]
    if len(sends) > MOST_SENDS:
        told.insert(0, (sends[0].at_us, f"{count(len(sends) - MOST_SENDS, 'send')} from here on, not told one by one"))
    told += [(fault.at_us, _fault(fault)) for fault in plan.faults]
    told.append((plan.faults_end_us, "everything is healed"))
    return [f"{_time(time)}  {words}" for time, words in sorted(told, key=lambda one: one[0])]


def conditions(plan: Plan) -> str:
    """What stands beside it: the cluster, and how messages travel."""
    cluster, settings = plan.cluster, plan.cluster.settings
    noise = (
        f"noise seed {plan.noise_seed}"
        if plan.fixed_delay_us is None
        else f"every message takes {_time(plan.fixed_delay_us)}"
    )
    unclean = ", unclean elections" if settings.unclean_election else ""
    drawn = "" if plan.workload.sends is not None else f", {count(plan.workload.producers, 'producer')} as drawn"
    return (
        f"{count(cluster.brokers, 'broker')}, {count(cluster.replication_factor, 'replica')}, min ISR {settings.min_isr}, "
        f"acks={cluster.acks}{unclean}{drawn}; {noise}"
    )


def _time(us: int) -> str:
    """In seconds, with as many digits as it has, three at least."""
    whole, part = divmod(us, 1_000_000)
    return f"{whole}.{f'{part:06d}'.rstrip('0').ljust(3, '0')} s"


def _send(send: Send) -> str:
    where = "" if send.partition == 0 else f" to t-{send.partition}"
    return f"producer p{send.producer} sends {count(send.records, 'record')}{where}"


def _failover(fault: Fault) -> str:
    """Whom it elects, and who misses that; by its pick (docs/faults.md)."""
    second = "the old leader" if fault.pick % 3 else "another"
    later = f" {_time(fault.amount)} later" if fault.amount else ""
    deaf = {1: "the old leader", 2: "a bystander"}.get(fault.pick // 3 % 3)
    how = f"is deaf to the controller for {_time(fault.lasts_us)}" if fault.lasts_us else "misses it at first"
    words = f"fast-failover: {_target(fault)} is elected, then {second}{later}"
    return words + (f"; {deaf} {how}" if deaf else "")


def _fault(fault: Fault) -> str:
    if fault.kind == "fast-failover":
        return _failover(fault) + _waiting(fault) + _details(fault)
    words = f"{fault.kind} of {_target(fault)}" if fault.row.of_one_broker else fault.kind
    words += _waiting(fault)
    if fault.lasts_us and not fault.row.doing.at_once:
        words += f", for {_time(fault.lasts_us)}"
    if fault.amount:
        words += f", {_time(fault.amount) if fault.amount_is_time else f'amount {fault.amount}'}"
    return words + _details(fault)


def _waiting(fault: Fault) -> str:
    if fault.after is None:
        return ""
    node = f" at b{fault.after.node}" if fault.after.node else ""
    return f", after {fault.after.event} number {fault.after.nth} from then on{node}"


def _details(fault: Fault) -> str:
    details = [f"partition {fault.partition}"] if fault.partition else []
    details += [f"pick {fault.pick}"] if fault.pick else []
    details += ["clients cut off as well"] if fault.clients else []
    return f" ({', '.join(details)})" if details else ""


def _target(fault: Fault) -> str:
    return {
        "leader": "the leader",
        "follower": "a follower",
        "isr-member": "a member of the ISR",
        "any": "a replica",
    }.get(fault.target, fault.target)

"""One run: boot, work under faults, heal, demand convergence, read everything back."""

from __future__ import annotations

import marshal
from array import array
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.checkers.history.history import History
from tidemark.harness.runs.coming_to_rest import converge_us
from tidemark.harness.runs.meta import holds_back, run_meta, times_of
from tidemark.harness.runs.suffering import Suffered, suffer
from tidemark.harness.simulator.at_rest import restored, waiting_for
from tidemark.harness.simulator.network import CLIENTS_FROM
from tidemark.harness.simulator.simulation import Simulation
from tidemark.harness.simulator.workload import AdminClient, Consumer, FinalReader, Producer
from tidemark.nemesis import REAL_ONLY, Injector, PlanError

if TYPE_CHECKING:
    from tidemark.nemesis import Plan
    from tidemark.nodes.families import AnyVariant

AFTER_HEAL_US = 1_000_000
"""Producers go on this long after healing, so that a replica that is stuck has something to be stuck on."""
LOOK_US = 200_000
WATCH_US = 50_000
FINAL_READ_US = 5_000_000


@dataclass(slots=True)
class SimulatedRun:
    """What a simulated run gives.

    Attributes:
        history: see docs/history.md.
        digest: of the history and of the delivery time of every event; equal digests mean equal runs.
        events: number of events delivered.
        virtual_us: how long it took in virtual time.
    """

    history: History
    digest: str
    events: int
    virtual_us: int


def simulate(
    plan: Plan, variant: AnyVariant, contract: str | None = None, world: type[Simulation] = Simulation
) -> SimulatedRun:
    """Run a plan under a variant, in virtual time.

    Args:
        plan: faults, workload and cluster.
        variant: the protocol.
        contract: the promise the history is to be judged by; the variant's own by default.
        world: what is simulated; one that listens, for somebody who wants to know more than the history tells.

    Raises:
        PlanError: the plan has a fault that needs a real machine.
    """
    beyond = sorted({fault.kind for fault in plan.faults} & REAL_ONLY)
    if beyond:
        raise PlanError(f"the simulator cannot do {', '.join(beyond)}: run this plan with --world docker")
    with collector_paused():
        return _run(plan, variant, contract, world)


def _run(plan: Plan, variant: AnyVariant, contract: str | None, world: type[Simulation]) -> SimulatedRun:
    simulation = world(plan.cluster, variant, plan.noise_seed, plan.fixed_delay_us)
    suffered = suffer(plan, simulation.family)
    read = _drive(simulation, plan, suffered)
    history = History(
        meta={
            **run_meta(plan.cluster, variant, contract),
            "times": times_of(plan.cluster.settings),
            "holds_back": holds_back(plan),
            "faults_end_us": plan.faults_end_us,
            "end_us": simulation.now,
            "plan": plan.index,
            "seed": plan.seed,
            "faults": len(plan.faults),
            "read_back": read,
            "hw_checkpoints": sum(node.hw_checkpoints for node in simulation.nodes.values()),
            **suffered.told(),
        },
        ops=simulation.ops,
        nemesis=simulation.nemesis,
        trace=simulation.trace,
    )
    result = SimulatedRun(history, digest_of(simulation), len(simulation.times), simulation.now)
    simulation.dispose()
    return result


def _drive(simulation: Simulation, plan: Plan, suffered: Suffered) -> bool:
    """Carry the run out; returns whether the final reads came to an end."""
    simulation.boot()
    work = plan.workload
    producers = [Producer(simulation, CLIENTS_FROM + i, i, work) for i in range(1, work.producers + 1)]
    consumers = [
        Consumer(simulation, 2 * CLIENTS_FROM + i, f"c{i}", work.poll_us) for i in range(1, work.consumers + 1)
    ]
    admin = AdminClient(simulation, 4 * CLIENTS_FROM) if _deletes(plan) else None
    simulation.ask_to_delete = admin.delete if admin is not None else None
    clients: list[Producer | Consumer] = [*producers, *consumers]
    for client in clients:
        client.begin()
    injector = Injector(simulation, suffered.faults, suffered.left_out)
    injector.arm()
    simulation.run_until(plan.faults_end_us)
    injector.heal_all()
    _work_on(simulation)
    for client in clients:
        client.stopped = True
    _finish_sends(simulation, producers)
    converge(simulation, converge_us(plan.cluster.settings))
    if admin is not None:
        admin.give_up()
    read = read_back(simulation)
    dump_logs(simulation)
    return read


def _deletes(plan: Plan) -> bool:
    return any(fault.kind == "delete-records" for fault in plan.faults)


def _work_on(simulation: Simulation) -> None:
    """Go on with the workload for a while, and note when each partition is whole again."""
    hurt = list(simulation.partitions())
    end = simulation.now + AFTER_HEAL_US
    while simulation.now < end:
        for name in [name for name in hurt if restored(simulation, name)]:
            hurt.remove(name)
            simulation.trace_event(0, "restored", name)
        simulation.run_until(simulation.now + WATCH_US)


def _finish_sends(simulation: Simulation, producers: list[Producer]) -> None:
    """Let every send come to its end: what is acknowledged after the final read could not have been read."""
    while any(producer.is_sending for producer in producers):
        simulation.run_until(simulation.now + LOOK_US)


def converge(simulation: Simulation, bound_us: int) -> None:
    """Run until every partition is at rest, or the bound is over; trace which."""
    deadline = simulation.now + bound_us
    waiting = dict.fromkeys(simulation.partitions(), "")
    while True:
        simulation.run_until(simulation.now + LOOK_US)
        waiting = {name: waiting_for(simulation, name) for name in waiting}
        if not any(waiting.values()) or simulation.now >= deadline:
            break
    for name, why in waiting.items():
        simulation.trace_event(0, "converged", name, not why, why)


def read_back(simulation: Simulation) -> bool:
    """Read every partition from the start, as a consumer; returns whether that came to an end in time."""
    reader = FinalReader(simulation, 3 * CLIENTS_FROM)
    reader.begin()
    deadline = simulation.now + FINAL_READ_US
    while not reader.done and simulation.now < deadline:
        simulation.run_until(simulation.now + LOOK_US)
    reader.stopped = True
    return reader.done


def dump_logs(simulation: Simulation) -> None:
    """Trace every running replica's final state. What a broker has that is no replica (any more) owes nothing."""
    for broker in simulation.brokers():
        machine = simulation.broker(broker)
        if machine is None:
            continue
        for name, replica in machine.replicas.items():
            if broker not in simulation.replicas_of(name):
                continue
            role = "leader" if replica.leading else "follower"
            batches = tuple([(b.base, b.epoch, b.values) for b in replica.log.batches])
            simulation.trace_event(
                broker,
                "final",
                name,
                role,
                replica.leader_epoch,
                replica.log.leo,
                replica.hw,
                replica.cache.entries(),
                batches,
            )


def digest_of(simulation: Simulation) -> str:
    """Of everything observable, and of when every event was delivered.

    ``marshal`` version 2 has neither references nor interning flags: equal values give equal bytes.
    """
    digest = blake2b(digest_size=16)
    digest.update(array("q", simulation.times).tobytes())
    digest.update(marshal.dumps(list(map(tuple, simulation.ops)), 2))
    digest.update(marshal.dumps(simulation.nemesis, 2))
    digest.update(marshal.dumps(simulation.trace, 2))
    return digest.hexdigest()

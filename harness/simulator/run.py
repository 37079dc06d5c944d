"""One run: boot, work under faults, heal, demand convergence, read everything back."""

from __future__ import annotations

import gc
import marshal
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from checkers.history import History
from harness.runs.meta import run_meta
from harness.simulator.at_rest import restored, waiting_for
from harness.simulator.network import CLIENTS_FROM
from harness.simulator.simulation import Simulation
from harness.simulator.workload import Consumer, FinalReader, Producer
from nemesis import LASTING_CONTROLLER_ONLY, REAL_ONLY, Injector, PlanError

if TYPE_CHECKING:
    from nemesis import Plan
    from nodes.core.variant import Variant

AFTER_HEAL_US = 1_000_000
"""Producers go on this long after healing, so that a replica that is stuck has something to be stuck on."""
CONVERGE_US = 15_000_000
"""The bound for coming to rest, ten times the longest time-out in the settings."""
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


def simulate(plan: Plan, variant: Variant, contract: str | None = None) -> SimulatedRun:
    """Run a plan under a variant, in virtual time.

    Args:
        plan: faults, workload and cluster.
        variant: the protocol.
        contract: the promise the history is to be judged by; the variant's own by default.

    Raises:
        PlanError: the plan has a fault that needs a real machine, or a controller that lasts.
    """
    lasting = sorted({fault.kind for fault in plan.faults} & LASTING_CONTROLLER_ONLY)
    if lasting:
        raise PlanError(
            f"the simulator's controller keeps nothing, so it cannot do {', '.join(lasting)}: "
            "run this plan with --world docker --system kafka:VERSION"
        )
    beyond = sorted({fault.kind for fault in plan.faults} & REAL_ONLY)
    if beyond:
        raise PlanError(f"the simulator cannot do {', '.join(beyond)}: run this plan with --world docker")
    collecting = gc.isenabled()
    gc.disable()
    try:
        world = Simulation(plan.cluster, variant, plan.noise_seed)
        _drive(world, plan)
    finally:
        if collecting:
            gc.enable()
    history = History(
        meta={
            **run_meta(plan.cluster, variant, contract),
            "faults_end_us": plan.faults_end_us,
            "end_us": world.now,
            "plan": plan.index,
            "seed": plan.seed,
            "faults": len(plan.faults),
        },
        ops=world.ops,
        nemesis=world.nemesis,
        trace=world.trace,
    )
    result = SimulatedRun(history, digest_of(world), len(world.times), world.now)
    world.dispose()
    return result


def _drive(world: Simulation, plan: Plan) -> None:
    world.boot()
    work = plan.workload
    producers = [Producer(world, CLIENTS_FROM + i, i, work) for i in range(1, work.producers + 1)]
    consumers = [Consumer(world, 2 * CLIENTS_FROM + i, f"c{i}", work.poll_us) for i in range(1, work.consumers + 1)]
    clients: list[Producer | Consumer] = [*producers, *consumers]
    for client in clients:
        client.begin()
    injector = Injector(world, plan.faults)
    injector.arm()
    world.run_until(plan.faults_end_us)
    injector.heal_all()
    _work_on(world)
    for client in clients:
        client.stopped = True
    converge(world)
    read_back(world)
    dump_logs(world)


def _work_on(world: Simulation) -> None:
    """Go on with the workload for a while, and note when each partition is whole again."""
    hurt = list(world.partitions())
    end = world.now + AFTER_HEAL_US
    while world.now < end:
        for name in [name for name in hurt if restored(world, name)]:
            hurt.remove(name)
            world.trace_event(0, "restored", name)
        world.run_until(world.now + WATCH_US)


def converge(world: Simulation) -> None:
    """Run until every partition is at rest, or the bound is over; trace which."""
    deadline = world.now + CONVERGE_US
    waiting = dict.fromkeys(world.partitions(), "")
    while True:
        world.run_until(world.now + LOOK_US)
        waiting = {name: waiting_for(world, name) for name in waiting}
        if not any(waiting.values()) or world.now >= deadline:
            break
    for name, why in waiting.items():
        world.trace_event(0, "converged", name, not why, why)


def read_back(world: Simulation) -> None:
    """Read every partition from the start, as a consumer."""
    reader = FinalReader(world, 3 * CLIENTS_FROM)
    reader.begin()
    deadline = world.now + FINAL_READ_US
    while not reader.done and world.now < deadline:
        world.run_until(world.now + LOOK_US)
    reader.stopped = True


def dump_logs(world: Simulation) -> None:
    """Trace every running replica's final state."""
    for broker in world.brokers():
        machine = world.broker(broker)
        if machine is None:
            continue
        for name, replica in machine.replicas.items():
            role = "leader" if replica.leading else "follower"
            batches = tuple((b.base, b.epoch, b.values) for b in replica.log.batches)
            world.trace_event(
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


def digest_of(world: Simulation) -> str:
    """Of everything observable, and of when every event was delivered.

    ``marshal`` version 2 has neither references nor interning flags: equal values give equal bytes.
    """
    digest = blake2b(digest_size=16)
    digest.update(world.times.tobytes())
    digest.update(marshal.dumps([tuple(op) for op in world.ops], 2))
    digest.update(marshal.dumps(world.nemesis, 2))
    digest.update(marshal.dumps(world.trace, 2))
    return digest.hexdigest()

"""One run: boot, work under faults, heal, demand convergence, read everything back."""

from __future__ import annotations

import marshal
from array import array
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.checkers.history.history import History
from tidemark.harness.runs.meta import holds_back, run_meta, times_of
from tidemark.harness.runs.phases import LOOK_US, carry_out, in_virtual_time
from tidemark.harness.runs.suffering import suffer
from tidemark.harness.simulator.at_rest import view_of
from tidemark.harness.simulator.network import CLIENTS_FROM
from tidemark.harness.simulator.simulation import Simulation
from tidemark.harness.simulator.workload import AdminClient, Consumer, FinalReader, KnowsRepeats, Producer
from tidemark.nemesis import REAL_ONLY, PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tidemark.harness.runs.at_rest import PartitionView
    from tidemark.nemesis import Plan
    from tidemark.nodes.families import AnyVariant


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
        PlanError: the plan has a fault that needs a real machine, or clients of no log.
    """
    beyond = sorted({fault.kind for fault in plan.faults} & REAL_ONLY)
    if beyond:
        raise PlanError(f"the simulator cannot do {', '.join(beyond)}: run this plan with --world docker")
    if plan.workload.object is not None:
        raise PlanError(
            f"the simulator has logs, and no {plan.workload.object.kind}: run this plan on a system that has one"
        )
    if plan.workload.transactional:
        raise PlanError("the simulator has no transactions: run this plan with --system kafka:VERSION")
    if plan.workload.share_members:
        raise PlanError("the simulator has no share groups: run this plan with --system kafka:VERSION")
    with collector_paused():
        return _run(plan, variant, contract, world)


def _run(plan: Plan, variant: AnyVariant, contract: str | None, world: type[Simulation]) -> SimulatedRun:
    simulation = world(plan.cluster, variant, plan.noise_seed, plan.fixed_delay_us)
    if plan.workload.again_us:
        simulation.reaches = lambda machine: KnowsRepeats(machine).step
    suffered = suffer(plan, simulation.family)
    read = carry_out(_Run(simulation, plan), plan, suffered, in_virtual_time(plan.cluster.settings))
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
            **({"patience_us": plan.workload.patience_us} if plan.workload.patience_us else {}),
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


class SimulatedEnding:
    """The last phases in a simulation (:class:`tidemark.harness.runs.phases.Ending`).

    Args:
        simulation: whose clients have stopped.
        give_up: lets what has no answer yet stay unknown.
    """

    def __init__(self, simulation: Simulation, give_up: Callable[[], None]) -> None:
        self.world = simulation
        self._give_up = give_up

    def views(self, partitions: Iterable[str], *, with_reasons: bool = True) -> dict[str, PartitionView]:
        """How these partitions stand."""
        return {name: view_of(self.world, name, with_reasons=with_reasons) for name in partitions}

    def all_answer(self) -> None:
        """Everybody does."""

    def read_back(self, within_us: int) -> bool:
        """Read every partition from the start, as a consumer; whether that came to an end in time."""
        self._give_up()
        reader = FinalReader(self.world, 3 * CLIENTS_FROM)
        reader.begin()
        deadline = self.world.now + within_us
        while not reader.done and self.world.now < deadline:
            self.world.run_until(self.world.now + LOOK_US)
        reader.stopped = True
        return reader.done

    def collect(self) -> None:
        """Trace every running replica's final state. What a broker has that is no replica (any more) owes nothing."""
        simulation = self.world
        for broker in simulation.brokers():
            machine = simulation.broker(broker)
            for name, replica in machine.replicas.items() if machine is not None else ():
                if broker not in simulation.replicas_of(name):
                    continue
                role = "leader" if replica.leading else "follower"
                batches = tuple([(b.base, b.epoch, b.values) for b in replica.log.batches])
                cache = replica.cache.entries()
                known = role, replica.leader_epoch, replica.log.leo, replica.hw, cache, batches
                simulation.trace_event(broker, "final", name, *known)


class _Run(SimulatedEnding):
    """Drives a simulation through the phases of a plan (:class:`tidemark.harness.runs.phases.Run`)."""

    def __init__(self, simulation: Simulation, plan: Plan) -> None:
        self._admin = AdminClient(simulation, 4 * CLIENTS_FROM) if _deletes(plan) else None
        super().__init__(simulation, self._admin.give_up if self._admin is not None else lambda: None)
        self._plan = plan
        self._producers: list[Producer] = []
        self._clients: list[Producer | Consumer] = []

    def begin_clients(self) -> None:
        world, work = self.world, self._plan.workload
        self._producers = [Producer(world, CLIENTS_FROM + i, i, work) for i in range(1, work.producers + 1)]
        consumers = [Consumer(world, 2 * CLIENTS_FROM + i, f"c{i}", work.poll_us) for i in range(1, work.consumers + 1)]
        self._clients = [*self._producers, *consumers]
        world.ask_to_delete = self._admin.delete if self._admin is not None else None
        for client in self._clients:
            client.begin()

    def healed(self) -> None:
        """Whatever is told to heal has."""

    def stop_clients(self) -> None:
        for client in self._clients:
            client.stopped = True
        while any(producer.is_sending for producer in self._producers):
            self.world.run_until(self.world.now + LOOK_US)


def _deletes(plan: Plan) -> bool:
    return any(fault.kind == "delete-records" for fault in plan.faults)


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

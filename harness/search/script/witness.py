"""A run of a plan, and what was done to its world, verb by verb: what its faults came to."""

from __future__ import annotations

from typing import Any, NamedTuple

from tidemark.checkers import History
from tidemark.harness.simulator.simulate import simulate
from tidemark.harness.simulator.simulation import Simulation
from tidemark.nemesis import Plan
from tidemark.nemesis.links import Link
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.core.variant import Variant


class Deed(NamedTuple):
    """What was done to the world.

    Attributes:
        place: how many events the trace had before.
        time: in µs.
        verb: ``stop``, ``start``, ``pause``, ``resume``, ``links``, ``mend``, ``reassign``, ``min-isr``, ``unclean``, ``elr``,
            ``delete`` or ``retain``.
        what: its arguments.
    """

    place: int
    time: int
    verb: str
    what: tuple[Any, ...]


class Witnessed(NamedTuple):
    """A run's history, and all that was done in it, in order."""

    history: History
    deeds: tuple[Deed, ...]


def witness(plan: Plan, variant: Variant, contract: str | None = None) -> Witnessed:
    """Play a plan in the simulator."""
    deeds: list[Deed] = []

    class Witness(_Witness):
        def __init__(
            self, cluster: ClusterSpec, variant: Variant, noise_seed: int, fixed_delay_us: int | None = None
        ) -> None:
            super().__init__(cluster, variant, noise_seed, fixed_delay_us)
            self.deeds = deeds

    return Witnessed(simulate(plan, variant, contract, Witness).history, tuple(deeds))


class _Witness(Simulation):
    deeds: list[Deed]

    def _did(self, verb: str, *what: object) -> None:
        self.deeds.append(Deed(len(self.trace), self.now, verb, what))

    def stop(self, broker: int, how: str) -> None:
        if self.running(broker):
            self._did("stop", broker, how)
        super().stop(broker, how)

    def start(self, broker: int) -> None:
        if not self.running(broker) or self.nodes[broker].stopping:
            self._did("start", broker)
        super().start(broker)

    def pause(self, broker: int) -> None:
        if self.running(broker) and not self.nodes[broker].port.paused:
            self._did("pause", broker)
        super().pause(broker)

    def resume(self, broker: int) -> None:
        if self.nodes[broker].port.paused:
            self._did("resume", broker)
        super().resume(broker)

    def set_link_fault(self, key: int, links: tuple[Link, ...], effect: str, amount: int) -> None:
        self._did("links", key, links, effect)
        super().set_link_fault(key, links, effect, amount)

    def clear_link_fault(self, key: int) -> None:
        self._did("mend", key)
        super().clear_link_fault(key)

    def hinder(self, key: int, broker: int, kind: str, amount: int) -> None:
        others = [node for node in (CONTROLLER, *self.brokers()) if node != broker]
        self._did("links", key, tuple(link for o in others for link in ((broker, o), (o, broker))), "cut")
        super().hinder(key, broker, kind, amount)

    def unhinder(self, key: int) -> None:
        self._did("mend", key)
        super().unhinder(key)

    def reassign(self, partition: str, replicas: tuple[int, ...]) -> None:
        self._did("reassign", partition, replicas)
        super().reassign(partition, replicas)

    def set_min_isr(self, order: int | None) -> int:
        min_isr = super().set_min_isr(order)
        self._did("min-isr", min_isr)
        return min_isr

    def allow_unclean(self, *, on: bool | None) -> None:
        super().allow_unclean(on=on)
        self._did("unclean", self.cluster.settings.unclean_election if on is None else on)

    def switch_elr(self, *, on: bool) -> None:
        super().switch_elr(on=on)
        self._did("elr", on)

    def delete_records(self, partition: str, share: int) -> None:
        ask = self.ask_to_delete
        if ask is not None:

            def told(name: str, offset: int, leader: int) -> object:
                self._did("delete", name, offset, leader)
                return ask(name, offset, leader)

            self.ask_to_delete = told
        super().delete_records(partition, share)
        self.ask_to_delete = ask

    def retain(self, partition: str, broker: int, share: int) -> None:
        machine = self.broker(broker)
        replica = machine.replicas.get(partition) if machine is not None else None
        if replica is not None:
            below = sum(1 for batch in replica.log.batches if batch.end <= replica.hw)
            self._did("retain", partition, broker, -(-below * share // 1000))
        super().retain(partition, broker, share)

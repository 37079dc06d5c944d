"""The phases of a run, the same in every world: their order, how long each may take, and what each demands.

A world has a driver (:class:`Run`), which says what only it knows: how clients begin and stop, how partitions are looked at, what
is collected. A script has steps in place of the first phases; :func:`end` is the rest of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from tidemark.harness.runs.at_rest import restored, waiting_for
from tidemark.nemesis import Injector
from tidemark.nemesis.injector import FaultTarget
from tidemark.nemesis.links import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tidemark.harness.runs.at_rest import PartitionView
    from tidemark.harness.runs.suffering import Suffered
    from tidemark.nemesis import Plan
    from tidemark.nodes.core.settings import Settings

AFTER_HEAL_US = 1_000_000
FINAL_READ_US = 5_000_000
LEAST_REST_US = 15_000_000
LOOK_US = 200_000
WATCH_US = 50_000


class Bounds(NamedTuple):
    """How long the phases after healing may take, in µs.

    Attributes:
        work_on_us: exactly so long clients go on, so that a replica that is stuck has something to be stuck on.
        rest_us: for coming to rest, before a partition counts as stuck.
        read_us: for reading everything back.
        most: so many of ``rest_us`` in all, as long as something still changes.
    """

    work_on_us: int
    rest_us: int
    read_us: int
    most: int = 1


def rest_us(settings: Settings) -> int:
    """The bound for coming to rest: ten times the longest time-out that anything waits for, and never less than 15 s."""
    longest = max(
        settings.lag_time_us, settings.produce_timeout_us, settings.session_us, settings.request_timeout_us,
        settings.fetch_wait_us + settings.tick_us,
    )  # fmt: skip
    return max(LEAST_REST_US, 10 * longest)


def in_virtual_time(settings: Settings) -> Bounds:
    """Of a plan in the simulator."""
    return Bounds(AFTER_HEAL_US, rest_us(settings), FINAL_READ_US)


def in_real_time(settings: Settings) -> Bounds:
    """Of a plan on machines: the same, unless times are scaled. What is slow there is not stuck, as long as it moves."""
    rest = rest_us(settings)
    return Bounds(settings.session_us, rest, rest // 3, most=3)


def in_a_script(settings: Settings, *, has_controller: bool, scale: float = 1.0) -> Bounds:
    """Of a script whose times are multiplied by ``scale``. However short they are made, processes need theirs to come to rest: a
    slow machine must not look like a stuck replica.
    """
    rest = LEAST_REST_US if has_controller else rest_us(settings)
    return Bounds(int(AFTER_HEAL_US * scale), int(rest * max(scale, 1.0)), int(FINAL_READ_US * scale))


class Clock(Protocol):
    """Where phases take place, as far as every world offers it."""

    def partitions(self) -> tuple[str, ...]:
        """All partition names."""

    def now_us(self) -> int:
        """µs since the run began."""

    def run_until(self, until_us: int, /) -> None:
        """Let the run go on until then."""

    def trace_event(self, node: int, event: str, partition: str, *fields: object) -> None:
        """Add an event of the harness to the trace."""


class World(Clock, FaultTarget, Protocol):
    """Where a plan is carried out."""

    def boot(self) -> None:
        """Start all nodes."""


class Ending(Protocol):
    """What is asked of a world once its clients have stopped."""

    @property
    def world(self) -> Clock:
        """Where it happens."""

    def views(self, partitions: Iterable[str], *, with_reasons: bool = True) -> Mapping[str, PartitionView]:
        """How these partitions stand, in their order; without reasons nobody asks what a replica has refused."""

    def all_answer(self) -> None:
        """Something is not at rest: raise ``RunError`` unless everything that runs was heard."""

    def read_back(self, within_us: int) -> bool:
        """Read every partition from the start, as a consumer; whether that came to an end in time. What has no answer until then is
        unknown.
        """

    def collect(self) -> None:
        """Every running replica's final state, and whatever else tells of the run, becomes part of the history."""


class Run(Ending, Protocol):
    """A world that a plan is carried out in."""

    @property
    def world(self) -> World:
        """Where it happens."""

    def begin_clients(self) -> None:
        """Clients work from now on."""

    def healed(self) -> None:
        """Everything was told to heal: see that it has."""

    def stop_clients(self) -> None:
        """They work no more, and every send has come to its end: what is acknowledged later could not have been read back."""


def _nobody(phase: str) -> None:
    """Nobody wants to know."""


def carry_out(run: Run, plan: Plan, suffered: Suffered, bounds: Bounds, tell: Callable[[str], None] = _nobody) -> bool:
    """Carry a plan out, whose faults are met as ``suffered``; returns whether the final reads came to an end. ``tell`` is told
    which phase begins, in a few words.
    """
    run.world.boot()
    run.begin_clients()
    tell("faults")
    injector = Injector(run.world, suffered.faults, suffered.left_out)
    injector.arm()
    run.world.run_until(plan.faults_end_us)
    tell("healing")
    injector.heal_all()
    run.healed()
    tell("working on")
    work_on(run, bounds.work_on_us)
    run.stop_clients()
    return end(run, bounds, tell)


def end(run: Ending, bounds: Bounds, tell: Callable[[str], None] = _nobody) -> bool:
    """The phases when nobody works any more; returns whether the final reads came to an end."""
    tell("coming to rest")
    come_to_rest(run, bounds)
    tell("reading back")
    read = run.read_back(bounds.read_us)
    tell("collecting")
    run.collect()
    return read


def work_on(run: Ending, duration_us: int) -> None:
    """Go on with the workload for a while, and trace when each partition is whole again."""
    world = run.world
    hurt = list(world.partitions())
    until = world.now_us() + duration_us
    while hurt and world.now_us() < until:
        for name, view in run.views(tuple(hurt), with_reasons=False).items():
            if restored(view):
                hurt.remove(name)
                world.trace_event(CONTROLLER, "restored", name)
        world.run_until(min(world.now_us() + WATCH_US, until))
    world.run_until(until)


def come_to_rest(run: Ending, bounds: Bounds) -> None:
    """Wait until every partition is at rest, or the bound is over; trace which. Where more than one bound is granted, it begins
    anew whenever something has changed. Who has damaged files may stay behind: the others have to come to rest.

    Raises:
        RunError: see :meth:`Ending.all_answer`.
    """
    world = run.world
    names = world.partitions()
    began, seen = world.now_us(), None
    deadline = began + bounds.rest_us
    while True:
        world.run_until(world.now_us() + LOOK_US)
        views, now = run.views(names), world.now_us()
        waiting = {name: waiting_for(view) for name, view in views.items()}
        if views != seen:
            seen, deadline = views, min(now + bounds.rest_us, began + bounds.most * bounds.rest_us)
        if not any(waiting.values()) or now >= deadline:
            break
    if any(waiting.values()):
        run.all_answer()
        waiting = {name: waiting_for(view.without(view.damaged)) for name, view in run.views(names).items()}
    for name, why in waiting.items():
        world.trace_event(CONTROLLER, "converged", name, not why, why)

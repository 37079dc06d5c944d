"""Random faults that overlap, against a plain model: what several hold is held as long as any of them lasts."""

from random import Random

import pytest

from tidemark.harness.simulator.simulation import Simulation
from tidemark.nemesis import Fault, Injector
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

STOPS = ("crash", "power", "disk", "container-kill", "crash-all", "power-all")
LINKS = ("isolate", "from-peers", "one-way-in", "one-way-out", "halves", "controller-isolated", "disconnect", "slow")
MS = 1_000
END = 400 * MS


def some_faults(seed, kinds):
    rng = Random(seed)
    return tuple(
        Fault(rng.choice(kinds), rng.randrange(END), rng.randrange(1, END), f"b{rng.randrange(1, 4)}", amount=50)
        for _ in range(rng.randrange(2, 12))
    )


def in_force(faults, now, kinds, broker):
    """Whether any of these kinds that means the broker covers the time; the moment of its end is after it."""
    return any(
        fault.kind in kinds
        and (fault.kind.endswith("-all") or fault.target == f"b{broker}")
        and fault.at_us <= now < fault.at_us + fault.lasts_us
        for fault in faults
    )


def changes(faults):
    return sorted({time for fault in faults for time in (fault.at_us, fault.at_us + fault.lasts_us)})


@pytest.mark.parametrize("seed", range(300))
def test_who_is_down_and_who_is_paused(world, seed):
    faults = some_faults(seed, (*STOPS, "restart", "pause", "pause", "pause"))
    w, _ = world(*faults, brokers=(1, 2, 3))
    for now in changes(faults):
        w.until(now)
        down = {b for b in (1, 2, 3) if in_force(faults, now, (*STOPS, "restart"), b)}
        assert w.down == down
        assert w.paused == {b for b in (1, 2, 3) if in_force(faults, now, ("pause",), b)} - down


@pytest.mark.parametrize("seed", range(60))
def test_the_same_in_the_simulator(seed):
    faults = some_faults(seed, (*STOPS, "pause", "pause", "pause"))
    simulation = Simulation(ClusterSpec(), parse_variant("kafka-4.0"), seed)
    simulation.boot()
    Injector(simulation, faults).arm()
    for now in changes(faults):
        simulation.run_until(now)
        for broker in (1, 2, 3):
            down = in_force(faults, now, STOPS, broker)
            assert simulation.running(broker) == (not down)
            assert simulation.nodes[broker].port.paused == (not down and in_force(faults, now, ("pause",), broker))


@pytest.mark.parametrize("seed", range(60))
def test_links_are_as_if_every_fault_had_its_own(seed):
    faults = some_faults(seed, LINKS)
    simulation = Simulation(ClusterSpec(), parse_variant("kafka-4.0"), seed)
    simulation.boot()
    Injector(simulation, faults).arm()
    for now in changes(faults):
        simulation.run_until(now)
        assert set(simulation.faults.rules) == {
            index for index, fault in enumerate(faults) if fault.at_us <= now < fault.at_us + fault.lasts_us
        }


def test_a_clean_stop_that_ends_starts_nobody_whom_another_holds_though_it_is_still_shutting_down():
    """The first restart ends before the process has: it was to start again when it has, and now is not."""
    faults = (Fault("restart", 500 * MS, 1, "b1"), Fault("restart", 500 * MS + 2, 600 * MS, "b1"))
    simulation = Simulation(ClusterSpec(), parse_variant("kafka-4.0"), 1)
    simulation.boot()
    Injector(simulation, faults).arm()
    simulation.run_until(500 * MS + 3)
    assert simulation.nodes[1].stopping
    simulation.run_until(1_099 * MS)
    assert not simulation.running(1)

    simulation.run_until(1_101 * MS)
    assert simulation.running(1)

"""The same run gives the same bytes in any process; another noise gives other bytes, so the comparison proves something."""

import gc
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tidemark.harness.simulator import simulate
from tidemark.harness.simulator.simulation import Simulation
from tidemark.nemesis import Fault, Plan, WorkloadSpec, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.leader import Leadership
from tidemark.nodes.core.variant import PRESETS, parse_variant

ROOT = Path(__file__).parents[3]
RUN_ALL = """
import sys, tempfile
from hashlib import sha256
from pathlib import Path
from tidemark.checkers import write_history
from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import PRESETS
for index, profile in ((1, "intact"), (2, "intact"), (3, "destructive"), (4, "destructive")):
    plan = generate_plan(5, index, profile, ClusterSpec(brokers=4, partitions=2))
    for variant in PRESETS.values():
        run = simulate(plan, variant)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "history.jsonl"
            write_history(run.history, path)
            print(index, variant.name, run.digest, run.events, sha256(path.read_bytes()).hexdigest())
"""


def digest(index=3, variant="kafka-2.7", profile="destructive", **changes):
    plan = generate_plan(1, index, profile, ClusterSpec())
    return simulate(replace(plan, **changes), parse_variant(variant)).digest


def test_two_processes_with_different_hash_seeds_give_the_same_bytes():
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RUN_ALL],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "4711")
    ]
    one, other = (process.communicate(timeout=100)[0] for process in processes)

    assert len(one.splitlines()) == 28
    assert one == other


@pytest.mark.parametrize("variant", list(PRESETS))
def test_a_run_can_be_repeated_in_one_process(variant):
    first = digest(variant=variant)
    digest(index=4, variant="kafka-0.10")

    assert digest(variant=variant) == first


def test_nothing_outside_the_plan_matters():
    """Neither the global random state nor the garbage collector nor what was simulated before."""
    first = digest()
    random.seed(4711)
    gc.collect()
    gc.disable()
    try:
        again = digest()
        assert not gc.isenabled()
    finally:
        gc.enable()

    assert again == first


def test_the_garbage_collector_is_left_as_it_was_found():
    digest()

    assert gc.isenabled()


def test_the_global_random_state_is_not_touched():
    random.seed(1)
    before = random.getstate()
    digest()

    assert random.getstate() == before


def test_another_noise_seed_gives_another_run():
    assert digest(noise_seed=1) != digest(noise_seed=2)


def test_the_index_a_plan_came_from_does_not_matter():
    assert (
        digest(index=3)
        == simulate(
            replace(generate_plan(1, 3, "destructive", ClusterSpec()), index=9, seed=9), parse_variant("kafka-2.7")
        ).digest
    )


def test_variants_that_differ_in_name_only_give_the_same_run():
    assert digest(variant="kafka-2.1") == digest(variant="kafka-2.0+all-fences")


@pytest.mark.parametrize("name", ["network", "links", "disk", "p1", "c1"])
def test_chance_in_any_one_stream_would_be_noticed(monkeypatch, name):
    """A plan that uses all streams: power losses, slow and lossy links, producers, a consumer."""
    faults = (
        Fault("lossy", 500_000, 2_000_000, amount=300),
        Fault("power", 1_000_000, 500_000),
        Fault("power", 2_000_000, 500_000, "follower"),
    )
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(interval_us=50_000), faults, 3_000_000)
    variant = parse_variant("kafka-2.7")
    before = simulate(plan, variant).digest
    stream = Simulation.stream
    monkeypatch.setattr(Simulation, "stream", lambda self, n: Random(1) if n == name else stream(self, n))

    assert simulate(plan, variant).digest != before


def test_a_difference_in_the_order_of_a_set_would_be_noticed(monkeypatch):
    """What a forgotten ``set`` would do: fetches that wait are answered in another order."""
    before = digest()
    answer_fetch = Leadership.answer_fetch

    def shuffled(self, now, m):
        answer_fetch(self, now, m)
        self.parked_fetches = dict(reversed(self.parked_fetches.items()))

    monkeypatch.setattr(Leadership, "answer_fetch", shuffled)

    assert digest() != before


def test_paired_runs_share_their_producers_think_times():
    """A stream of its own for each part: what one variant does more of does not shift another's first draws."""
    plan = generate_plan(1, 3, "intact", ClusterSpec())
    firsts = set()
    for variant in PRESETS:
        ops = simulate(plan, parse_variant(variant)).history.ops
        first = [next(op for op in ops if op.process == process) for process in ("p1", "p2", "c1")]
        firsts.add(tuple((op.time, str(op.value)) for op in first))

    assert len(firsts) == 1

"""Random plans for hours: the simulator stands in for real brokers."""

import json
import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.machines.errors import ClusterError
from tidemark.harness.runs.folder import load_history, store_history
from tidemark.harness.runs.kept_results import KeptResults
from tidemark.harness.simulator.execute import execute
from tidemark.harness.soak.judge_again import judge_again
from tidemark.harness.soak.kept_run import KeptRun, kept_run
from tidemark.harness.soak.planned import planned_runs
from tidemark.harness.soak.run_all import run_missing
from tidemark.harness.soak.tally import listed, tally
from tidemark.harness.systems.kafka.kafka_versions import KafkaVersion
from tidemark.harness.systems.kafka.system import KafkaSystem
from tidemark.harness.systems.registry import find_system
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nemesis import ObjectWorkload, generate_plan, read_plan
from tidemark.nodes.core.cluster import ClusterSpec

OLD, NEW = "kafka:2.8.2@0.10.2", "kafka:4.1.1"


def planned(*systems, profiles=("intact",), plans=2, **options):
    found = {name: KafkaSystem.parse(name, {}) for name in systems or (OLD, NEW)}
    return planned_runs(
        found, profiles, **{"plans": plans, "seed": 1, "cluster": ClusterSpec(), "time_scale": 1} | options
    )


class World:
    """Where plans are run: what each run comes to, in turn (an error, a verdict, or whatever the simulator makes of it), and what
    was done.
    """

    def __init__(self, folder):
        self.results = KeptResults(folder)
        self.planned = planned()
        self.deeds = []
        self.opened = []
        self.machines = 0
        self.ran = []

    def run(self, *deeds, **options):
        self.deeds, self.opened, self.ran, self.machines = list(deeds), [], [], 0
        runs = [(run, kept_run(run, self.results)) for run in self.planned]
        watcher = SimpleNamespace(begins=lambda run, runner: None, came_out=lambda run, kept: None)
        run_missing(runs, self.results, self.open_runner, lambda run: run.variant, watcher, **options)
        return [kept for _, kept in runs]

    @contextmanager
    def open_runner(self, system):
        self.opened.append(system)
        yield self

    def open(self):
        self.machines += 1

    def execute(self, plan, variant, contract=None, *, folder):
        self.ran.append((variant, plan.index))
        folder.mkdir(parents=True)
        (folder / "history.jsonl").write_text("half a history")
        deed = self.deeds.pop(0) if self.deeds else None
        if isinstance(deed, BaseException):
            raise deed
        (folder / "nodes").mkdir()
        (folder / "nodes" / "b1.tar.gz").write_bytes(b"logs")
        found = execute(plan, variant)
        store_history(folder, plan, found.history)
        return found if deed is None else replace(found, verdict=replace(found.verdict, valid=deed))

    def folder(self, number):
        return self.results.folder / self.planned[number].name


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "soak")


ALL = [("kafka-0.10", 0), ("kafka-0.10", 1), ("kafka-4.0", 0), ("kafka-4.0", 1)]


# Which runs there are


def test_every_system_meets_the_same_plans_in_rounds():
    runs = planned(profiles=("intact", "destructive"), plans=13)
    told = [(run.system, run.profile, run.plan.index) for run in runs]

    assert told[:40] == [(s, p, n) for s in (OLD, NEW) for p in ("intact", "destructive") for n in range(10)]
    assert told[40:] == [(s, p, n) for s in (OLD, NEW) for p in ("intact", "destructive") for n in (10, 11, 12)]
    assert runs[3].plan == runs[23].plan == generate_plan(1, 3, "intact", ClusterSpec())


def test_times_are_those_that_the_system_needs():
    (run,) = planned(NEW, plans=1, time_scale=None)

    assert run.plan == generate_plan(1, 0, "intact", ClusterSpec()).scaled(3.0)


def test_no_two_plans_share_a_folder():
    runs = [
        *planned(OLD, NEW, profiles=("intact", "destructive"), plans=2),
        *planned(OLD, plans=2, seed=2),
        *planned(OLD, plans=2, time_scale=2),
        *planned(OLD, plans=2, cluster=ClusterSpec(brokers=5)),
    ]

    assert len({run.name for run in runs}) == len(runs) == 14
    assert runs[0].name.startswith("kafka-2.8.2@0.10.2/intact/plan-1-00000-")


def test_a_version_whose_lines_nobody_has_verified_proves_nothing(world):
    world.planned = planned("kafka:2.4.1", plans=1)
    (kept,) = world.run()

    assert kept.valid == "refused"
    assert kept.why.startswith("The log lines of Kafka 2.4.1 have not been verified")
    assert world.opened == []


def test_nor_is_a_plan_run_that_the_system_refuses(world):
    class Choosy(KafkaSystem):
        def check(self, plan, variant):
            if plan.index == 1:
                raise SystemRefusalError("I do not like this one")

    system = {NEW: Choosy(KafkaVersion("4.1.1"), {})}
    world.planned = planned_runs(system, ["intact"], plans=3, seed=1, cluster=ClusterSpec(), time_scale=1)
    kept = world.run()

    assert world.ran == [("kafka-4.0", 0), ("kafka-4.0", 2)]
    assert [(one.valid == "refused", one.why) for one in kept][1] == (True, "I do not like this one")


def test_clients_work_on_the_object_that_is_asked_for():
    system = find_system("nats:2.15.1")
    asked = {"plans": 1, "seed": 1, "cluster": ClusterSpec()}
    (log,) = planned_runs({system.name: system}, ["intact"], **asked)
    (queue,) = planned_runs(
        {system.name: system}, ["intact"], **asked, as_asked=lambda plan: plan.with_workload("queue")
    )

    assert (log.plan.workload.object, queue.plan.workload.object) == (None, ObjectWorkload.usual("queue"))
    assert queue.plan.faults == log.plan.faults
    assert queue.name != log.name


# Kept, and resumed


def test_every_run_is_kept_whole(world):
    first, *_ = world.run()

    assert world.ran == ALL
    assert world.opened == [OLD, NEW]
    names = {path.name for path in world.folder(0).iterdir()}
    assert names - {"nodes"} == {"history.jsonl", "plan.json", "result.json", "verdict.json"}
    expected = execute(world.planned[0].plan, "kafka-0.10")
    assert load_history(world.folder(0)) == expected.history
    assert read_plan(world.folder(0) / "plan.json") == world.planned[0].plan
    verdict = json.loads((world.folder(0) / "verdict.json").read_text())
    assert (first.valid, first.contract, first.acked) == (verdict["valid"], "documented", verdict["stats"]["acked"])
    assert first.acked > 0


def test_nothing_is_run_twice(world):
    first = world.run()
    second = world.run()

    assert (world.ran, world.opened) == ([], [])
    assert second == first


def test_what_was_ended_is_run_again_and_nothing_else_is_lost(world):
    with pytest.raises(KeyboardInterrupt):
        world.run(None, None, KeyboardInterrupt())
    assert (world.folder(2) / "history.jsonl").read_text() == "half a history"
    (world.folder(2) / "clients.log").write_text("of the run that was killed")

    world.run()

    assert world.ran == ALL[2:]
    assert load_history(world.folder(2)).ops
    assert not (world.folder(2) / "clients.log").exists()


def test_a_run_that_another_process_carries_out_is_passed_over(world):
    with world.results.claimed(world.planned[1].name):
        world.run()
    assert world.ran == [ALL[0], *ALL[2:]]

    world.run()
    assert world.ran == [ALL[1]]


def test_what_another_process_has_run_meanwhile_is_not_run_again(world):
    other = World(world.results.folder)
    opened = world.open_runner

    def open_late(system):
        other.run()
        return opened(system)

    world.open_runner = open_late
    found = world.run()
    assert world.ran == ALL[:1]  # it was claimed before the machines were wanted
    assert world.opened == [OLD]
    assert found == other.run()


@pytest.mark.parametrize("torn", [b"", b'{"format": 1', b'{"format": 0}', b'{"format": 1, "unheard": "of"}'])
def test_a_result_that_is_none_is_run_again(world, torn):
    world.run()
    (world.folder(1) / "result.json").write_bytes(torn)
    world.run()

    assert world.ran == [ALL[1]]


def test_the_history_is_on_the_disk_before_the_result_is(world, monkeypatch):
    synced = []
    fsync = os.fsync

    def note(descriptor):
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    world.planned = world.planned[:1]
    world.run()

    result = next(place for place, name in enumerate(synced) if "result.json" in name)
    assert {"history.jsonl", "plan.json", "verdict.json"} <= set(synced[:result])


def test_the_nodes_files_are_kept_where_something_was_found(world):
    world.run("valid", "invalid", "unknown", "valid")

    assert [(world.folder(number) / "nodes").exists() for number in range(4)] == [False, True, True, False]


def test_all_are_kept_where_that_is_asked_for(world):
    world.run("valid", "invalid", "unknown", "valid", keep_nodes=True)

    assert all((world.folder(number) / "nodes").exists() for number in range(4))


# What goes wrong


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (RunError("the controller's process ended"), "the controller's process ended"),
        (ZeroDivisionError("division by zero"), "Tidemark failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_run_that_breaks_off_is_unknown_and_stays_so(world, error, why):
    first, *others = world.run(error)

    assert (first.valid, first.why, first.violations) == ("unknown", why, {})
    assert [one.valid for one in others].count("unknown") == 0
    assert world.run()[0] == first
    assert world.ran == []


def test_without_machines_there_is_no_next_run(world):
    with pytest.raises(ClusterError):
        world.run(None, ClusterError("no network"))
    assert world.ran == ALL[:2]

    world.run()

    assert world.ran == ALL[1:]


def test_machines_that_do_not_come_up_are_no_run(world):
    def gone():
        raise ClusterError("no network")

    world.open = gone
    with pytest.raises(ClusterError):
        world.run()

    assert world.ran == []
    assert not world.folder(0).exists()


# What they came to


def run(system, profile, plan, valid, **more):
    return KeptRun(system, "kafka-x", profile, 1, plan, "d", valid, **more)


RUNS = [
    run(
        OLD, "intact", 0, "invalid", violations={"lost-committed-write": 3, "divergence": 1}, permitted={"duplicate": 2}
    ),
    run(OLD, "intact", 1, "invalid", violations={"lost-committed-write": 1}, acked=7, seconds=1.5),
    run(OLD, "intact", 2, "valid", permitted={"duplicate": 1}, near_misses={"weak-isr": 4}, acked=5, seconds=2.0),
    run(OLD, "intact", 3, "unknown", why="no send was acknowledged"),
    run(OLD, "intact", 4, "refused", why="no such fault"),
    run(OLD, "intact", 5, "missing"),
    run(NEW, "intact", 0, "valid"),
]


def test_a_tally_counts_runs_and_not_anomalies():
    one, two = tally(RUNS)

    assert one.to_json() == {
        "system": OLD,
        "profile": "intact",
        "runs": 4,
        "valid": 1,
        "invalid": 2,
        "unknown": 1,
        "refused": 1,
        "missing": 1,
        "violations": {"divergence": 1, "lost-committed-write": 2},
        "near_misses": {"weak-isr": 1},
        "permitted": {"duplicate": 2},
        "acked": 12,
        "seconds": 3.5,
    }
    assert (two.system, two.runs, two.valid, two.violations) == (NEW, 1, 1, {})
    assert (listed(one.violations), listed(two.violations)) == ("divergence 1, lost-committed-write 2", "none")


def test_what_a_verdict_says_is_counted_by_kind(world):
    world.planned = planned(OLD, profiles=("destructive",), plans=12)
    for one, run in zip(world.run(), world.planned, strict=True):
        verdict = execute(run.plan, "kafka-0.10").verdict
        kinds = [(found.verdict, found.name) for found in verdict.anomalies for _ in range(found.times)]

        assert one.valid == verdict.valid
        assert sum(one.violations.values()) == sum(kind == "violation" for kind, _ in kinds)
        assert sum(one.permitted.values()) == sum(kind == "permitted" for kind, _ in kinds)
        assert set(one.violations) == {name for kind, name in kinds if kind == "violation"}
    assert {one.valid for one in world.run()} >= {"valid", "invalid"}


# Judged again


def test_kept_histories_are_judged_by_the_checkers_of_today(world):
    first = world.run("unknown", RunError("b1 is gone"))
    runs = [(run, kept_run(run, world.results)) for run in world.planned]
    told = [(run.plan.index, kept.system, kept.valid, before) for run, kept, before in judge_again(runs, world.results)]
    expected = execute(world.planned[0].plan, "kafka-0.10").verdict.valid

    assert told == [
        (0, OLD, expected, "unknown"),
        (0, NEW, first[2].valid, first[2].valid),
        (1, NEW, first[3].valid, first[3].valid),
    ]
    assert [kept.valid for kept in world.run()] == [expected, "unknown", first[2].valid, first[3].valid]
    assert world.ran == []
    verdict = json.loads((world.folder(0) / "verdict.json").read_text())
    assert (verdict["valid"], verdict["digest"]) == (expected, execute(world.planned[0].plan, "kafka-0.10").digest)


def test_a_history_that_is_not_there_leaves_its_run_as_it_is(world):
    world.run()
    (world.folder(0) / "history.jsonl").unlink()
    (world.folder(1) / "history.jsonl").write_text("{}\n{}\n")
    before = [kept_run(run, world.results) for run in world.planned]
    told = list(judge_again([(run, kept_run(run, world.results)) for run in world.planned], world.results))

    assert len(told) == 2
    assert [kept_run(run, world.results) for run in world.planned] == before

"""Runs that leave nothing to chance: sends as planned, delays that are fixed."""

from dataclasses import replace

from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Fault, Send, WorkloadSpec

MS = 1_000
WORK = WorkloadSpec(producers=2, consumers=0, sends=(Send(500 * MS), Send(800 * MS, 2, 0, 3), Send(600 * MS, 2)))


def sends(run, kind="invoke"):
    return [(op.time, op.process, len(op.value)) for op in run.history.ops if op.type == kind and op.f == "send"]


def test_what_is_planned_is_sent_and_nothing_else(plan):
    run = execute(plan(work=WORK), "kafka-2.7")
    assert sends(run) == [(500 * MS, "p1", 1), (600 * MS, "p2", 1), (800 * MS, "p2", 3)]
    assert run.verdict.stats["acked"] == 5


def test_a_producer_that_is_busy_sends_when_it_is_done(plan):
    twice = WorkloadSpec(producers=1, consumers=0, sends=(Send(500 * MS), Send(500 * MS)))
    (first, second) = sends(execute(plan(work=twice), "kafka-2.7"))
    answered = sends(execute(plan(work=twice), "kafka-2.7"), "ok")
    assert first[0] == 500 * MS < answered[0][0] == second[0]


def test_what_is_planned_for_after_the_end_is_not_sent(plan):
    late = WorkloadSpec(producers=1, consumers=0, sends=(Send(500 * MS), Send(60_000 * MS)))
    assert len(sends(execute(plan(end=1_000 * MS, work=late), "kafka-2.7"))) == 1


def test_with_fixed_delays_nothing_happens_at_odd_times(plan):
    steady = replace(plan(work=WORK), fixed_delay_us=1_000)
    run = execute(steady, "kafka-2.7")
    assert len({op.time % 1_000 for op in run.history.ops if op.time < 3_000_000}) == 1


def test_and_noise_has_no_say(plan):
    steady = replace(plan(Fault("slow", 700 * MS, 300 * MS, amount=50 * MS), work=WORK), fixed_delay_us=1_000)
    assert execute(steady, "kafka-0.10").digest == execute(replace(steady, noise_seed=99), "kafka-0.10").digest
    other = replace(steady, fixed_delay_us=2_000)
    assert execute(other, "kafka-0.10").digest != execute(steady, "kafka-0.10").digest


def test_but_which_messages_are_lost_is_still_drawn(plan):
    lossy = replace(plan(Fault("lossy", 300 * MS, 3_000 * MS, amount=500), work=WORK), fixed_delay_us=1_000)
    assert len({execute(replace(lossy, noise_seed=seed), "kafka-0.10").digest for seed in range(3)}) == 3

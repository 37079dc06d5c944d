"""Raft's groups change in simulated runs (docs/families/raft.md), and nothing else does."""

from dataclasses import replace

import pytest

from tidemark.harness.simulator import simulate
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import parse_variant

CHANGING = "raft+membership-change"


@pytest.mark.parametrize("index", [0, 26, 98])
def test_replicas_move_and_every_group_is_the_wanted_one_in_the_end(index):
    run = execute(generate_plan(1, index, "reassignments", ClusterSpec()), CHANGING)
    told = [event for event in run.history.trace if event[2] == "members"]
    settled = [event for event in told if event[7]][-1]
    wanted = [op[4]["replicas"] for op in run.history.nemesis if op[1] == "strike" and "replicas" in op[4]][-1]

    assert run.verdict.valid == "valid", run.verdict.anomalies
    assert any(not event[7] for event in told)
    assert sorted(settled[4]) == sorted(wanted)
    assert {event[1] for event in run.history.trace if event[2] == "final"} == set(wanted)
    assert not any(words.startswith("fault 0, reassignment") for words in run.history.meta.get("not_suffered", ()))


def test_the_last_order_is_given_to_a_leader_that_was_paused_and_has_older_ones_to_carry_out():
    plan = generate_plan(7, 163, "reassignments-destructive", ClusterSpec())

    run = execute(plan, CHANGING)

    wanted = [op[4]["replicas"] for op in run.history.nemesis if op[1] == "strike" and "replicas" in op[4]][-1]
    assert run.verdict.valid == "valid", run.verdict.anomalies
    assert {event[1] for event in run.history.trace if event[2] == "final"} == set(wanted)


@pytest.mark.parametrize("index", range(3))
def test_where_nobody_moves_runs_are_those_of_plain_raft(index):
    plan = generate_plan(1, index, "intact", ClusterSpec(brokers=4, replication_factor=3))

    assert simulate(plan, parse_variant(CHANGING)).digest == simulate(plan, parse_variant("raft")).digest


# Of the code before there were membership changes. Whoever changes what all runs do states new ones.
PLAIN = {
    "raft": "dd93fc0cf124caf17282b44f33ae4da7",
    "quorum-hwm": "e0df938880b8d4e05846be2750e07636",
}


@pytest.mark.parametrize("variant", list(PLAIN))
def test_without_the_modifier_every_byte_is_what_it_was(variant):
    plan = generate_plan(1, 1, "reassignments", ClusterSpec())

    assert simulate(plan, parse_variant(variant)).digest == PLAIN[variant]


def test_the_same_plan_gives_the_same_bytes():
    plan = replace(generate_plan(1, 4, "reassignments", ClusterSpec()), fixed_delay_us=None)

    assert simulate(plan, parse_variant(CHANGING)).digest == simulate(plan, parse_variant(CHANGING)).digest

"""Sends as plain values, and plans that have them."""

import json
from dataclasses import replace

import pytest

from tidemark.nemesis import Plan, PlanError, Send, WorkloadSpec, read_plan
from tidemark.nemesis.send import SendError
from tidemark.nodes.core.cluster import ClusterSpec

PLAN = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), (), 1_000_000)
WORK = WorkloadSpec(producers=2, sends=(Send(500_000), Send(700_000, 2, 1, 3)))


def test_defaults_are_left_out_and_come_back():
    assert Send(5).to_json() == {"at_us": 5}
    assert Send(5, 2, 1, 3).to_json() == {"at_us": 5, "producer": 2, "partition": 1, "records": 3}
    assert [Send.from_json(send.to_json()) for send in WORK.sends] == list(WORK.sends)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "at_us"),
        ([], "at_us"),
        ({"at_us": 1, "when": 2}, "is an object"),
        ({"at_us": "1"}, "at_us must be int"),
        ({"at_us": True}, "at_us must be int"),
        ({"at_us": -1}, "not negative"),
        ({"at_us": 1, "records": 0}, "one record"),
        ({"at_us": 1, "producer": 0}, "producer 1"),
    ],
)
def test_what_makes_no_sense_is_refused(entry, words):
    with pytest.raises(SendError, match=words):
        Send.from_json(entry)


def test_a_plan_without_them_is_written_as_ever():
    told = PLAN.to_json()
    assert "fixed_delay_us" not in told
    assert told["workload"] == {"producers": 2, "consumers": 1, "interval_us": 80_000, "poll_us": 250_000, "batch": 3}


def test_a_plan_with_them_comes_back(tmp_path):
    plan = replace(PLAN, workload=WORK, fixed_delay_us=1_500)
    (tmp_path / "plan.json").write_text(plan.to_text())
    assert read_plan(tmp_path / "plan.json") == plan
    assert replace(PLAN, workload=WorkloadSpec(sends=())).to_json()["workload"]["sends"] == []


def test_times_are_scaled():
    scaled = replace(PLAN, workload=WORK, fixed_delay_us=1_500).scaled(2)
    assert [send.at_us for send in scaled.workload.sends] == [1_000_000, 1_400_000]
    assert scaled.fixed_delay_us == 3_000
    assert PLAN.scaled(3).workload.sends is None


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"workload": {"sends": 3}}, "line 1: workload: sends must be a list"),
        ({"workload": {"sends": [{"at_us": 1}, {}]}}, r"workload: sends\[1\] is an object"),
        (
            {"workload": {"producers": 1, "sends": [{"at_us": 1, "producer": 2}]}},
            r"sends\[0\] needs one of 1 producers",
        ),
        ({"fixed_delay_us": 0}, "fixed_delay_us: must be positive"),
        ({"fixed_delay_us": 1.5}, "fixed_delay_us: must be an integer"),
    ],
)
def test_plans_that_are_refused(tmp_path, entries, words):
    (tmp_path / "plan.json").write_text(json.dumps({"faults": [], **entries}))
    with pytest.raises(PlanError, match=words):
        read_plan(tmp_path / "plan.json")

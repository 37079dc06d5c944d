"""A plan is readable JSON: it survives the round trip, and what is wrong with a file is said with its line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.nemesis import Fault, Plan, PlanError, Trigger, WorkloadSpec, generate_plan, read_plan
from tidemark.nemesis.fault import TARGETS, TRIGGER_EVENTS
from tidemark.nemesis.kinds import KINDS
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

NUMBER = st.integers(0, 10**12)
FAULTS = st.builds(
    Fault,
    kind=st.sampled_from(list(KINDS)),
    at_us=NUMBER,
    lasts_us=NUMBER,
    target=st.sampled_from([*TARGETS, "b1", "b3"]),
    pick=st.integers(0, 20),
    partition=st.integers(0, 20),
    amount=st.integers(0, 1000),
    clients=st.booleans(),
    after=st.none() | st.builds(Trigger, st.sampled_from(TRIGGER_EVENTS), st.integers(1, 99), st.integers(0, 5)),
)
CLUSTERS = st.builds(
    ClusterSpec,
    brokers=st.integers(3, 5),
    partitions=st.integers(1, 4),
    acks=st.sampled_from(["all", "1", "0"]),
    settings=st.builds(Settings, min_isr=st.integers(1, 3), unclean_election=st.booleans()),
)
BY_HAND = st.builds(
    Plan,
    index=NUMBER,
    seed=st.integers(),
    noise_seed=NUMBER,
    profile=st.text(),
    cluster=CLUSTERS,
    workload=st.builds(
        WorkloadSpec, st.integers(1, 5), st.integers(0, 5), st.integers(1, 10**6), st.integers(1, 10**6)
    ),
    faults=st.lists(FAULTS, max_size=5).map(tuple),
    faults_end_us=st.integers(0, 86_400_000_000),
)
DRAWN = st.builds(
    generate_plan, st.integers(0, 50), st.integers(0, 1000), st.sampled_from(["intact", "destructive"]), CLUSTERS
)


@given(BY_HAND | DRAWN)
def test_a_plan_survives_its_file(plan):
    assert Plan.from_json(json.loads(plan.to_text())) == plan


@given(BY_HAND | DRAWN)
def test_every_fault_has_a_line_of_its_own(plan):
    lines = plan.to_text().splitlines()

    assert sum(line.startswith('  {"kind"') for line in lines) == len(plan.faults)


def written(tmp_path, text):
    path = tmp_path / "plan.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plan_is_read_from_its_file(tmp_path):
    plan = generate_plan(1, 7, "destructive", ClusterSpec(brokers=5, partitions=2))

    assert read_plan(written(tmp_path, plan.to_text())) == plan


def test_the_least_a_plan_needs_is_its_faults(tmp_path):
    plan = read_plan(written(tmp_path, '{"faults": [{"kind": "crash", "at_us": 1000000, "lasts_us": 500000}]}'))

    assert plan.faults == (Fault("crash", 1_000_000, 500_000),)
    assert (plan.index, plan.seed, plan.noise_seed, plan.profile) == (0, 0, 0, "by hand")
    assert (plan.cluster, plan.workload, plan.faults_end_us) == (ClusterSpec(), WorkloadSpec(), 8_000_000)


PLAN = """{
 "seed": 1,
 "cluster": {
  "brokers": 3,
  "settings": {
   "min_isr": 2
  }
 },
 "workload": {
  "batch": 3
 },
 "faults": [
  {"kind": "crash", "at_us": 1},
  {"kind": "pause", "at_us": 2,
   "after": {"event": "append", "nth": 1}},
  {"kind": "slow", "at_us": 3}
 ]
}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        pytest.param('"seed": 1,', '"seed": 1', 3, "not JSON", id="a comma is missing"),
        pytest.param('"seed": 1', '"seed": "1"', 2, "seed: must be an integer, not '1'", id="a wrong type"),
        pytest.param('"seed": 1', '"sead": 1', 2, "unknown entry 'sead'", id="an unknown entry"),
        pytest.param(
            '"brokers": 3', '"brokers": "3"', 4, "cluster.brokers must be int", id="a wrong type in the cluster"
        ),
        pytest.param('"brokers": 3', '"broker": 3', 4, "unknown entry 'broker'", id="an unknown entry in the cluster"),
        pytest.param('"min_isr": 2', '"minisr": 2', 6, "unknown entry 'minisr'", id="an unknown setting"),
        pytest.param('"crash"', '"meteor"', 13, r"faults\[0\]: unknown kind of fault 'meteor'", id="the first fault"),
        pytest.param('"pause"', '"meteor"', 14, r"faults\[1\]: unknown kind", id="the second fault"),
        pytest.param('"slow"', '"meteor"', 16, r"faults\[2\]: unknown kind", id="a fault behind one with a trigger"),
        pytest.param('"at_us": 3', '"at_us": -3', 16, r"faults\[2\]: times, amounts", id="a negative time"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(tmp_path, old, new, line, words):
    path = written(tmp_path, PLAN.replace(old, new, 1))
    with pytest.raises(PlanError, match=rf"plan\.json, line {line}: .*{words}"):
        read_plan(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("[]", "line 1: a plan is a JSON object", id="no object"),
        pytest.param("{}", "line 1: faults: must be a list", id="no faults"),
        pytest.param('{"faults": {}}', "line 1: faults: must be a list", id="faults are no list"),
        pytest.param('{"faults": [], "workload": {"producers": 0}}', "at least one producer", id="nobody writes"),
        pytest.param('{"faults": [], "workload": {"speed": 1}}', "workload: .*speed", id="an unknown word"),
        pytest.param('{"faults": [], "workload": {"batch": "3"}}', "workload", id="a text for a number"),
        pytest.param('{"faults": [], "workload": {"batch": 1.5}}', "workload", id="half a record"),
        pytest.param('{"faults": [], "workload": []}', "workload", id="a list of work"),
        pytest.param('{"faults": [], "cluster": 5}', "cluster", id="a number of clusters"),
        pytest.param(
            '{"faults": [], "cluster": {"brokers": 2}}', "replication factor 3 is larger", id="too few brokers"
        ),
        pytest.param('{"faults": [], "faults_end_us": -1}', "faults_end_us", id="an end before the start"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(tmp_path, text, words):
    with pytest.raises(PlanError, match=words):
        read_plan(written(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PlanError, match=r"nowhere\.json: cannot be read \(No such file or directory"):
        read_plan(tmp_path / "nowhere.json")


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "plan.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PlanError, match=r"plan\.json: cannot be read \(not UTF-8 text"):
        read_plan(path)


@pytest.mark.parametrize(
    "kwargs", [{"producers": 0}, {"consumers": -1}, {"interval_us": 0}, {"poll_us": 0}, {"batch": 0}]
)
def test_a_workload_that_cannot_be_is_refused(kwargs):
    with pytest.raises(PlanError, match="workload: needs at least one producer"):
        WorkloadSpec(**kwargs)


def test_a_fault_must_strike_a_broker_that_exists(tmp_path):
    path = written(tmp_path, PLAN.replace('"kind": "slow"', '"kind": "slow", "target": "b4"'))
    with pytest.raises(PlanError, match=r"plan\.json, line 16: faults\[2\]: .*b4"):
        read_plan(path)


def test_the_controller_is_no_target(tmp_path):
    path = written(tmp_path, PLAN.replace('"kind": "slow"', '"kind": "crash", "target": "b0"'))
    with pytest.raises(PlanError, match=r"plan\.json, line 16: faults\[2\]: .*b0"):
        read_plan(path)


def test_a_plan_in_another_time_scale():
    plan = Plan(
        index=0,
        seed=1,
        noise_seed=2,
        profile="by hand",
        cluster=ClusterSpec(settings=Settings(session_us=1_000_000, min_isr=1)),
        workload=WorkloadSpec(interval_us=100, poll_us=200, batch=3),
        faults=(
            Fault("slow", 10, 20, amount=30),
            Fault("lossy", 40, 50, amount=60),
            Fault("clock-jump", 1, 2, amount=3),
        ),
        faults_end_us=700,
    )

    scaled = plan.scaled(2.5)

    assert scaled.cluster.settings.session_us == 2_500_000
    assert scaled.cluster.settings.min_isr == 1
    assert (scaled.workload.interval_us, scaled.workload.poll_us, scaled.workload.batch) == (250, 500, 3)
    assert [(f.at_us, f.lasts_us, f.amount) for f in scaled.faults] == [(25, 50, 75), (100, 125, 60), (2, 5, 3)]
    assert scaled.faults_end_us == 1750
    assert (scaled.noise_seed, plan.scaled(1)) == (plan.noise_seed, plan)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"faults": [], "seed": ' + "9" * 6_000 + "}", "not JSON"),
        ('{"faults": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deep"),
        ('{"faults": [], "faults_end_us": 86400000001}', "must be within a day"),
        ('{"faults": [], "cluster": {"brokers": 3000000000}}', "at most 1000 brokers"),
        ('{"faults": [], "cluster": {"partitions": 3000000000}}', "10000 partitions"),
        ('{"faults": [], "workload": {"producers": 3000000000}}', "at most 1000 producers"),
        ('{"faults": [], "cluster": {"settings": {"lag_time_us": 86400000001}}}', "at most 86400000000 .a day."),
    ],
)
def test_what_nobody_could_run_is_refused_in_a_sentence(tmp_path, text, words):
    path = tmp_path / "plan.json"
    path.write_text(text)

    with pytest.raises(PlanError, match=words):
        read_plan(path)


ON_LOGS = [("transactions", "transactional"), ("share-group", "share_members")]


@pytest.mark.parametrize(("kind", "entry"), ON_LOGS)
def test_transactions_and_share_groups_need_acks_of_all(kind, entry):
    plan = generate_plan(1, 0, "intact", ClusterSpec(acks="1"))
    assert plan.with_workload(kind).cluster.acks == "all"
    data = plan.to_json()
    data["workload"][entry] = 2
    with pytest.raises(PlanError, match=f'{entry} needs acks "all"'):
        Plan.from_json(data)


@pytest.mark.parametrize(("kind", "entry"), ON_LOGS)
def test_a_plan_with_either_survives_its_file(kind, entry):
    plan = generate_plan(1, 0, "intact", ClusterSpec()).with_workload(kind)
    assert Plan.from_json(json.loads(plan.to_text())) == plan
    assert plan.to_json()["workload"][entry] == getattr(plan.workload, entry) > 0
    assert plan.beside_sends == kind


def test_transactions_and_share_groups_do_not_go_together():
    with pytest.raises(PlanError, match="cannot be had together"):
        WorkloadSpec(transactional=2, share_members=2)


def test_what_clients_do_beside_sends_has_a_name():
    plan = generate_plan(1, 0, "intact", ClusterSpec())
    assert (plan.beside_sends, plan.with_workload("register").beside_sends) == ("", "register")

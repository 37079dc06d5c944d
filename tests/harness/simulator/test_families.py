"""Families that are not Kafka's, in the simulator: correct forms hold, flawed ones are found out, and differences are told."""

import pytest

from tidemark.checkers import check
from tidemark.harness.runs.suffering import suffer
from tidemark.harness.simulator import simulate
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Fault, Plan, WorkloadSpec, generate_plan
from tidemark.nemesis.fault import Trigger
from tidemark.nemesis.kinds import CONTROLLER_KINDS, CONTROLLER_LINKS, KINDS, by_kind
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import family_of, parse_variant

CORRECT = ("raft", "quorum-hwm+repaired", "reconciliation+own-generation", "bookkeeper")


def run(variant, index, *, profile="intact", brokers=3):
    return execute(generate_plan(1, index, profile, ClusterSpec(brokers, brokers)), variant)


def names(judged):
    return {anomaly.name for anomaly in judged.verdict.anomalies if anomaly.verdict == "violation"}


@pytest.mark.parametrize("variant", CORRECT)
@pytest.mark.parametrize(("profile", "brokers"), [("intact", 3), ("intact", 4), ("destructive", 5)])
def test_correct_forms_hold(variant, profile, brokers):
    for index in range(12):
        assert names(run(variant, index, profile=profile, brokers=brokers)) == set()


@pytest.mark.parametrize("index", [10883, 12195])
def test_a_reader_that_misses_what_is_confirmed_is_told_again(index):
    """Found by 20,000 plans: a fault swallowed the last word of an idle writer, and a log was behind for ever."""
    assert names(execute(generate_plan(21, index, "intact", ClusterSpec()), "bookkeeper")) == set()


def test_pre_vote_and_leases_hold():
    for index in range(20):
        assert names(run("raft+pre-vote+lease-reads", index)) == set()


@pytest.mark.parametrize(
    ("variant", "index", "brokers", "found"),
    [
        ("quorum-hwm", 7, 3, "divergence"),
        ("quorum-hwm+majority-index+own-generation", 5, 3, "lost-committed-write"),
        ("quorum-hwm+rejoin=conflict+compared+own-generation", 0, 4, "acked-by-too-few"),
        ("quorum-hwm+rejoin=conflict+compared+majority-index", 183, 3, "unsafe-commit"),
        ("quorum-hwm+rejoin=conflict+majority-index+own-generation", 64, 3, "acked-by-too-few"),
        ("reconciliation+one-round+own-generation", 94, 3, "divergence"),
        ("raft+vote-for-anyone", 11, 3, "leader-completeness"),
        ("raft+commit-any-term", 31, 5, "unsafe-commit"),
        ("raft+forget-votes", 24, 5, "double-vote"),
        ("raft+lease-reads+lease-never-ends", 292, 3, "stale-poll"),
        ("bookkeeper+no-fencing", 10, 3, "lost-committed-write"),
        ("bookkeeper+ack-before-quorum", 3, 3, "acked-by-too-few"),
        ("bookkeeper+recovery-trusts-lac", 0, 3, "lost-committed-write"),
    ],
)
def test_flawed_forms_are_found_out_by_random_plans(variant, index, brokers, found):
    assert found in names(run(variant, index, brokers=brokers))
    assert names(run("raft", index, brokers=brokers)) == set()


def test_without_fsync_a_power_loss_takes_what_was_acknowledged():
    assert "lost-committed-write" in names(run("raft+no-sync", 2, profile="destructive"))
    assert names(run("raft", 2, profile="destructive")) == set()


@pytest.mark.parametrize(("flaw", "index"), [("no-cookies", 20), ("no-sync", 1)])
def test_a_bookie_must_know_what_it_has_lost(flaw, index):
    assert "lost-committed-write" in names(run(f"bookkeeper+{flaw}", index, profile="destructive"))
    assert names(run("bookkeeper", index, profile="destructive")) == set()


def test_a_metadata_store_may_be_out_of_reach():
    plan = plan_of(Fault("controller-crash", 1_000_000, 1_500_000), Fault("crash", 1_200_000, 500_000, target="b1"))
    history = simulate(plan, parse_variant("bookkeeper")).history

    assert check(history).valid == "valid"
    assert [event[1] for event in history.trace if event[2] == "lead" and event[0] < 2_500_000] == [1]
    assert "controller-crash: the metadata store is meant" in history.meta["counterparts"]
    assert (history.meta["min_isr"], history.meta["contract"]) == (2, "ack-quorum")


@pytest.mark.parametrize("variant", [*CORRECT, "quorum-hwm"])
def test_the_same_plan_gives_the_same_run(variant):
    plan = generate_plan(1, 7, "intact", ClusterSpec())

    assert execute(plan, variant).digest == execute(plan, variant).digest


def plan_of(*faults, unclean=False):
    cluster = ClusterSpec.from_json({"settings": {"unclean_election": unclean}})
    return Plan(0, 0, 1, "by hand", cluster, WorkloadSpec(), faults, 3_000_000)


def test_what_cannot_be_suffered_is_left_out_and_told():
    plan = plan_of(
        Fault("unclean-election", 1_000_000, target="b2"),
        Fault("forced-election", 1_500_000, target="b2"),
        Fault("crash", 2_000_000, 500_000, after=Trigger("isr", 1)),
        unclean=True,
    )
    history = simulate(plan, parse_variant("raft")).history

    assert [entry[3] for entry in history.nemesis if entry[1] == "strike"] == ["forced-election"]
    first, second, third = history.meta["not_suffered"]
    assert first.startswith("fault 0, unclean-election: nobody can make a server lead")
    assert second == "fault 2, crash: it waits for isr, which never happens here"
    assert third.startswith("unclean.leader.election.enable means nothing")
    assert any(sentence.startswith("forced-election: the server stands") for sentence in history.meta["counterparts"])


def test_to_kafka_a_plan_is_what_it_is():
    plan = generate_plan(1, 2, "destructive", ClusterSpec())
    suffered = suffer(plan, family_of(parse_variant("kafka-2.7")))

    assert suffered.faults == plan.faults
    assert suffered.told() == {}


def test_an_election_is_a_candidacy():
    plan = plan_of(Fault("forced-election", 1_000_000, target="b3"))
    trace = simulate(plan, parse_variant("raft")).history.trace

    assert [(event[1], event[4]) for event in trace if event[2] == "lead"] == [(1, 1), (3, 2)]


def test_word_of_who_leads_can_be_lost_without_a_controller():
    deaf = Fault("lost-leadership", 900_000, 2_000_000, target="b2")
    plan = plan_of(deaf, Fault("forced-election", 1_000_000, target="b3"))
    trace = simulate(plan, parse_variant("raft")).history.trace

    votes = [(event[1], event[0]) for event in trace if event[2] == "vote" and event[4] == 2]
    assert {node for node, time in votes if time < 1_100_000} == {3, 1}


def test_consumers_may_read_from_any_server_below_the_mark():
    history = simulate(generate_plan(1, 0, "intact", ClusterSpec()), parse_variant("quorum-hwm+repaired")).history

    assert check(history).valid == "valid"
    assert history.meta["isr"] is False
    assert history.meta["min_isr"] == 2


def test_no_ops_are_not_shown_to_consumers():
    history = simulate(generate_plan(1, 0, "intact", ClusterSpec()), parse_variant("raft")).history
    written = [value for event in history.trace if event[2] == "append" for value in event[6]]
    read = [
        value
        for op in history.ops
        if op.f == "poll" and op.type == "ok"
        for _, got in op.value
        for records in got.values()
        for _, value in records
    ]

    assert min(written) < 0 <= min(read)


def test_what_is_about_a_controller_is_left_out_where_there_is_none():
    for kind in (*CONTROLLER_KINDS, *CONTROLLER_LINKS):
        assert kind in by_kind(family_of(parse_variant("raft")).not_suffered)


def test_every_word_of_the_list_is_a_kind_of_fault():
    family = family_of(parse_variant("raft"))

    assert {*family.not_suffered, *family.counterparts} <= {
        *KINDS,
        *(need for row in KINDS.values() for need in row.needs),
    }
    assert not set(family.not_suffered) & set(family.counterparts)


def test_another_record_may_be_committed_where_one_was_permitted_to_be_lost():
    """Disks are lost, and with them what was committed at offset 0."""
    plan = generate_plan(1, 420, "destructive", ClusterSpec(brokers=5, replication_factor=5))
    judged = check(simulate(plan, parse_variant("raft")).history)
    found = judged.named("state-machine-safety")

    assert {(one.verdict, one.clause) for one in found} == {("permitted", "lost-disk")}
    assert judged.valid != "invalid"

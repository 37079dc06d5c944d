"""Young plans and changed ones: what is drawn, that it is what it says, and that it is a plan that can be played from its file."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from played_scenes import MS, PROFILES_OF_HUNTS

from tidemark.harness.search.hunt.arms import Arms
from tidemark.harness.search.hunt.circumstances import SHAPES, Circumstances
from tidemark.harness.search.hunt.episodes import MOST_FAULTS, episode, with_faults
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.search.hunt.mutations import EARLIEST_US, Mutations
from tidemark.harness.simulator import simulate
from tidemark.nemesis import PROFILES, SIMULATED_ONLY, Fault, Plan, WorkloadSpec
from tidemark.nemesis.kinds import CONTROLLER_LINKS, DAMAGES, by_kind
from tidemark.nemesis.long_lasting import end_of_long, is_long
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.families import family_of, parse_variant


def young(count, profile="intact", *, free=True, cluster=None):
    kinds, circumstances = Kinds(profile), Circumstances(cluster or ClusterSpec(), profile, free=free)
    return [episode(Random(seed), kinds, circumstances) for seed in range(count)]


@pytest.mark.parametrize("profile", PROFILES_OF_HUNTS)
def test_they_have_the_faults_of_their_profile_and_those_on_talks_with_the_controller(profile):
    drawn = {fault.kind for plan in young(400, profile) for fault in plan.faults}

    hunted = {
        "destructive": SIMULATED_ONLY - {"power-metadata-by-file"} | {*DAMAGES},
        "reassignments": {"one-fewer-replica", "one-more-replica", "reassignment-taken-back"},
    }.get(profile, frozenset())
    assert drawn <= set(PROFILES[profile]) | set(CONTROLLER_LINKS) | hunted
    assert drawn >= {*CONTROLLER_LINKS, *hunted}


def test_what_is_no_fault_is_drawn_too_and_is_in_the_plan():
    plans = young(400)
    shapes = Counter((plan.cluster.brokers, plan.cluster.replication_factor) for plan in plans)

    assert set(shapes) == {*SHAPES, (3, 3)}
    assert shapes[3, 3] > 300
    assert {plan.cluster.settings.max_fetch_batches for plan in plans} == {1, 2, Settings().max_fetch_batches}
    assert 20 < sum(plan.cluster.partitions == 2 for plan in plans) < 60
    assert {plan.cluster.partitions for plan in plans} == {1, 2}
    assert {plan.workload.burst for plan in plans} == {1, 3, 5, 10}
    assert {plan.workload.patience_us // Settings().produce_timeout_us for plan in plans} == {0, 1, 2, 3}
    assert 20 < sum(plan.workload.again_us > 0 for plan in plans) < 60
    assert not any(plan.workload.again_us for plan in young(100, "deletions")), "a leader may not have it any more"
    assert all(Plan.from_json(plan.to_json()) == plan for plan in plans)


@pytest.mark.parametrize(("profiles", "is_plain"), [(("intact",), True), (("intact", "destructive"), False)])
def test_where_a_script_is_to_tell_it_there_is_one_partition_and_nothing_is_sent_again(profiles, is_plain):
    arms = Arms(profiles, ClusterSpec(), free=True, family=family_of(parse_variant("kafka-4.0")))
    plans = [arms["intact"].young(Random(seed)) for seed in range(300)]

    assert all(plan.cluster.partitions == 1 and not plan.workload.again_us for plan in plans) == is_plain


def test_a_cluster_that_was_asked_for_stays():
    asked = ClusterSpec(brokers=5, replication_factor=2, partitions=2)
    clusters = [plan.cluster for plan in young(200, free=False, cluster=asked)]
    shapes = {(one.brokers, one.replication_factor, one.partitions) for one in clusters}

    assert shapes == {(5, 2, 2)}


def test_no_fault_is_stretched_beyond_what_a_run_can_make_up_for():
    """A broker that had been paused for 75 s came back to 19,000 records, in fetches of one batch, and was taken for stuck."""
    mutations, rng = Mutations(Kinds("intact"), Circumstances(ClusterSpec(), "intact", free=True)), Random(4)
    plan = with_faults(young(1)[0], [Fault("pause", 500 * MS, 2_000 * MS, "b1", 0, 0, 0)])
    longest = 0
    for _ in range(2_000):
        plan = mutations.of(rng, plan, (), plan)
        longest = max(longest, *(fault.lasts_us for fault in plan.faults), 0)
        plan = plan if plan.faults else with_faults(plan, [Fault("pause", 500 * MS, longest, "b1", 0, 0, 0)])

    wait = ClusterSpec().settings.longest_wait_us
    assert 2 * wait < longest <= 4 * wait


def test_where_replicas_move_there_is_somewhere_to_go():
    assert all(p.cluster.brokers > p.cluster.replication_factor for p in young(200, "reassignments"))


def test_changed_plans_are_plans():
    circumstances = Circumstances(ClusterSpec(), "destructive", free=True)
    mutations, rng = Mutations(Kinds("destructive"), circumstances), Random(3)
    one, *others = young(40, "destructive")
    for turn in range(1_500):
        changed = mutations.of(rng, one, (700_000,) if turn % 2 else (), rng.choice(others))
        assert Plan.from_json(changed.to_json()) == changed
        assert len(changed.faults) <= MOST_FAULTS
        assert all(EARLIEST_US <= fault.at_us < changed.faults_end_us for fault in changed.faults)
        one = changed


def test_partitions_that_a_smaller_cluster_lacks_are_others():
    """As a run takes them, modulo their number; a plan's file names no others."""
    (plan,) = young(1)
    faults = [replace(plan.faults[0], partition=partition) for partition in (0, 1, 3)]

    assert [fault.partition for fault in with_faults(plan, faults).faults] == [0, 0, 0]
    both = replace(plan, cluster=replace(plan.cluster, partitions=2))
    assert [fault.partition for fault in with_faults(both, faults).faults] == [0, 1, 1]


def test_brokers_that_a_smaller_cluster_lacks_are_others():
    plan = Plan(0, 0, 0, "by hand", ClusterSpec(), WorkloadSpec(), (), 0)
    moved = with_faults(plan, [Fault("pause", 9, 9, "b5"), Fault("pause", 9, 9, "b3")])

    assert [fault.target for fault in moved.faults] == ["b2", "b3"]


def test_now_and_then_a_fault_outlasts_everybody_and_the_plan_outlasts_it():
    plans = young(300)
    long = [plan for plan in plans if any(is_long(fault, plan.cluster.settings) for fault in plan.faults)]

    assert 30 < len(long) < 150
    assert all(plan.faults_end_us > end_of_long([*plan.faults], plan.cluster.settings) - MS for plan in plans)


USUAL = WorkloadSpec()


def run(workload=USUAL, faults=(), **settings):
    plan = Plan(0, 0, 5, "by hand", ClusterSpec(settings=Settings(**settings)), workload, faults, 3_000 * MS)
    return simulate(plan, parse_variant("kafka-4.0")).history


def test_bursts_are_as_many_sends_at_once():
    ops = run(WorkloadSpec(producers=1, interval_us=40 * MS, burst=5)).ops
    sent = [op.time for op in ops if (op.type, op.f) == ("invoke", "send")]
    rests = [later - time for time, later in pairwise(sent)]
    long = [place for place, rest in enumerate(rests) if rest > 80 * MS]

    assert {later - place for place, later in pairwise(long)} == {5}


def test_a_patient_client_hears_the_brokers_own_time_out():
    """Two followers are cut off: nothing is committed, and the leader answers so."""
    cut = tuple(Fault("from-peers", 500 * MS, 2_400 * MS, f"b{b}") for b in (2, 3))
    late = Settings().produce_timeout_us

    def longest(workload):
        history = run(workload, cut, lag_time_us=10_000 * MS)
        began = {}
        spans = Counter()
        for op in history.ops:
            if op.f == "send" and op.type == "invoke":
                began[op.process] = op.time
            elif op.f == "send":
                spans[op.type, op.error] = max(spans[op.type, op.error], op.time - began[op.process])
        return spans["info", "REQUEST_TIMED_OUT"]

    assert longest(WorkloadSpec()) == late
    assert late < longest(WorkloadSpec(patience_us=3 * late)) < 2 * late


def test_small_fetches_bring_few_batches():
    """A follower that was away catches up in many fetches."""
    away = (Fault("from-peers", 500 * MS, 1_000 * MS, "b2"),)
    busy = WorkloadSpec(producers=4, interval_us=10 * MS)

    def hw_moves(history):
        return len({event[0] for event in history.trace if event[1:3] == (2, "append")})

    assert hw_moves(run(busy, away, max_fetch_batches=1)) > hw_moves(run(busy, away)) + 20


def test_patience_and_bursts_travel_with_the_plan():
    spec = WorkloadSpec(burst=5, patience_us=3_000 * MS, again_us=400 * MS)
    plan = replace(young(1)[0], workload=spec)

    assert Plan.from_json(plan.to_json()).workload == spec
    assert plan.scaled(2).workload.patience_us == 6_000 * MS
    assert plan.scaled(2).workload.again_us == 800 * MS
    assert not {"burst", "patience_us", "again_us"} & set(WorkloadSpec().to_json())


def test_hunts_have_controllers_that_fail():
    assert any(fault.kind == "controller-crash" for plan in young(60, "controllers") for fault in plan.faults)


@pytest.mark.parametrize("variant", ["raft", "bookkeeper"])
def test_what_servers_cannot_suffer_is_not_drawn(variant):
    family = family_of(parse_variant(variant))
    nothing = by_kind(family.not_suffered).keys()
    kinds = Arms(["destructive"], ClusterSpec(), free=True, family=family)["destructive"].kinds
    rng = Random(1)

    assert nothing & Kinds("destructive").known
    assert not kinds.known & nothing
    assert not {draw(rng) for _ in range(500) for draw in (kinds.any, kinds.hindrance)} & nothing


def test_of_servers_that_vote_there_are_more_often_five():
    def shaped(*, votes):
        rng, circumstances = Random(1), Circumstances(ClusterSpec(), "intact", free=True, votes=votes)
        return Counter(circumstances.cluster(rng).brokers for _ in range(1_000))

    assert 60 < shaped(votes=True)[5] < 140
    assert shaped(votes=False)[5] < 60


def test_groups_that_change_are_tried_with_two_servers_to_spare():
    shapes = Counter()
    rng = Random(1)
    circumstances = Circumstances(ClusterSpec(), "reassignments", free=True, votes=True)
    for _ in range(100):
        cluster = circumstances.cluster(rng)
        shapes[cluster.brokers, cluster.replication_factor] += 1

    assert shapes.keys() == {(4, 3), (6, 4)}
    assert 30 < shapes[6, 4] < 70

"""Random plans: the same arguments give the same plan anywhere; a profile holds only its kinds; every kind is drawn."""

import subprocess
import sys
from collections import Counter
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from tidemark.checkers.replicas.liveness.bounds import TIMES, Bounds
from tidemark.nemesis import (
    LASTING_CONTROLLER_ONLY,
    PROFILES,
    REAL_ONLY,
    SIMULATED_ONLY,
    ProfileError,
    cluster_of_plans,
    generate_plan,
)
from tidemark.nemesis.kinds import (
    CONTROLLER_KINDS,
    CONTROLLER_LINKS,
    DAMAGES,
    DELETIONS,
    FAILS_LOG_DIRS,
    KINDS,
    MACHINE_KINDS,
)
from tidemark.nemesis.long_lasting import is_long
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

ROOT = Path(__file__).parents[2]
SECOND = 1_000_000
PRINT_PLANS = """
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
for index in range(20):
    for profile in ("intact", "destructive"):
        print(generate_plan(7, index, profile, ClusterSpec(brokers=5, partitions=3)).to_text())
"""


@pytest.fixture(scope="module")
def plans():
    """Profile → its first 300 plans."""
    return {
        profile: [generate_plan(1, i, profile, ClusterSpec(partitions=2)) for i in range(300)] for profile in PROFILES
    }


def test_two_processes_draw_the_same_plans():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PRINT_PLANS],
            env={"PYTHONHASHSEED": seed},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(outputs) == 1
    assert outputs.pop().count('"noise_seed"') == 40


@pytest.mark.parametrize(("seed", "index", "profile"), [(2, 0, "intact"), (1, 1, "intact"), (1, 0, "destructive")])
def test_seed_index_and_profile_each_make_another_plan(seed, index, profile):
    assert (
        generate_plan(1, 0, "intact", ClusterSpec()).faults != generate_plan(seed, index, profile, ClusterSpec()).faults
    )


def test_the_settings_of_the_cluster_do_not_change_the_faults():
    """So campaigns under different settings are paired."""
    one = generate_plan(1, 0, "intact", ClusterSpec())
    other = generate_plan(1, 0, "intact", ClusterSpec(acks="1", settings=Settings(min_isr=1)))

    assert one.faults == other.faults
    assert one.noise_seed == other.noise_seed


def test_there_are_twenty_one_profiles():
    assert list(PROFILES) == [
        *("intact", "destructive", "machines", "controllers", "controller-links"),
        *("deletions", "retention", "retention-destructive"),
        *("reassignments", "reassignments-destructive"),
        *("metadata", "long", "controller-reassignments", "files", "members", "settings", "features", "log-dirs"),
        *("unclean", "log-dir-failures", "voters"),
    ]


def test_only_one_profile_takes_metadata_back():
    assert [name for name, kinds in PROFILES.items() if set(kinds) & SIMULATED_ONLY] == ["metadata"]
    assert set(PROFILES["metadata"]) - set(PROFILES["destructive"]) == {"power-metadata"}


def test_of_long_plans_some_faults_outlast_what_anybody_waits_for_and_the_plan_outlasts_them(plans):
    settings = Settings()
    for plan in plans["long"]:
        long = [fault for fault in plan.faults if is_long(fault, settings)]
        assert len(long) <= 3
        assert all(fault.at_us + fault.lasts_us < plan.faults_end_us for fault in long)
        assert all(fault.lasts_us <= settings.longest_wait_us * 7 // 4 for fault in long)
    assert sum(any(is_long(fault, settings) for fault in plan.faults) for plan in plans["long"]) > 290
    assert PROFILES["long"] == PROFILES["intact"]
    assert not any(is_long(fault, settings) for plan in plans["destructive"] for fault in plan.faults)


def test_what_is_long_follows_from_the_times():
    """No bound of liveness is longer than the longest wait, but three rounds of votes, which the longest faults outlast."""
    settings = Settings(session_us=3 * SECOND, lag_time_us=5 * SECOND)
    plan = generate_plan(1, 0, "long", ClusterSpec(settings=settings))
    times = {name: getattr(settings, name) for name in TIMES}

    bounds, usual = (
        Bounds.of({"times": times}),
        Bounds.of({"times": {name: getattr(Settings(), name) for name in TIMES}}),
    )
    assert max(astuple(replace(bounds, voted_us=0))) <= settings.longest_wait_us
    assert usual.voted_us < Settings().longest_wait_us * 7 // 4
    assert any(is_long(fault, settings) for fault in plan.faults)


def test_in_one_profile_replicas_move_while_controllers_fail(plans):
    kinds = set(PROFILES["controllers"]) | {"reassignment", "reassignment-taken-back"}

    assert set(PROFILES["controller-reassignments"]) == kinds
    assert any(
        {"reassignment", "controller-crash"} <= {fault.kind for fault in plan.faults}
        for plan in plans["controller-reassignments"]
    )


def test_the_profiles_differ_in_what_destroys_logs_and_in_unclean_elections():
    assert set(PROFILES["destructive"]) - set(PROFILES["intact"]) == {"power", "power-all", "disk", "unclean-election"}


def test_in_one_profile_the_files_of_one_broker_are_damaged(plans):
    assert [name for name, kinds in PROFILES.items() if set(kinds) & set(DAMAGES)] == ["files"]
    struck = [{fault.target for fault in plan.faults if fault.kind in DAMAGES} for plan in plans["files"]]

    assert {len(targets) for targets in struck} == {1}
    assert set().union(*struck) == {"b1", "b2", "b3"}
    assert {fault.kind for plan in plans["files"] for fault in plan.faults} >= {"flip-bits", "cut-tail"}
    for plan in plans["files"]:
        assert not all(fault.after for fault in plan.faults if fault.kind in DAMAGES)


def test_in_one_profile_members_leave(plans):
    assert [name for name, kinds in PROFILES.items() if "leave" in kinds] == ["members"]
    assert set(PROFILES["members"]) - set(PROFILES["intact"]) == {"leave"}
    assert all(any(fault.kind == "leave" for fault in plan.faults) for plan in plans["members"])


def test_in_one_profile_unclean_elections_are_allowed_for_a_while_and_most_plans_leave_a_replica_behind(plans):
    assert [name for name, kinds in PROFILES.items() if "unclean-allowed" in kinds] == ["unclean"]
    assert set(PROFILES["unclean"]) - set(PROFILES["intact"]) == {"unclean-allowed"}
    for plan in plans["unclean"]:
        spans = [(one.at_us, one.at_us + one.lasts_us) for one in plan.faults if one.kind == "unclean-allowed"]
        assert spans
        assert not plan.cluster.settings.unclean_election
    behind = [plan for plan in plans["unclean"] if {"b1", "b2", "b3"} <= {fault.target for fault in plan.faults}]
    assert 0.5 < len(behind) / len(plans["unclean"]) < 0.7


def test_a_profile_without_kinds_that_end_a_broker_leaves_none_behind():
    plans = [generate_plan(1, index, "slow+unclean-allowed", ClusterSpec()) for index in range(20)]

    assert {fault.kind for plan in plans for fault in plan.faults} == {"slow", "unclean-allowed"}


def test_in_one_profile_logs_move_and_half_of_its_plans_fall_silent(plans):
    assert [name for name, kinds in PROFILES.items() if "move-log-dir" in kinds] == ["log-dirs", "log-dir-failures"]
    assert set(PROFILES["log-dirs"]) - set(PROFILES["intact"]) == {"move-log-dir"}
    assert all(any(fault.kind == "move-log-dir" for fault in plan.faults) for plan in plans["log-dirs"])
    silent = [plan for plan in plans["log-dirs"] if plan.workload.sends is not None]
    assert 0.4 < len(silent) / len(plans["log-dirs"]) < 0.6
    assert all(send.at_us < 0.7 * plan.faults_end_us for plan in silent for send in plan.workload.sends)
    assert {send.producer for plan in silent for send in plan.workload.sends} >= {1, 2}
    others = {*plans} - {"log-dirs", "log-dir-failures"}
    assert not any(plan.workload.sends for name in others for plan in plans[name])


def test_in_one_more_profile_log_directories_fail_for_longer_than_a_write_takes(plans):
    assert (
        set(PROFILES["log-dir-failures"]) - set(PROFILES["log-dirs"])
        == FAILS_LOG_DIRS
        == {"fail-log-dir", "lose-log-dir"}
    )
    of_plans = [[fault for fault in plan.faults if fault.kind in FAILS_LOG_DIRS] for plan in plans["log-dir-failures"]]
    assert all(of_plans)
    failures = [fault for failing in of_plans for fault in failing]
    assert {fault.kind for fault in failures} == FAILS_LOG_DIRS
    assert min(fault.lasts_us for fault in failures) >= SECOND


def test_a_harder_plan_damages_the_files_of_others_as_well():
    plans = [generate_plan(1, index, "files", ClusterSpec(), 4) for index in range(60)]

    assert any(len({fault.target for fault in plan.faults if fault.kind in DAMAGES}) > 1 for plan in plans)


def test_only_one_profile_needs_machines():
    assert set(PROFILES["machines"]) - set(PROFILES["destructive"]) == set(MACHINE_KINDS)
    assert not REAL_ONLY & set(PROFILES["destructive"])


def test_only_one_profile_needs_a_controller_that_lasts():
    assert [name for name, kinds in PROFILES.items() if set(kinds) & LASTING_CONTROLLER_ONLY] == [
        *("controllers", "controller-reassignments", "voters")
    ]
    assert set(PROFILES["controllers"]) - set(PROFILES["intact"]) == set(CONTROLLER_KINDS) - {"remove-voter"}


def test_in_one_profile_voters_are_removed(plans):
    assert [name for name, kinds in PROFILES.items() if "remove-voter" in kinds] == ["voters"]
    assert set(PROFILES["voters"]) - set(PROFILES["controllers"]) == {"remove-voter"}
    removals = [[fault for fault in plan.faults if fault.kind == "remove-voter"] for plan in plans["voters"]]
    assert all(any(fault.after is None for fault in of_plan) for of_plan in removals)
    waiting = [fault.after for of_plan in removals for fault in of_plan if fault.after]
    assert {trigger.event for trigger in waiting} == {"controls", "elect"}


def test_one_profile_disturbs_each_talk_with_the_controller_by_itself():
    assert [name for name, kinds in PROFILES.items() if set(kinds) & set(CONTROLLER_LINKS)] == ["controller-links"]
    assert set(PROFILES["controller-links"]) - set(PROFILES["intact"]) == set(CONTROLLER_LINKS)


def test_three_profiles_delete_records_on_purpose():
    assert [name for name, kinds in PROFILES.items() if set(kinds) & set(DELETIONS)] == [
        *("deletions", "retention", "retention-destructive")
    ]
    assert set(PROFILES["deletions"]) - set(PROFILES["intact"]) == {"delete-records"}
    assert set(PROFILES["retention"]) - set(PROFILES["intact"]) == set(DELETIONS)
    assert set(PROFILES["retention-destructive"]) - set(PROFILES["destructive"]) == set(DELETIONS)


@pytest.mark.parametrize("profile", ["deletions", "retention", "retention-destructive"])
def test_a_plan_that_may_delete_does(plans, profile):
    assert all(set(DELETIONS) & {fault.kind for fault in plan.faults} for plan in plans[profile])


def test_a_log_start_that_moved_is_waited_for_in_plans_that_delete(plans):
    def waited_for(profile):
        return {fault.after.event for plan in plans[profile] for fault in plan.faults if fault.after}

    assert "log-start" in waited_for("retention") & waited_for("retention-destructive")
    assert "log-start" not in waited_for("intact") | waited_for("destructive") | waited_for("machines")


def test_three_profiles_move_replicas():
    assert [name for name, kinds in PROFILES.items() if "reassignment" in kinds] == [
        *("reassignments", "reassignments-destructive", "controller-reassignments")
    ]
    assert set(PROFILES["reassignments"]) - set(PROFILES["intact"]) == {"reassignment"}
    assert set(PROFILES["reassignments-destructive"]) - set(PROFILES["destructive"]) == {"reassignment"}


def test_a_plan_that_may_move_a_replica_does_at_a_time_of_its_own(plans):
    for plan in plans["reassignments"]:
        assert any(fault.kind == "reassignment" and fault.after is None for fault in plan.faults)


def test_many_plans_move_several_so_that_one_may_strike_before_the_last_has_ended(plans):
    moves = [sum(fault.kind == "reassignment" for fault in plan.faults) for plan in plans["reassignments"]]

    assert sum(count > 1 for count in moves) > 150


@pytest.mark.parametrize(
    ("given", "brokers"), [(ClusterSpec(), 4), (ClusterSpec(brokers=5), 5), (ClusterSpec(5, 5), 6)]
)
def test_where_replicas_move_there_is_a_broker_without_one(given, brokers):
    assert generate_plan(1, 0, "reassignments", given).cluster.brokers == brokers
    assert generate_plan(1, 0, "intact", given).cluster.brokers == given.brokers


def test_what_befalls_replicas_that_move_is_waited_for_in_plans_that_move_them(plans):
    def waited_for(profile):
        return {fault.after.event for plan in plans[profile] for fault in plan.faults if fault.after}

    assert {"reassign", "removed"} <= waited_for("reassignments")
    assert not {"reassign", "removed"} & (waited_for("intact") | waited_for("destructive") | waited_for("retention"))


def test_together_the_profiles_have_every_kind():
    assert {kind for kinds in PROFILES.values() for kind in kinds} == set(KINDS) - {
        "bridge",
        "from-clients",
        "majorities-ring",
        "one-fewer-replica",
        "one-more-replica",
        "power-metadata-by-file",
    }


@pytest.mark.parametrize("profile", list(PROFILES))
def test_a_profile_draws_its_kinds_all_of_them_and_no_others(plans, profile):
    assert {fault.kind for plan in plans[profile] for fault in plan.faults} == set(PROFILES[profile])


def test_no_kind_crowds_out_the_others(plans):
    counts = Counter(fault.kind for plan in plans["destructive"] for fault in plan.faults)

    assert max(counts.values()) < 0.25 * counts.total()
    assert min(counts.values()) > 0.01 * counts.total()


@pytest.mark.parametrize("profile", list(PROFILES))
def test_every_plan_has_a_kind_that_moves_leaders(plans, profile):
    moving = {"fast-failover", "forced-election", "crash-all"}

    assert all(moving & {fault.kind for fault in plan.faults} for plan in plans[profile])


@pytest.mark.parametrize("profile", list(PROFILES))
def test_faults_come_in_order_and_before_the_end(plans, profile):
    for plan in plans[profile]:
        times = [fault.at_us for fault in plan.faults]
        assert times == sorted(times)
        assert times[0] >= SECOND // 4
        assert times[-1] < plan.faults_end_us
        assert 2 * SECOND <= plan.faults_end_us < {"long": 15, "unclean": 10}.get(profile, 6) * SECOND


@pytest.mark.parametrize("profile", list(PROFILES))
def test_a_plan_has_between_two_and_seventeen_faults_and_one_more_where_one_must_delete_or_move_or_damage(
    plans, profile
):
    counts = {len(plan.faults) for plan in plans[profile]}

    assert min(counts) >= 2
    one_more = bool({*DELETIONS, *DAMAGES, "reassignment", "leave"} & set(PROFILES[profile]))
    assert max(counts) <= 17 + one_more + 4 * (profile == "unclean")


def test_intact_plans_never_allow_unclean_elections_and_destructive_ones_sometimes(plans):
    def allowing(profile):
        return sum(plan.cluster.settings.unclean_election for plan in plans[profile])

    assert allowing("intact") == allowing("controllers") == allowing("deletions") == allowing("retention") == 0
    assert 30 < allowing("destructive") < 150
    assert 30 < allowing("retention-destructive") < 150


def test_an_unclean_election_that_was_asked_for_stays_allowed():
    cluster = ClusterSpec(settings=Settings(unclean_election=True))

    assert all(generate_plan(1, i, "intact", cluster).cluster == cluster for i in range(20))


def test_triggers_and_both_partitions_are_used(plans):
    faults = [fault for plan in plans["intact"] for fault in plan.faults]

    assert {fault.partition for fault in faults} == {0, 1}
    assert 0.2 < sum(fault.after is not None for fault in faults) / len(faults) < 0.6
    assert {fault.after.event for fault in faults if fault.after} >= {"append", "truncate", "lead", "follow", "elect"}


@pytest.mark.parametrize("profile", list(PROFILES))
def test_a_kind_with_a_measure_has_one(plans, profile):
    measured = {"slow", "lossy", "late-leadership", "fast-failover", "slow-disk", "clock-jump", *DELETIONS, *DAMAGES}
    measured |= {
        "slow-controller",
        "lossy-controller",
        "late-isr-changes",
        "late-heartbeats",
        "late-registrations",
        "min-isr",
    } | SIMULATED_ONLY
    for plan in plans[profile]:
        for fault in plan.faults:
            if fault.kind == "move-log-dir":
                continue  # it may be without a bound
            assert bool(fault.amount) == (fault.kind in measured)


def test_an_unknown_profile_is_an_error():
    with pytest.raises(ProfileError):
        generate_plan(1, 0, "gentle", ClusterSpec())


def test_only_where_replicas_move_the_cluster_needs_a_broker_more():
    large = ClusterSpec(brokers=6)

    assert cluster_of_plans("intact", ClusterSpec()) == ClusterSpec()
    assert cluster_of_plans("reassignments", large) == large
    assert cluster_of_plans("reassignments", ClusterSpec()).brokers == 4
    assert (
        cluster_of_plans("reassignments", ClusterSpec()) == generate_plan(1, 0, "reassignments", ClusterSpec()).cluster
    )


def test_a_reassignment_is_taken_back_while_one_is_under_way_most_often():
    plans = [generate_plan(1, index, "controller-reassignments", ClusterSpec()) for index in range(60)]
    taken_back = [fault for plan in plans for fault in plan.faults if fault.kind == "reassignment-taken-back"]
    waiting = [fault.after.event for fault in taken_back if fault.after is not None]

    assert len(taken_back) > 30
    assert set(waiting) == {"reassign"}
    assert len(waiting) > len(taken_back) // 2


@pytest.mark.parametrize("profile", PROFILES)
def test_intensity_changes_how_many_faults_there_are_and_nothing_else(profile):
    cluster = ClusterSpec(partitions=2)
    of = {k: [generate_plan(3, i, profile, cluster, k) for i in range(60)] for k in (0, 0.5, 1, 2, 4)}

    assert of[1] == [generate_plan(3, i, profile, cluster) for i in range(60)]
    for k, plans in of.items():
        for plan, usual, harder in zip(plans, of[1], of[2 * k] if k in (0.5, 1, 2) else plans, strict=True):
            assert replace(plan, faults=usual.faults) == usual
            assert not Counter(plan.faults) - Counter(harder.faults)  # what is there stays there
            assert {"fast-failover", "forced-election", "crash-all"} & {fault.kind for fault in plan.faults}
    counts = {k: sum(len(plan.faults) for plan in plans) for k, plans in of.items()}
    assert counts[0] <= 60 * 3
    assert 1.9 < counts[2] / counts[1] < 2.1
    assert 3.9 < counts[4] / counts[1] < 4.1

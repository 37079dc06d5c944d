"""Each pass alone, with a predicate on plans in place of runs."""

from dataclasses import replace

import pytest

from tidemark.checkers.history.history import Op
from tidemark.harness.search.shrink.passes import PASSES
from tidemark.harness.search.shrink.passes.fewer_faults import fewer_faults
from tidemark.harness.search.shrink.passes.fewer_records import fewer_records
from tidemark.harness.search.shrink.passes.fixed_delays import fixed_delays
from tidemark.harness.search.shrink.passes.merged_elections import merged_elections
from tidemark.harness.search.shrink.passes.plainer_faults import plainer_faults
from tidemark.harness.search.shrink.passes.rounder_times import EARLIEST_US, moments_of, rounder_times
from tidemark.harness.search.shrink.passes.smaller_cluster import smaller_cluster
from tidemark.nemesis import Send, Trigger, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

SECOND = 1_000_000


def kinds(plan):
    return [fault.kind for fault in plan.faults]


def test_only_faults_that_matter_are_left(search_by_hand, plan, fault):
    many = [fault(kind, (1 + i) * SECOND // 4) for i, kind in enumerate(["crash", "pause", "isolate", "power"] * 3)]
    search = search_by_hand(plan(*many), lambda plan: {"pause", "power"} <= set(kinds(plan)))
    fewer_faults(search)
    assert sorted(kinds(search.best)) == ["pause", "power"]


def test_faults_that_never_struck_go_at_once(search_by_hand, plan, fault):
    late = [fault("slow", SECOND + i) for i in range(14)]
    search = search_by_hand(
        plan(fault("crash"), *late), lambda plan: "crash" in kinds(plan), strikes=[(SECOND, "strike", 0, "crash", {})]
    )
    fewer_faults(search)
    assert kinds(search.best) == ["crash"]
    assert len(search.judge.asked) <= 3


def test_faults_that_undo_each_other_go_in_pairs(search_by_hand, plan, fault):
    faults = [fault("crash"), fault("pause"), fault("isolate"), fault("power"), fault("restart")]

    def shows(plan):
        left = kinds(plan)
        return {"crash", "isolate", "restart"} <= set(left) and ("pause" in left) == ("power" in left)

    search = search_by_hand(plan(*faults), shows)
    fewer_faults(search)
    assert kinds(search.best) == ["crash", "isolate", "restart"]


def sent(time, producer=1, records=1, key="t-0"):
    value = tuple(("send", key, producer * 1_000_000 + i) for i in range(records))
    return Op(time, f"p{producer}", "invoke", "send", value, None, "all")


DRAWN = WorkloadSpec(producers=4, consumers=1)
HUNDRED = [sent(i * 40_000, producer=1 + i % 4, records=1 + i % 3) for i in range(1, 101)]


def test_what_was_sent_is_written_down_and_only_what_matters_is_left(search_by_hand, plan):
    def shows(plan):
        sends = plan.workload.sends
        return sends is None or {1_200_000, 3_000_000} <= {send.at_us for send in sends}

    search = search_by_hand(plan(work=DRAWN), shows, ops=HUNDRED)
    fewer_records(search)
    work = search.best.workload
    assert work.sends == (Send(1_200_000), Send(3_000_000))
    assert (work.producers, work.consumers) == (1, 0)


def test_the_last_before_the_anomaly_are_tried_alone(search_by_hand, plan):
    search = search_by_hand(plan(work=DRAWN), lambda plan: bool(plan.workload.sends), ops=HUNDRED, time=2_000_000)
    fewer_records(search)
    assert search.best.workload.sends == (Send(2_000_000),)
    assert len(search.judge.asked) < 10


def test_producers_that_are_left_are_numbered_from_one(search_by_hand, plan):
    def shows(plan):
        sends = plan.workload.sends
        return sends is None or len({send.producer for send in sends}) >= 2

    search = search_by_hand(plan(work=DRAWN), shows, ops=HUNDRED)
    fewer_records(search)
    assert sorted(send.producer for send in search.best.workload.sends) == [1, 2]
    assert search.best.workload.producers == 2


def test_records_of_a_batch_that_matter_stay(search_by_hand, plan):
    def shows(plan):
        return any(send.records >= 2 for send in plan.workload.sends)

    work = WorkloadSpec(producers=2, sends=(Send(SECOND, 2, 1, 9), Send(2 * SECOND, 2, 0, 7)))
    search = search_by_hand(plan(work=work), shows)
    fewer_records(search)
    assert [send.records for send in search.best.workload.sends] == [2]


def test_a_workload_that_cannot_be_written_down_gets_quieter(search_by_hand, plan):
    search = search_by_hand(plan(work=DRAWN), lambda plan: plan.workload.sends is None, ops=HUNDRED)
    fewer_records(search)
    work = search.best.workload
    assert (work.sends, work.consumers, work.batch) == (None, 0, 1)


def test_noise_gives_way_to_fixed_delays_if_they_do(search_by_hand, plan):
    search = search_by_hand(plan(), lambda _: True)
    fixed_delays(search)
    assert search.best == replace(plan(), fixed_delay_us=1_000, noise_seed=0)

    search = search_by_hand(plan(), lambda plan: plan.fixed_delay_us is None)
    fixed_delays(search)
    assert search.best == plan()


def test_a_stretch_without_events_is_taken_out_and_what_follows_moves_together(search_by_hand, plan, fault):
    faults = (fault("crash", 2_345_678), fault("pause", 2_445_678))

    def shows(plan):
        one, other = (fault.at_us for fault in plan.faults)
        return 100_000 <= other - one <= 150_000 and plan.faults_end_us >= other + 1_000_000

    work = WorkloadSpec(producers=1, consumers=0, sends=(Send(2_000_123),))
    search = search_by_hand(plan(*faults, end=5_432_100, work=work), shows)
    rounder_times(search)
    best = search.best
    assert [fault.at_us for fault in best.faults] == [500_000, 600_000]
    assert [send.at_us for send in best.workload.sends] == [500_000]
    assert best.faults_end_us == 1_600_000


def test_nothing_is_moved_to_before_the_cluster_has_come_up(search_by_hand, plan, fault):
    search = search_by_hand(plan(fault(at_us=3_141_592)), lambda _: True)
    rounder_times(search)
    assert min(moments_of(search.best)) >= EARLIEST_US

    early = search_by_hand(plan(fault(at_us=281_000)), lambda _: True)
    rounder_times(early)
    assert early.best.faults[0].at_us == 300_000


def test_times_are_as_round_as_they_can_be(search_by_hand, plan, fault):
    def shows(plan):
        (fault,) = plan.faults
        return 1_190_000 <= fault.at_us < 1_200_000

    work = WorkloadSpec(consumers=0, sends=())
    search = search_by_hand(plan(fault(at_us=1_193_217), work=work), shows)
    rounder_times(search)
    assert search.best.faults[0].at_us == 1_190_000


@pytest.mark.parametrize(("least", "left"), [(0, 0), (150_000, 200_000), (734_000, 1_000_000), (3_300_001, 4_000_000)])
def test_durations_are_round(search_by_hand, plan, fault, least, left):
    search = search_by_hand(
        plan(fault("pause", lasts_us=3_456_789), end=4 * SECOND), lambda plan: plan.faults[0].lasts_us >= least
    )
    rounder_times(search)
    assert search.best.faults[0].lasts_us == left


def test_events_stay_in_order(search_by_hand, plan, fault):
    faults = (fault("crash", 2 * SECOND), fault("pause", 3 * SECOND))

    def shows(plan):
        times = [fault.at_us for fault in plan.faults]
        return kinds(plan) == ["crash", "pause"] and times == sorted(times)

    search = search_by_hand(plan(*faults), shows)
    rounder_times(search)
    assert kinds(search.best) == ["crash", "pause"]


def test_brokers_replicas_and_partitions_down(search_by_hand, plan):
    big = ClusterSpec(5, 3, 4, settings=Settings(unclean_election=True))
    search = search_by_hand(plan(cluster=big), lambda plan: plan.cluster.replication_factor >= 2)
    smaller_cluster(search)
    cluster = search.best.cluster
    assert (cluster.brokers, cluster.replication_factor, cluster.partitions) == (2, 2, 1)
    assert (cluster.settings.min_isr, cluster.settings.unclean_election) == (2, False)


def test_a_broker_that_a_fault_names_stays(search_by_hand, plan, fault):
    search = search_by_hand(plan(fault(target="b3")), lambda _: True)
    smaller_cluster(search)
    assert search.best.cluster.brokers == 3
    assert search.best.cluster.replication_factor == 1


def test_partitions_that_matter_stay(search_by_hand, plan):
    search = search_by_hand(plan(cluster=ClusterSpec(partitions=6)), lambda plan: plan.cluster.partitions >= 3)
    smaller_cluster(search)
    assert search.best.cluster.partitions == 3


def test_a_named_broker_becomes_a_role_where_that_does(search_by_hand, plan, fault):
    search = search_by_hand(
        plan(fault("pause", target="b2", pick=5, clients=True)),
        lambda plan: plan.faults[0].target in ("b2", "follower"),
    )
    plainer_faults(search)
    assert search.best.faults == (fault("pause", target="follower"),)


def test_a_pick_that_matters_stays_as_small_as_can_be(search_by_hand, plan, fault):
    search = search_by_hand(
        plan(fault("fast-failover", target="follower", pick=10)),
        lambda plan: (plan.faults[0].kind, plan.faults[0].pick % 3) == ("fast-failover", 1),
    )
    plainer_faults(search)
    assert search.best.faults[0].pick == 1


def test_gentler_kinds(search_by_hand, plan, fault):
    search = search_by_hand(plan(fault("power-all")), lambda plan: "power" in plan.faults[0].kind)
    plainer_faults(search)
    assert kinds(search.best) == ["power"]


def test_an_event_becomes_a_time(search_by_hand, plan, fault):
    waiting = fault(after=Trigger("append", 7))
    search = search_by_hand(
        plan(waiting),
        lambda plan: plan.faults[0].after == waiting.after or 2_710_000 <= plan.faults[0].at_us < 2_720_000,
        strikes=[(2_712_345, "strike", 0, "crash", {})],
    )
    plainer_faults(search)
    assert (search.best.faults[0].after, search.best.faults[0].at_us) == (None, 2_710_000)


def test_or_the_first_event_rather_than_the_nth(search_by_hand, plan, fault):
    waiting = fault(after=Trigger("append", 7))
    search = search_by_hand(
        plan(waiting), lambda plan: plan.faults[0].after, strikes=[(2_712_345, "strike", 0, "crash", {})]
    )
    plainer_faults(search)
    assert search.best.faults[0].after == Trigger("append", 1)
    assert search.best.faults[0].at_us == EARLIEST_US


def test_no_pass_changes_what_cannot_get_smaller(search_by_hand, plan, fault):
    least = plan(fault(at_us=EARLIEST_US), end=EARLIEST_US, work=WorkloadSpec(consumers=0, producers=1, sends=()))
    search = search_by_hand(least, lambda plan: plan == least)
    for improve in PASSES.values():
        improve(search)
    assert search.best == least


def test_two_elections_become_one_failover(search_by_hand, plan, fault):
    faults = (fault("forced-election", SECOND, target="b2"), fault("pause"), fault("unclean-election", SECOND + 20_000))

    def shows(plan):
        one = plan.faults[0]
        return len(plan.faults) == 3 or (one.kind, one.pick, one.amount) == ("fast-failover", 4, 20_000)

    search = search_by_hand(plan(*faults), shows)
    merged_elections(search)
    assert kinds(search.best) == ["fast-failover", "pause"]


def test_elections_that_wait_for_events_are_left_alone(search_by_hand, plan, fault):
    waiting = fault("forced-election", after=Trigger("append", 1))
    search = search_by_hand(plan(waiting, fault("forced-election")), lambda _: True)
    merged_elections(search)
    assert len(search.best.faults) == 2

"""Young plans and changed ones: what is drawn, that it is what it says, and that it is a plan that can be played from its file."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from tidemark.checkers import check
from tidemark.checkers.marks import exercised
from tidemark.harness.search.hunt.arms import Arms
from tidemark.harness.search.hunt.circumstances import SHAPES, Circumstances
from tidemark.harness.search.hunt.episodes import MOST_FAULTS, episode, with_faults
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.search.hunt.mutations import EARLIEST_US, Mutations
from tidemark.harness.search.hunt.scenes import SCENES, some_scene
from tidemark.harness.simulator import simulate
from tidemark.nemesis import PROFILES, SIMULATED_ONLY, Fault, Plan, WorkloadSpec, cluster_of_plans
from tidemark.nemesis.kinds import CONTROLLER_LINKS, DAMAGES, by_kind
from tidemark.nemesis.long_lasting import end_of_long, is_long
from tidemark.nodes.core import leader
from tidemark.nodes.core.broker import Broker
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.controller.elections import Controller
from tidemark.nodes.core.controller.kraft import KRaftController
from tidemark.nodes.core.controller.zookeeper import ZooKeeperController
from tidemark.nodes.core.leader import Leadership
from tidemark.nodes.core.messages import INVALID_UPDATE_VERSION
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.families import family_of, parse_variant
from tidemark.nodes.families.bookkeeper.recovery import Takeover
from tidemark.nodes.families.bookkeeper.writer import Writer
from tidemark.nodes.families.raft import member
from tidemark.nodes.families.raft.canvassing import CanvassingMember
from tidemark.nodes.families.raft.changing import ChangingMember
from tidemark.nodes.families.raft.configurations import Configurations
from tidemark.nodes.families.raft.leases import LeasingMember
from tidemark.nodes.families.raft.messages import PermittedVoteRequest
from tidemark.nodes.families.voting.member import Member

MS = 1_000
SOON_US = 1_000
PROFILES_OF_HUNTS = ("intact", "destructive", "retention", "reassignments")


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


# Scenes: each does what its name says


def played(name, profile="destructive", variant="kafka-4.0", seeds=12, brokers=3, **settings):
    """The traces of a scene, played under several draws, beside its faults."""
    cluster = ClusterSpec(brokers=brokers, settings=Settings(**settings))
    for seed in range(seeds):
        faults = SCENES[name](Random(seed), Kinds(profile), cluster, 600 * MS)
        workload = WorkloadSpec(producers=2, interval_us=20 * MS)
        plan = with_faults(Plan(0, 0, seed, profile, cluster, workload, (), 0), faults)
        yield plan, simulate(plan, parse_variant(variant)).history


def marks(name, **how):
    return Counter(mark for _, history in played(name, **how) for mark in exercised(history.trace))


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("profile", PROFILES_OF_HUNTS)
def test_a_scene_has_the_faults_of_its_profile(name, profile):
    for seed in range(60):
        faults = SCENES[name](Random(seed), Kinds(profile), ClusterSpec(), 600 * MS)
        assert {fault.kind for fault in faults} <= Kinds(profile).known
        assert len(faults) <= 7


def test_back_and_forth_two_brokers_are_elected_in_turn():
    for plan, history in played("back and forth"):
        targets = [fault.target for fault in plan.faults]
        assert len({*targets}) == 2
        assert all(one != other for one, other in pairwise(targets))
        assert sum(event[2] == "elect" for event in history.trace) >= 2


def test_who_sleeps_through_reigns_skips_some():
    assert marks("asleep through reigns")["reign-skipped-by-follower"] >= 4


def test_right_after_one_failure_comes_another_of_the_same_broker():
    """In ms: the first is over, or the process has just started."""
    for seed in range(60):
        faults = SCENES["one right after another"](Random(seed), Kinds("destructive"), ClusterSpec(), 600 * MS)
        first, again = faults[0], faults[-1]
        assert first.target == again.target
        assert again.after is not None or 0 < again.at_us - first.at_us - first.lasts_us <= 80 * MS


def test_a_power_loss_comes_right_after_a_clean_stop():
    clean_then_power = 0
    for _, history in played("one right after another", seeds=40):
        stops = [(event[1], event[4]) for event in history.trace if event[2] == "stop"]
        clean_then_power += any(
            how == "clean" and (node, "power") in stops[place + 1 :] for place, (node, how) in enumerate(stops)
        )
    assert clean_then_power >= 4


def test_elections_are_held_while_a_follower_is_deaf():
    meanwhile = 0
    for plan, history in played("elected while one is deaf"):
        first = plan.faults[0]
        begins, ends = first.at_us, first.at_us + first.lasts_us
        meanwhile += any(event[2] == "elect" and begins <= event[0] <= ends for event in history.trace)

    assert meanwhile >= 7


def test_a_leader_counts_on_followers_that_were_taken_from_its_isr():
    assert marks("counts on unaware", seeds=40)["elected-behind-committed"] >= 12


def test_the_isr_is_in_doubt():
    """The lag is over while the scene lasts: the ISR shrinks, without anybody's session ending, and grows again."""
    doubted = marks("ISR in doubt", profile="intact")

    assert doubted["isr-shrunk"] >= 6
    assert doubted["isr-grew"] >= 6


def test_a_new_process_hears_late_what_was_meant_for_the_one_before():
    lives = marks("of an earlier life", variant="kafka-2.0")

    assert lives["follower-stopped"] + lives["leader-stopped"] >= 12


def test_a_truncation_is_taken_back():
    came_back = 0
    for _, history in played("cut, and taken back", seeds=40):
        place = [(event[1], event[2], event[0]) for event in history.trace]
        came_back += any((node, "append", time) in place for node, what, time in place if what == "recovered")
    assert came_back >= 3


def test_who_asks_in_vain_leads_on_and_asks_again():
    """The ISR changes in spite of it, and nobody but the scene's leader is elected by hand."""
    for plan, _ in played("asked in vain", profile="controller-links"):
        assert sum(fault.kind == "forced-election" for fault in plan.faults) == 1
    doubted = marks("asked in vain", profile="controller-links", variant="kafka-2.7")

    assert doubted["isr-shrunk"] >= 6
    assert doubted["isr-grew"] >= 6


def test_records_are_deleted_while_one_is_away_who_then_follows():
    seen = marks("deleted while one is away", profile="deletions", seeds=20)

    assert seen["deleted"] >= 10
    assert seen["followed-ahead"] + seen["cut-by-epoch"] >= 5


def test_the_power_goes_after_a_deletion_was_noted():
    seen = marks("deleted before the power goes", profile="retention-destructive", seeds=20)

    assert seen["deleted"] >= 10
    assert seen["log-lost"] >= 10


def test_a_replica_is_moved_while_the_leader_is_alone():
    seen = marks("moved while others are away", profile="reassignments", seeds=20, brokers=4)

    assert seen["reassigned"] >= 10
    assert seen["isr-of-one"] >= 5


def test_who_is_away_for_long_is_away_longer_than_anybody_waits_and_comes_back():
    for plan, _ in played("away for long", profile="intact"):
        away, *others = plan.faults
        back = away.at_us + away.lasts_us
        assert is_long(away, plan.cluster.settings)
        assert back < others[-1].at_us < plan.faults_end_us
    assert marks("away for long", profile="intact")["isr-shrunk"] >= 8


def test_what_is_answered_after_the_session_was_done():
    """The ISR changes, and the leader that asked for it is fenced before it hears so, or hears something newer."""
    seen = marks("answered after the session", seeds=20)

    assert seen["isr-shrunk"] >= 15
    assert seen["fenced"] >= 8
    assert seen["log-lost"] >= 6


def test_a_disk_is_lost_while_the_other_follower_is_away():
    seen = marks("a disk lost while another is away", seeds=20)

    assert seen["log-lost"] == 20
    assert seen["isr-of-one"] >= 8


def test_a_machine_loses_its_power_whose_process_had_ended():
    after = Counter()
    for plan, history in played("no power where nothing runs", profile="metadata", seeds=40):
        node = int(next(fault.target for fault in plan.faults if fault.kind in {"restart", "crash"})[1:])
        events = [event for event in history.trace if event[1] == node and event[2] in {"stop", "start"}]
        after.update((one[4], other[4]) for one, other in pairwise(events) if one[2] == other[2] == "stop")
        down = [(one[0], other[0]) for one, other in pairwise(events) if one[2:5] == ("stop", "", "clean")]
        struck = [entry[0] for entry in history.nemesis if entry[1] == "strike" and entry[3].startswith("power")]
        after["clean"] += any(begin < time < end for begin, end in down for time in struck)

    assert after["crash", "power"] >= 4
    assert after["clean"] >= 10


def test_replicas_are_moved_while_there_is_no_controller_and_again_when_there_is():
    seen = marks("moved while the controller fails", profile="controller-reassignments", seeds=20, brokers=4)

    assert seen["reassigned"] == 20
    for plan, history in played("moved while the controller fails", profile="controller-reassignments", brokers=4):
        fails = next(fault for fault in plan.faults if fault.kind.startswith("controller"))
        orders = [fault.at_us for fault in plan.faults if fault.kind == "reassignment"]
        assert orders[0] <= fails.at_us <= orders[1] <= fails.at_us + fails.lasts_us <= orders[2]
        assert any(event[2] == "ordered" for event in history.trace)


def test_a_leaders_session_ends_while_there_is_no_controller():
    name = "the leader ends without a controller"
    for plan, _ in played(name, profile="controllers"):
        ends, fails = plan.faults[1:3] if plan.faults[1].at_us <= plan.faults[2].at_us else plan.faults[2:0:-1]
        session = plan.cluster.settings.session_us
        assert fails.kind.startswith("controller")
        assert fails.at_us < ends.at_us + session < fails.at_us + fails.lasts_us < ends.at_us + ends.lasts_us


def test_a_leader_leads_again_over_a_cut_that_it_has_not_heard_of():
    seen = marks("leads again unaware", profile="intact", seeds=30)

    assert seen["cut-behind-the-leaders-back"] >= 8
    assert seen["led-on-over-a-cut"] >= 2


def test_what_is_answered_late_is_asked_again():
    assert marks("answered late", profile="intact", variant="kafka-2.1", seeds=20)["rounds-2"] >= 4


def test_a_leader_alone_in_the_isr_is_lost():
    seen = marks("alone, and then lost", seeds=20)

    assert seen["isr-shrunk-over-a-wait"] >= 10
    assert seen["isr-of-one"] >= 5
    assert seen["log-lost"] >= 6


def test_a_leader_is_alone_in_the_isr_when_another_controller_takes_over(monkeypatch):
    """Whoever forgets then who is eligible may have nobody to elect."""
    name, variant = "alone as the controller fails", "kafka-4.0+forget-log-ends"
    assert marks(name, profile="controllers", variant="kafka-4.0", seeds=20)["isr-of-one"] >= 12
    assert not shown_by(name, variant, ClusterSpec(), 20, "controllers")

    takes_over = KRaftController._take_over

    def forgets(self, now):
        takes_over(self, now)
        for partition in self.partitions.values():
            partition.elr = ()

    monkeypatch.setattr(KRaftController, "_take_over", forgets)
    assert shown_by(name, variant, ClusterSpec(), 20, "controllers")["elr-forgotten"] >= 8


def test_who_is_back_as_all_is_deleted_begins_anew():
    seen = marks("back as all is deleted", profile="deletions", seeds=20)

    assert seen["deleted"] == 20
    assert seen["began-anew"] >= 10


@pytest.mark.systems
def test_who_cut_its_log_below_its_log_start_and_is_killed_soon_deletes_it():
    """The stale log start: the same plans pass where the log start is noted with the cut."""
    name, cluster = "led by who missed a deletion", ClusterSpec()
    repaired = "kafka-4.0+forget-log-ends+rebuild-epochs+begin-anew"

    assert shown_by(name, repaired, cluster, 40, "retention-destructive")["lost-committed-write"] >= 3
    assert not shown_by(name, f"{repaired}+log-start-with-cut", cluster, 40, "retention-destructive")


def test_a_replica_is_moved_from_a_leader_that_has_become_alone_in_the_isr():
    seen = marks("moved from the last one there", profile="reassignments", seeds=20, brokers=4)

    assert seen["reassigned"] == 20
    assert seen["isr-of-one"] >= 15


def test_a_leader_that_shuts_down_as_it_is_moved_shows_that_a_broker_that_is_gone_joined_the_isr():
    """KAFKA-14140; the same plans pass where brokers' epochs are checked, or show KAFKA-14424 there."""
    name, cluster = "moved from the last one there", ClusterSpec(brokers=4)
    shown = [
        seed
        for seed in range(40)
        if shown_by(name, "kafka-2.7", cluster, [seed])["stuck"]
        and not shown_by(name, "kafka-2.7+broker-epochs", cluster, [seed])
    ]

    assert len(shown) >= 2


def test_now_and_then_a_fault_outlasts_everybody_and_the_plan_outlasts_it():
    plans = young(300)
    long = [plan for plan in plans if any(is_long(fault, plan.cluster.settings) for fault in plan.faults)]

    assert 30 < len(long) < 150
    assert all(plan.faults_end_us > end_of_long([*plan.faults], plan.cluster.settings) - MS for plan in plans)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profiles_own_scenes_are_among_those_that_are_drawn(profile):
    """Deletions where records are deleted, moves where replicas move; elsewhere neither."""
    kinds, cluster = Kinds(profile), cluster_of_plans(profile, ClusterSpec())
    rng = Random(5)
    drawn = {fault.kind for _ in range(200) for fault in some_scene(rng, kinds, cluster, 600 * MS)}

    assert ("delete-records" in drawn) == ("delete-records" in PROFILES[profile])
    assert ("reassignment" in drawn) == ("reassignment" in PROFILES[profile])


# What circumstances do


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


# Marks that take something special


@pytest.mark.parametrize("variant", ["kafka-0.11", "kafka-2.7"])
@pytest.mark.parametrize("controller_fails", [True, False])
def test_with_zookeeper_a_leader_skips_a_reign_only_where_controllers_change(variant, controller_fails):
    faults = (
        Fault("lost-leadership", 600 * MS, 300 * MS, "b1"),
        Fault("forced-election", 610 * MS, 0, "b2"),
        Fault("forced-election", 640 * MS, 0, "b1"),
        *((Fault("controller-crash", 700 * MS, 100 * MS),) if controller_fails else ()),
    )
    plan = Plan(0, 0, 3, "by hand", ClusterSpec(), WorkloadSpec(), faults, 1_500 * MS)
    reached = exercised(simulate(plan, parse_variant(variant)).history.trace)

    assert ("reign-skipped-by-leader" in reached) == controller_fails


def test_hunts_have_controllers_that_fail():
    assert any(fault.kind == "controller-crash" for plan in young(60, "controllers") for fault in plan.faults)


def shown_by(name, variant, cluster, seeds, profile="reassignments"):
    """How many draws of a scene violate something under a variant, by anomaly."""
    found = Counter()
    variant = parse_variant(variant) if isinstance(variant, str) else variant
    kinds = Kinds(profile, votes=family_of(variant).votes)
    for seed in range(seeds) if isinstance(seeds, int) else seeds:
        faults = SCENES[name](Random(seed), kinds, cluster, 600 * MS)
        workload = WorkloadSpec(producers=2, consumers=3, interval_us=20 * MS)
        plan = with_faults(Plan(0, 0, seed, profile, cluster, workload, (), 0), faults)
        verdict = check(simulate(plan, variant).history)
        found.update({one.name for one in verdict.anomalies if one.verdict == "violation"})
    return found


def test_deposed_and_does_not_know_a_leader_shows_what_was_committed_when_it_led():
    name, cluster = "deposed, and does not know", ClusterSpec()

    assert shown_by(name, "raft+lease-reads+lease-never-ends", cluster, 8, "intact")["stale-poll"] >= 4
    assert not shown_by(name, "raft+lease-reads", cluster, 8, "intact")


def test_two_change_one_group_each_by_one_server():
    name, cluster = "two change one group", ClusterSpec(brokers=6, replication_factor=4)

    assert shown_by(name, "raft+membership-change+change-at-once", cluster, 16)["unsafe-commit"] >= 2
    assert not shown_by(name, "raft+membership-change", cluster, 16)


def test_an_order_goes_with_its_leader_which_counts_by_it_no_more(monkeypatch):
    name, cluster = "an order goes with its leader", ClusterSpec(brokers=6, replication_factor=4)
    assert not shown_by(name, "raft+pre-vote+membership-change", cluster, 32)

    monkeypatch.setattr(Configurations, "cut", lambda self, end, cut=Configurations.cut: cut(self, end) and False)

    assert shown_by(name, "raft+pre-vote+membership-change", cluster, 32).keys() & {"stuck", "acked-by-too-few"}


def test_an_order_goes_with_its_leader_and_does_not_come_back_with_it(monkeypatch):
    def forgets_all_but_its_order(self, forget=ChangingMember.forget_leader):
        wanted = self.wanted
        forget(self)
        self.wanted = wanted

    monkeypatch.setattr(ChangingMember, "forget_leader", forgets_all_but_its_order)
    cluster = ClusterSpec(brokers=4, replication_factor=3)

    assert shown_by("an order goes with its leader", "raft+membership-change", cluster, 32)["stale-order"] >= 1


def test_each_writes_alone_and_what_the_first_wrote_is_committed_in_a_later_term():
    name, cluster = "each writes alone", ClusterSpec()

    assert shown_by(name, "raft+commit-any-term", cluster, 32, "intact")["unsafe-commit"] >= 2
    assert not shown_by(name, "raft", cluster, 32, "intact")


@pytest.mark.systems
def test_a_slow_candidate_stands_again_and_votes_of_its_former_term_come_late(monkeypatch):
    name, cluster = "a slow candidate stands again", ClusterSpec()
    assert not shown_by(name, "raft", cluster, 100, "intact")

    def counted(self, now, m):
        self.sees(now, m.generation)
        if self.standing and m.granted:
            self.votes.add(m.source)
            self._maybe_lead(now)

    monkeypatch.setattr(Member, "on_vote", counted)

    assert shown_by(name, "raft", cluster, 100, "intact")["two-leaders"] >= 1


def test_voters_come_back_and_vote_as_if_they_had_heard_of_no_leader(monkeypatch):
    name, cluster = "voters come back, and vote", ClusterSpec()
    assert not shown_by(name, "raft+lease-reads", cluster, 32, "intact")

    monkeypatch.setattr(LeasingMember, "start", CanvassingMember.start)

    assert shown_by(name, "raft+lease-reads", cluster, 32, "intact")["stale-poll"] >= 1


def test_cut_off_as_another_stands_whom_those_vote_for_that_have_just_answered(monkeypatch):
    name, cluster = "cut off as another stands", ClusterSpec()
    assert not shown_by(name, "raft+lease-reads", cluster, 32, "intact")

    monkeypatch.setattr(LeasingMember, "withholds", lambda *_: False)

    assert shown_by(name, "raft+lease-reads", cluster, 32, "intact")["stale-poll"] >= 1


@pytest.mark.systems
@pytest.mark.parametrize("given_by", ["the leader, which counts on its lease again", "a former leader"])
def test_leave_is_long_on_its_way_and_there_is_a_lease_when_it_comes(monkeypatch, given_by):
    name, cluster = "leave is long on its way", ClusterSpec()
    assert not shown_by(name, "raft+lease-reads", cluster, 120, "intact")

    def serves(self, now, serves=LeasingMember.may_serve_reads):
        if self._handed_over_us <= self.heard_by_majority_us(now):
            self._handed_over_us = 0
        return serves(self, now)

    if given_by == "a former leader":
        monkeypatch.setattr(LeasingMember, "on_stand_now", lambda self, now, m: self.stand(now, PermittedVoteRequest))
    else:
        monkeypatch.setattr(LeasingMember, "may_serve_reads", serves)

    assert shown_by(name, "raft+lease-reads", cluster, 120, "intact")["stale-poll"] >= 1


def test_heard_by_few_a_leader_leads_on_that_counts_the_last_answer_of_anybody(monkeypatch):
    name, cluster = "heard by few", ClusterSpec(brokers=5, replication_factor=5)
    assert not shown_by(name, "raft+pre-vote", cluster, 8, "intact")

    last = lambda self, now: max(one.answered_us for one in self._followers.values())  # noqa: E731
    monkeypatch.setattr(CanvassingMember, "heard_by_majority_us", last)

    assert shown_by(name, "raft+pre-vote", cluster, 8, "intact")["leads-unheard"] >= 2


@pytest.mark.systems
def test_slower_than_it_is_waited_for_and_entries_that_come_late_cut_what_is_newer(monkeypatch):
    name, cluster = "slower than it is waited for", ClusterSpec()
    assert not shown_by(name, "raft", cluster, 150, "intact")

    monkeypatch.setattr(member, "conflict_with", lambda log, batch: batch.base if batch.base < log.leo else None)

    assert shown_by(name, "raft", cluster, 150, "intact")


def test_gaps_at_bookies_are_what_recovery_must_read():
    name, cluster = "gaps at bookies", ClusterSpec()

    assert shown_by(name, "bookkeeper+recovery-trusts-lac", cluster, 8, "intact")["lost-committed-write"] >= 2
    assert not shown_by(name, "bookkeeper", cluster, 8, "intact")


def test_gaps_are_filled_by_bookies_that_take_the_place_of_others(monkeypatch):
    name, cluster = "gaps at bookies", ClusterSpec()

    def counts_on(self, now, ledger):
        self.ledger, self._changing = ledger, False
        self._send_again(now)
        self._confirm(now)

    monkeypatch.setattr(Writer, "changed", counts_on)

    assert shown_by(name, "bookkeeper", cluster, 32, "intact")["outside-its-ensemble"] >= 2


def test_a_ledger_is_recovered_without_one_of_its_bookies(monkeypatch):
    name, cluster = "recovered without one", ClusterSpec()
    assert not shown_by(name, "bookkeeper", cluster, 16, "destructive")

    def forgets(self, now, close=Takeover._close):
        self._fragments = self._ledger.fragments
        close(self, now)

    monkeypatch.setattr(Takeover, "_close", forgets)

    assert shown_by(name, "bookkeeper", cluster, 16, "intact")["outside-its-ensemble"] >= 4


def test_let_in_unheard_a_follower_is_counted_though_its_leader_was_refused(monkeypatch):
    name, cluster = "let in unheard", ClusterSpec()
    assert not shown_by(name, "kafka-4.0+repaired", cluster, 32, "intact")

    monkeypatch.setattr(leader, "STALE_BROKER_EPOCH", INVALID_UPDATE_VERSION)

    assert shown_by(name, "kafka-4.0+repaired", cluster, 32, "intact")["lost-committed-write"] >= 2


def test_told_late_and_then_not_a_broker_answers_twice(monkeypatch):
    name, cluster = "told late, and then not", ClusterSpec()
    assert not shown_by(name, "kafka-2.7", cluster, 48, "intact")

    def any_answer(self, now, m):
        waiting = self._requests[m.source].waiting
        if waiting:
            waiting.popleft()
            if waiting:
                self._send_first(now, m.source)

    monkeypatch.setattr(ZooKeeperController, "_on_state_taken", any_answer)

    assert shown_by(name, "kafka-2.7", cluster, 48, "intact")["stuck"] >= 2


def test_deleted_beyond_what_is_committed_a_leader_refuses(monkeypatch):
    name, cluster = "deleted beyond what is committed", ClusterSpec()
    assert not shown_by(name, "kafka-4.0+repaired", cluster, 24, "deletions")

    def deletes(self, now, m, delete=Leadership.delete_records):
        if self.replica.hw < m.offset <= self.replica.log.leo:
            self.replica.advance_start(now, m.offset, "delete-records")
        delete(self, now, m)

    monkeypatch.setattr(Leadership, "delete_records", deletes)

    assert shown_by(name, "kafka-4.0+repaired", cluster, 24, "deletions")["wrong-deletion"] >= 2


def test_a_fence_is_lost_with_a_disk_that_nobody_knows_to_be_empty():
    name, cluster = "a fence is lost", ClusterSpec()

    assert shown_by(name, "bookkeeper+no-cookies", cluster, range(100, 120), "destructive")["lost-committed-write"] >= 1
    assert not shown_by(name, "bookkeeper", cluster, range(100, 120), "destructive")


@pytest.mark.systems
def test_let_in_for_what_it_had_before_its_disk_was_lost():
    name, cluster = "let in for what it had", ClusterSpec()

    unchecked = replace(parse_variant("kafka-4.0"), broker_epoch_checks=False)

    assert shown_by(name, unchecked, cluster, 100, "destructive")["lost-committed-write"] >= 1
    assert not shown_by(name, "kafka-4.0", cluster, 100, "destructive")


def test_answered_after_a_member_went_a_leader_knows_better(monkeypatch):
    name, cluster = "answered after a member went", ClusterSpec()
    assert not shown_by(name, "kafka-4.0+repaired", cluster, 50, "intact")

    def takes_any(self, now, m, take=Leadership.take_isr_answer):
        if m.error is None and m.leader_epoch == self.epoch:
            self._adopt(now, m.isr, m.partition_epoch)
        else:
            take(self, now, m)

    monkeypatch.setattr(Leadership, "take_isr_answer", takes_any)

    assert shown_by(name, "kafka-4.0+repaired", cluster, 50, "intact")["stuck"] >= 1


def test_let_in_unheard_by_a_leader_that_writes_the_isr_itself():
    """Which is refused for good, and commits without whom it let in (KAFKA-2729)."""
    name, cluster, variant = "let in unheard", ClusterSpec(), "kafka-2.1+bounce-detection"

    assert shown_by(name, variant, cluster, range(25, 36), "intact")["lost-committed-write"] >= 1
    assert not shown_by(name, f"{variant}+no-leader-writes-isr", cluster, range(25, 36), "intact")


def test_fewer_than_min_isr_is_too_few_for_a_leader_that_has_heard(monkeypatch):
    name, cluster = "fewer than min ISR", ClusterSpec()
    assert not shown_by(name, "kafka-4.0+repaired", cluster, 24, "settings")

    def from_its_next_reign_on(self, now, m):
        self._changes_heard, self.min_isr = m.settings, m.min_isr
        self.out.append((now, self.node_id, "settings", "", m.settings))

    monkeypatch.setattr(Broker, "_hear_of_min_isr", from_its_next_reign_on)

    assert shown_by(name, "kafka-4.0+repaired", cluster, 24, "settings")["acked-by-too-few"] >= 2


def test_who_came_with_a_move_leads_and_the_move_is_taken_back_while_one_lags():
    led = 0
    for _, history in played("led by who came", "reassignments", "kafka-2.7", seeds=16, brokers=4):
        assert check(history).valid == "valid"
        taken_back = False
        for event in history.trace:
            taken_back |= event[2] == "ordered" and event[4] == ()
            led += taken_back and event[2] == "elect" and event[8] == "offline" and len(event[6]) == 2
    assert led >= 3


def test_moved_away_and_back_a_broker_hears_late_that_it_is_to_go(monkeypatch):
    name, cluster = "moved away and back", ClusterSpec(brokers=4)
    assert not shown_by(name, "kafka-2.7", cluster, 40)

    def goes(self, now, replica, m):
        if m.delete:
            self._remove(now, replica)

    monkeypatch.setattr(Broker, "_is_no_replica", goes)

    assert shown_by(name, "kafka-2.7", cluster, 40)["stuck"] >= 1


@pytest.mark.parametrize(
    ("name", "anomaly"),
    [("ELR off for a while", "lost-committed-write"), ("changed while all are down", "elr-forgotten")],
)
def test_elr_that_is_switched_at_a_bad_time(name, anomaly):
    cluster = ClusterSpec()

    assert shown_by(name, "kafka-4.0+forget-log-ends", cluster, 40, "features")[anomaly] >= 1
    assert not shown_by(name, "kafka-4.0+forget-log-ends+safe-elr-switch", cluster, 40, "features")


def test_a_controller_that_goes_on_electing_when_it_may_not_any_more(monkeypatch):
    name, cluster = "unclean elections for a while", ClusterSpec()
    assert not shown_by(name, "kafka-4.0+forget-log-ends", cluster, 40, "unclean")

    monkeypatch.setattr(Controller, "_unclean_changed", lambda self, _now: setattr(self, "unclean", True))
    monkeypatch.setattr(KRaftController, "_unclean_changed", Controller._unclean_changed)
    shown = shown_by(name, "kafka-4.0+forget-log-ends", cluster, 40, "unclean")
    assert shown["unasked-election"] >= 10
    assert shown["lost-committed-write"] >= 5


@pytest.mark.parametrize(
    ("scenes", "whose"),
    [
        (("deposed, and does not know", "each writes alone", "voters come back, and vote"), "votes"),
        (("gaps at bookies", "a fence is lost", "recovered without one"), "ledgers"),
    ],
)
def test_scenes_of_voters_and_of_bookies_are_theirs_alone(monkeypatch, scenes, whose):
    drawn = Counter()
    for name in scenes:
        monkeypatch.setitem(SCENES, name, lambda *_, name=name: drawn.update([name]) or [])
    for seed in range(300):
        some_scene(Random(seed), Kinds("intact"), ClusterSpec(), 600 * MS)
    assert not drawn

    for seed in range(300):
        some_scene(Random(seed), Kinds("intact", **{whose: True}), ClusterSpec(), 600 * MS)
    assert drawn.keys() == {*scenes}


@pytest.mark.parametrize("variant", ["raft", "bookkeeper"])
def test_what_servers_cannot_suffer_is_not_drawn(variant):
    family = family_of(parse_variant(variant))
    nothing = by_kind(family.not_suffered).keys()
    kinds = Arms(["destructive"], ClusterSpec(), free=True, family=family)["destructive"].kinds
    rng = Random(1)

    assert nothing & Kinds("destructive").known
    assert not kinds.known & nothing
    assert not {draw(rng) for _ in range(500) for draw in (kinds.any, kinds.hindrance)} & nothing


@pytest.mark.parametrize("whose", ["votes", "ledgers"])
def test_where_there_is_no_isr_no_scene_is_about_it(monkeypatch, whose):
    drawn = Counter()
    monkeypatch.setitem(SCENES, "ISR in doubt", lambda *_: drawn.update(["drawn"]) or [])
    for seed in range(300):
        some_scene(Random(seed), Kinds("intact", **{whose: True}), ClusterSpec(), 600 * MS)
    assert not drawn

    for seed in range(300):
        some_scene(Random(seed), Kinds("intact"), ClusterSpec(), 600 * MS)
    assert drawn


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


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-4.0", "raft+pre-vote+membership-change", "bookkeeper"])
def test_a_scene_may_be_played_at_any_moment(variant):
    """What it has before the beginning comes at the beginning."""
    family = family_of(parse_variant(variant))
    rng, cluster = Random(5), ClusterSpec()
    for name in PROFILES:
        kinds = Kinds(name, votes=family.votes, ledgers=family.store is not None)
        for _ in range(40):
            assert all(fault.at_us >= 0 for fault in some_scene(rng, kinds, cluster, SOON_US))

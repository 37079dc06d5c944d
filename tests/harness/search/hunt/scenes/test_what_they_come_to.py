"""Each scene does what its name says: the traces of its plays have its faults, its order and its marks."""

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from played_scenes import MS, marks, played

from tidemark.checkers import check
from tidemark.checkers.marks import exercised
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.search.hunt.scenes import SCENES
from tidemark.harness.simulator import simulate
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nemesis.long_lasting import is_long
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import parse_variant


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


def test_who_is_back_as_all_is_deleted_begins_anew():
    seen = marks("back as all is deleted", profile="deletions", seeds=20)

    assert seen["deleted"] == 20
    assert seen["began-anew"] >= 10


def test_a_replica_is_moved_from_a_leader_that_has_become_alone_in_the_isr():
    seen = marks("moved from the last one there", profile="reassignments", seeds=20, brokers=4)

    assert seen["reassigned"] == 20
    assert seen["isr-of-one"] >= 15


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


def test_who_came_with_a_move_leads_and_the_move_is_taken_back_while_one_lags():
    led = 0
    for _, history in played("led by who came", "reassignments", "kafka-2.7", seeds=16, brokers=4):
        assert check(history).valid == "valid"
        taken_back = False
        for event in history.trace:
            taken_back |= event[2] == "ordered" and event[4] == ()
            led += taken_back and event[2] == "elect" and event[8] == "offline" and len(event[6]) == 2
    assert led >= 3

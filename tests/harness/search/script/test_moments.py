"""A run as moments: what was done, in a script's verbs, and what came of it, in its conditions."""

from dataclasses import replace

import pytest

from tidemark.harness.search.script.moments import story_of
from tidemark.harness.search.script.witness import witness
from tidemark.nemesis import Fault, Plan, Send, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

PLAN = Plan(
    0, 0, 0, "by hand", ClusterSpec(), WorkloadSpec(1, 0, sends=(Send(500_000, records=2),)), (), 1_500_000, 1_000
)


def story(*faults, variant="kafka-2.7", **changes):
    seen = witness(replace(PLAN, faults=faults, **changes), parse_variant(variant))
    return story_of(seen, "t-0", 5_000_000)


def deeds(found):
    return [command for moment in found.moments for command in moment.does]


def shown(found):
    return [moment.shows for moment in found.moments if moment.shows]


def test_a_record_is_sent_to_who_appends_it_and_followed_on_its_way():
    found = story()

    assert deeds(found) == ["send m1..m2 to A"]
    assert shown(found)[:4] == ["A has LEO 2", "B has LEO 2", "C has LEO 2", "A has HW 2"]
    assert "m1, m2 are acked" in shown(found)


def test_a_fast_failover_is_two_elections():
    found = story(Fault("fast-failover", 600_000, 100_000, "b2", pick=1, amount=10_000))

    assert deeds(found) == ["send m1..m2 to A", "elect B", "elect A"]
    assert [one for one in shown(found) if "leads" in one] == ["B leads epoch 1", "A leads epoch 2"]


@pytest.mark.parametrize(
    ("kind", "verbs"),
    [
        ("pause", ["pause B", "resume B"]),
        ("crash", ["crash B", "start B"]),
        ("disk", ["wipe B", "start B"]),
        ("restart", ["stop B", "start B"]),
        ("from-controller", ["cut B from controller", "join B and controller"]),
    ],
)
def test_a_fault_is_its_verbs_and_they_go_together(kind, verbs):
    found = story(Fault(kind, 700_000, 400_000, "b2"))

    own = [moment for moment in found.moments if moment.key is not None]
    assert [command for moment in own for command in moment.does] == verbs
    assert len({moment.key for moment in own}) == 1


def test_a_power_loss_keeps_so_many_batches_as_were_found():
    found = story(
        Fault("power", 700_000, 400_000, "b2"), workload=WorkloadSpec(1, 0, sends=(Send(500_000), Send(600_000)))
    )

    (command,) = [command for command in deeds(found) if command.startswith("power off")]
    assert command in {f"power off B keeping {n} batches" for n in (0, 1, 2)}


def test_what_goes_one_way_only_is_told_kind_by_kind():
    found = story(Fault("one-way-in", 700_000, 400_000, "b2"))

    assert "block leadership from controller to B" in deeds(found)
    assert "block fetch responses from A to B" in deeds(found)
    assert "block fetch responses from B to A" not in deeds(found)


def test_a_deletion_names_its_offset():
    found = story(Fault("delete-records", 700_000, amount=500))

    assert "delete records before 1 at A" in deeds(found)


def test_a_min_isr_is_set_and_set_back():
    found = story(Fault("min-isr", 700_000, 200_000, amount=1))

    assert [deed for deed in deeds(found) if deed.startswith("set")] == ["set min ISR to 1", "set min ISR to 2"]


def test_unclean_elections_are_allowed_and_forbidden():
    found = story(Fault("unclean-allowed", 700_000, 200_000))

    deed = "unclean elections"
    assert [one for one in deeds(found) if one.endswith(deed)] == [f"allow {deed}", f"forbid {deed}"]


def test_elr_is_switched_off_and_on():
    found = story(Fault("elr-off", 700_000, 200_000), variant="kafka-4.0")

    assert [deed for deed in deeds(found) if deed.startswith("switch")] == ["switch ELR off", "switch ELR on"]


def test_a_broker_without_any_replica_has_a_name_too():
    found = story(
        Fault("reassignment", 700_000, target="b2"),
        Fault("one-more-replica", 900_000),
        cluster=ClusterSpec(brokers=5, replication_factor=3),
    )

    assert found.names == {1: "A", 2: "B", 3: "C", 4: "D", 5: "E"}
    assert deeds(found) == ["send m1..m2 to A", "reassign to A, D, C", "reassign to A, D, C, B"]

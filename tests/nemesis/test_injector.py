"""The injector: who is meant, when it strikes, what it does, how it heals, and what happens where faults overlap."""

import pytest

from tidemark.nemesis import Fault, Trigger
from tidemark.nemesis.damage import Damage
from tidemark.nemesis.kinds import CONTROLLER_LINKS

CONTROLLER, CLIENTS = 0, -1
NO_LEADER = {"leader": -1, "isr": ()}


def links(world, key=0):
    return world.links[key][0]


def both(*pairs):
    return {*pairs, *((b, a) for a, b in pairs)}


# Who


@pytest.mark.parametrize(
    ("target", "pick", "state", "node"),
    [
        pytest.param("leader", 0, {}, 1, id="the leader"),
        pytest.param("leader", 0, {"leader": 3}, 3, id="another leader"),
        pytest.param("leader", 4, NO_LEADER, 2, id="without one: any replica"),
        pytest.param("follower", 0, {}, 2, id="the first follower"),
        pytest.param("follower", 1, {}, 3, id="the second"),
        pytest.param("follower", 2, {}, 2, id="picks go round"),
        pytest.param("follower", 0, {"isr": (1, 3)}, 3, id="followers in the ISR first"),
        pytest.param("follower", 0, {"isr": (1,)}, 2, id="without such, one outside it"),
        pytest.param("follower", 0, NO_LEADER, 1, id="without a leader all replicas follow"),
        pytest.param("follower", 5, {"replicas": (1,), "isr": (1,)}, 1, id="without followers the leader stands in"),
        pytest.param("isr-member", 0, {"isr": (3, 2)}, 2, id="ISR members in assignment order"),
        pytest.param("isr-member", 1, {"isr": (3, 2)}, 3, id="the second of them"),
        pytest.param("isr-member", 1, NO_LEADER, 2, id="without an ISR any replica"),
        pytest.param("any", 2, {}, 3, id="any replica"),
        pytest.param("any", 3, {}, 1, id="not a broker without the partition"),
        pytest.param("b4", 2, {}, 4, id="a broker by name"),
    ],
)
def test_a_role_is_resolved(world, target, pick, state, node):
    w, _ = world(Fault("pause", 5, 10, target, pick), **state)
    w.until(5)

    assert w.said == [("pause", node)]


def test_a_role_is_resolved_when_the_fault_strikes(world):
    w, _ = world(Fault("pause", 5, 10))
    w.states["t-0"]["leader"] = 2
    w.until(5)

    assert w.said == [("pause", 2)]


def test_but_healed_is_who_was_struck(world):
    w, _ = world(Fault("pause", 5, 10))
    w.until(5)
    w.states["t-0"]["leader"] = 2
    w.until(15)

    assert w.said == [("pause", 1), ("resume", 1)]


@pytest.mark.parametrize(("partition", "node"), [(0, 1), (1, 3), (2, 1), (3, 3)])
def test_the_partition_is_taken_modulo_their_number(world, partition, node):
    more = {"t-1": {"leader": 3, "isr": (3,), "replicas": (3, 4, 1)}}
    w, _ = world(Fault("pause", 5, 10, partition=partition), more=more)
    w.until(5)

    assert w.said == [("pause", node)]


# When


def test_a_fault_strikes_at_its_time_and_is_healed_after_its_duration(world):
    w, _ = world(Fault("pause", 5, 10))
    w.until(4)
    assert w.said == []
    w.until(14)
    assert w.said == [("pause", 1)]
    w.until(15)

    assert w.said == [("pause", 1), ("resume", 1)]
    assert w.entries == [
        (5, "strike", 0, "pause", {"node": 1, "role": "leader", "partition": "t-0"}),
        (15, "heal", 0, "pause", {}),
    ]


def test_a_triggered_fault_strikes_at_the_nth_event(world):
    w, _ = world(Fault("pause", 0, 10, after=Trigger("append", 3)))
    for at, node in ((1, 1), (2, 2)):
        w.until(at)
        w.happened("append", node)
    assert w.said == []

    w.until(3)
    w.happened("append", 1)
    assert w.struck() == [(3, 0, "pause", 1)]


def test_it_strikes_once(world):
    w, _ = world(Fault("pause", 0, 10, after=Trigger("append", 1)))
    for _ in range(5):
        w.happened("append", 1)

    assert w.said == [("pause", 1)]


def test_events_before_its_time_do_not_count(world):
    w, _ = world(Fault("pause", 100, 10, after=Trigger("append", 2)))
    w.until(99)
    for _ in range(5):
        w.happened("append", 1)
    w.until(100)
    w.happened("append", 1)
    assert w.said == []

    w.happened("append", 1)
    assert w.struck() == [(100, 0, "pause", 1)]


def test_only_events_of_its_node_count(world):
    w, _ = world(Fault("pause", 0, 10, after=Trigger("append", 2, node=3)))
    for node in (3, 1, 2, 1):
        w.happened("append", node)
    assert w.said == []

    w.happened("append", 3)
    assert w.said == [("pause", 1)]


def test_other_events_do_not_count(world):
    w, _ = world(Fault("pause", 0, 10, after=Trigger("append", 1)))
    w.happened("lead", 1)

    assert w.said == []


def test_a_trigger_waits_until_the_node_has_finished_its_step(world):
    """The strike is scheduled, not made from inside the event."""
    w, _ = world(Fault("crash", 0, 10, after=Trigger("append", 1)))
    for callback in w.watchers["append"]:
        callback(1)
    assert w.said == []

    w.until(0)
    assert w.said == [("stop", 1, "crash")]


# Links: what is cut, slow or lossy


@pytest.mark.parametrize(
    ("kind", "effect", "expected"),
    [
        ("isolate", "cut", both((1, 2), (1, 3), (1, 4), (1, CONTROLLER))),
        ("from-peers", "cut", both((1, 2), (1, 3), (1, 4))),
        ("from-controller", "cut", both((1, CONTROLLER))),
        ("halves", "cut", both((1, 3), (1, 4), (2, 3), (2, 4), (CONTROLLER, 3), (CONTROLLER, 4))),
        ("bridge", "cut", both((2, 3), (2, 4))),
        ("majorities-ring", "cut", both((1, 3), (2, 4))),
        ("one-way-in", "cut", {(2, 1), (3, 1), (4, 1), (CONTROLLER, 1)}),
        ("one-way-out", "cut", {(1, 2), (1, 3), (1, 4), (1, CONTROLLER)}),
        ("slow", "slow", both((1, 2), (1, 3), (1, 4))),
        ("lossy", "lossy", both((1, 2), (1, 3), (1, 4))),
        ("late-leadership", "late-leadership", {(CONTROLLER, 1)}),
        ("lost-leadership", "lost-leadership", {(CONTROLLER, 1)}),
        ("slow-controller", "slow", both((1, CONTROLLER))),
        ("lossy-controller", "lossy", both((1, CONTROLLER))),
        ("late-isr-changes", "late-isr-changes", both((1, CONTROLLER))),
        ("lost-isr-changes", "lost-isr-changes", both((1, CONTROLLER))),
        ("late-heartbeats", "late-heartbeats", both((1, CONTROLLER))),
        ("lost-registrations", "lost-registrations", both((1, CONTROLLER))),
        ("controller-isolated", "cut", both((1, CONTROLLER), (2, CONTROLLER), (3, CONTROLLER), (4, CONTROLLER))),
    ],
)
def test_a_link_fault_cuts_these_links(world, kind, effect, expected):
    w, _ = world(Fault(kind, 5, 10, amount=77))
    w.until(5)
    assert w.links == {0: (expected, effect, 77)}

    w.until(15)
    assert w.links == {}
    assert w.healed() == [(15, 0, kind)]


@pytest.mark.parametrize(
    ("pick", "expected"),
    [(0, both((1, CONTROLLER))), (1, {(1, CONTROLLER)}), (2, {(CONTROLLER, 1)}), (3, both((1, CONTROLLER)))],
)
@pytest.mark.parametrize("kind", CONTROLLER_LINKS)
def test_talk_with_the_controller_is_disturbed_both_ways_or_one_way(world, kind, pick, expected):
    w, _ = world(Fault(kind, 5, 10, pick=pick, amount=77))
    w.until(5)

    assert links(w) == expected


@pytest.mark.parametrize("kind", ["isolate", "from-peers"])
def test_clients_are_cut_off_if_the_fault_says_so(world, kind):
    w, _ = world(Fault(kind, 5, 10, clients=True))
    w.until(5)

    assert both((1, CLIENTS)) <= links(w)


@pytest.mark.parametrize("kind", ["halves", "one-way-in", "from-controller", "slow", "late-leadership"])
def test_other_link_faults_leave_the_clients_alone(world, kind):
    w, _ = world(Fault(kind, 5, 10, clients=True))
    w.until(5)

    assert not any(CLIENTS in link for link in links(w))


@pytest.mark.parametrize(
    ("brokers", "expected"),
    [
        ((1, 2), set()),
        ((1, 2, 3), {(3, 1), (1, 2), (2, 3)}),
        ((1, 2, 3, 4, 5), both((1, 3), (1, 4), (2, 4), (2, 5), (3, 5))),
    ],
)
def test_in_a_ring_each_hears_another_majority(world, brokers, expected):
    w, _ = world(Fault("majorities-ring", 5, 10, "b1"), brokers=brokers)
    w.until(5)

    assert links(w) == expected


def test_the_measure_is_told(world):
    w, _ = world(Fault("slow", 5, 10, amount=77))
    w.until(5)

    assert w.entries[0][4] == {"node": 1, "role": "leader", "partition": "t-0", "amount": 77}


@pytest.mark.parametrize(("brokers", "near"), [((1, 2), {2}), ((1, 2, 3), {1, 2}), ((1, 2, 3, 4, 5), {1, 2, 3})])
def test_the_controller_stays_with_the_targets_half(world, brokers, near):
    w, _ = world(Fault("halves", 5, 10, "b2"), brokers=brokers)
    w.until(5)

    assert {b for b in brokers if (CONTROLLER, b) not in links(w)} == near


# Processes that stop and start


@pytest.mark.parametrize(
    ("kind", "how"),
    [("crash", "crash"), ("restart", "clean"), ("power", "power"), ("disk", "disk"), ("container-kill", "container")],
)
def test_a_stopped_process_starts_again_at_the_end(world, kind, how):
    w, _ = world(Fault(kind, 5, 10))
    w.until(5)
    assert w.said == [("stop", 1, how)]
    assert w.entries[0][4]["nodes"] == [1]

    w.until(15)
    assert w.said == [("stop", 1, how), ("start", 1)]


@pytest.mark.parametrize(
    ("pick", "what"), [(0, ("cuts", "files")), (1, ("cuts",)), (2, ("files",)), (3, ("cuts", "files"))]
)
def test_a_power_loss_may_take_metadata_back(world, pick, what):
    w, _ = world(Fault("power-metadata", 5, 10, pick=pick, amount=77))
    w.until(15)

    assert w.said == [("take back", 1, 77, *what), ("stop", 1, "power"), ("start", 1)]


def test_of_each_file_by_itself_if_the_kind_says_so(world):
    w, _ = world(Fault("power-metadata-by-file", 5, 10, pick=1, amount=77))
    w.until(15)

    assert w.said == [("take back", 1, 77, "by-file", "cuts"), ("stop", 1, "power"), ("start", 1)]


def test_of_a_broker_that_is_down_metadata_are_taken_back_as_well(world):
    """Its file system has not committed them either."""
    w, _ = world(Fault("crash", 5, 10), Fault("power-metadata", 7, 2, amount=77, pick=1))
    w.until(15)

    assert w.said == [("stop", 1, "crash"), ("take back", 1, 77, "cuts"), ("start", 1)]


@pytest.mark.parametrize(("kind", "how"), [("crash-all", "crash"), ("power-all", "power")])
def test_all_are_stopped_and_started(world, kind, how):
    w, _ = world(Fault(kind, 5, 10))
    w.until(15)

    assert w.said == [("stop", b, how) for b in (1, 2, 3, 4)] + [("start", b) for b in (1, 2, 3, 4)]


# The controller


@pytest.mark.parametrize("kind", ["controller-isolated", "controller-crash"])
def test_the_controller_is_meant_whatever_the_target(world, kind):
    w, _ = world(Fault(kind, 5, 10, "b3"))
    w.until(5)

    assert w.entries[0][4]["node"] == CONTROLLER
    assert w.entries[0][4]["role"] == "controller"


def test_a_crashed_controller_starts_again_at_the_end(world):
    w, _ = world(Fault("controller-crash", 5, 10), Fault("controller-crash", 7, 1))
    w.until(14)
    assert w.said == [("stop", CONTROLLER, "crash")]

    w.until(15)
    assert w.said == [("stop", CONTROLLER, "crash"), ("start", CONTROLLER)]


def test_heal_all_starts_the_controller_too(world):
    w, injector = world(Fault("controller-crash", 5, 99))
    w.until(20)
    injector.heal_all()

    assert w.down == set()


# Machines


@pytest.mark.parametrize("kind", ["disconnect", "disk-full", "slow-disk", "clock-jump"])
def test_a_machine_is_hindered_until_the_end(world, kind):
    w, _ = world(Fault(kind, 5, 10, "b3", amount=7))
    w.until(5)
    assert w.said == [("hinder", 0, 3, kind, 7)]

    w.until(15)
    assert w.said == [("hinder", 0, 3, kind, 7), ("unhinder", 0)]


@pytest.mark.parametrize(("pick", "amount"), [(0, 7), (1, -7), (2, 7)])
def test_a_clock_jumps_back_for_an_odd_pick(world, pick, amount):
    w, _ = world(Fault("clock-jump", 5, 10, "b3", pick=pick, amount=7))
    w.until(5)

    assert w.said == [("hinder", 0, 3, "clock-jump", amount)]


# Elections asked for


@pytest.mark.parametrize(
    ("kind", "how"),
    [("preferred-election", "preferred"), ("forced-election", "forced"), ("unclean-election", "unclean")],
)
def test_an_election_is_asked_for_and_needs_no_healing(world, kind, how):
    w, _ = world(Fault(kind, 5, 10, "follower"))
    w.until(99)

    assert w.said == [("elect", "t-0", how, 2)]
    assert w.healed() == []


# Fast failover


def failover(world, pick, **state):
    w, injector = world(Fault("fast-failover", 5, 50, "follower", pick, amount=10), **state)
    w.until(5)
    return w, injector


def test_the_target_is_elected_and_a_moment_later_the_old_leader_again(world):
    """KAFKA-6361."""
    w, _ = failover(world, 1)
    assert [s for s in w.said if s[0] == "elect"] == [("elect", "t-0", "forced", 3)]

    w.until(14)
    assert len([s for s in w.said if s[0] == "elect"]) == 1
    w.until(15)
    assert [s for s in w.said if s[0] == "elect"][1:] == [("elect", "t-0", "forced", 1)]


@pytest.mark.parametrize(
    ("pick", "node", "then"), [(0, 2, 1), (3, 3, 2), (1, 3, 1), (2, 2, 1), (4, 2, 1), (6, 2, 1), (9, 3, 2)]
)
def test_the_second_leader_is_another_replica_for_every_third_pick_and_else_the_old_leader(world, pick, node, then):
    w, _ = failover(world, pick)

    assert (w.entries[0][4]["node"], w.entries[0][4]["then"]) == (node, then)


@pytest.mark.parametrize(
    ("pick", "deaf"),
    [
        pytest.param(0, None, id="0-2: nobody"),
        pytest.param(2, None, id="0-2: still nobody"),
        pytest.param(3, 1, id="3-5: the old leader"),
        pytest.param(5, 1, id="3-5: the old leader again"),
        pytest.param(6, 3, id="6-8: a bystander (2 is elected)"),
        pytest.param(7, 2, id="6-8: a bystander (3 is elected)"),
        pytest.param(9, None, id="9-11: nobody"),
    ],
)
def test_somebody_may_be_deaf_to_the_controller_meanwhile(world, pick, deaf):
    """KAFKA-6880: a zombie follower goes on fetching from whom it knows."""
    w, _ = failover(world, pick)

    assert w.entries[0][4].get("deaf") == deaf
    assert w.links == ({} if deaf is None else {0: ({(CONTROLLER, deaf)}, "lost-leadership", 0)})


def test_the_deaf_one_hears_again_at_the_end(world):
    w, _ = failover(world, 3)
    w.until(54)
    assert w.links != {}

    w.until(55)
    assert w.links == {}
    assert w.healed() == [(55, 0, "fast-failover")]


def test_with_two_replicas_the_old_leader_is_the_bystander(world):
    w, _ = failover(world, 6, replicas=(1, 2), isr=(1, 2))

    assert w.entries[0][4]["deaf"] == 1


def test_without_a_leader_nobody_is_deaf_in_its_stead(world):
    w, _ = failover(world, 3, leader=-1)

    assert w.links == {}


def test_the_second_election_is_not_made_after_the_end(world):
    w, injector = failover(world, 1)
    injector.heal_all()
    w.until(99)

    assert [s for s in w.said if s[0] == "elect"] == [("elect", "t-0", "forced", 3)]


def test_a_lone_replica_is_elected_twice(world):
    w, _ = failover(world, 0, replicas=(1,), isr=(1,))
    w.until(15)

    assert [s[3] for s in w.said if s[0] == "elect"] == [1, 1]


# Overlaps


def test_a_crashed_broker_is_not_crashed_again_and_started_when_no_fault_holds_it(world):
    w, _ = world(Fault("crash", 5, 10), Fault("crash", 7, 20))
    w.until(7)
    assert w.entries[1][4]["nodes"] == [1]
    w.until(26)
    assert w.said == [("stop", 1, "crash")]

    w.until(99)
    assert w.said == [("stop", 1, "crash"), ("start", 1)]
    assert w.healed() == [(15, 0, "crash"), (27, 1, "crash")]


def test_crash_all_holds_who_is_down_already(world):
    w, _ = world(Fault("crash", 5, 10, "b3"), Fault("crash-all", 7, 20))
    w.until(26)

    assert w.entries[1][4]["nodes"] == [1, 2, 3, 4]
    assert w.down == {1, 2, 3, 4}


def test_a_pause_that_ends_resumes_nobody_whom_another_holds(world):
    w, _ = world(Fault("pause", 5, 10), Fault("pause", 7, 20))
    w.until(26)
    assert w.said == [("pause", 1)]

    w.until(27)
    assert w.said == [("pause", 1), ("resume", 1)]


def test_a_pause_holds_the_process_that_comes_after_a_crash(world):
    w, _ = world(Fault("pause", 5, 100), Fault("crash", 7, 10))
    w.until(20)

    assert w.said == [("pause", 1), ("stop", 1, "crash"), ("start", 1), ("pause", 1)]


def test_a_pause_that_strikes_a_broker_that_is_down_holds_its_next_process(world):
    w, _ = world(Fault("crash", 5, 10), Fault("pause", 7, 10))
    w.until(17)

    assert w.said == [("stop", 1, "crash"), ("start", 1), ("pause", 1), ("resume", 1)]


def test_a_paused_broker_can_crash(world):
    w, _ = world(Fault("pause", 5, 7), Fault("crash", 7, 10))
    w.until(99)

    assert [one for one in w.said if one[0] != "resume"] == [("pause", 1), ("stop", 1, "crash"), ("start", 1)]


def test_link_faults_have_keys_of_their_own(world):
    w, _ = world(Fault("isolate", 5, 10), Fault("isolate", 7, 20))
    w.until(7)
    assert set(w.links) == {0, 1}

    w.until(15)
    assert set(w.links) == {1}


def test_several_faults_at_one_time_strike_in_the_plans_order(world):
    w, _ = world(Fault("pause", 5, 10, "b3"), Fault("crash", 5, 10, "b2"), Fault("isolate", 5, 10, "b1"))
    w.until(5)

    assert [index for _, index, _, _ in w.struck()] == [0, 1, 2]


# The end


def test_heal_all_ends_every_fault_and_starts_everything(world):
    w, injector = world(Fault("crash", 5, 99, "b1"), Fault("isolate", 5, 99, "b2"), Fault("pause", 5, 99, "b3"))
    w.until(20)
    injector.heal_all()

    assert w.links == {}
    assert w.down == set()
    assert w.paused == set()
    assert w.healed() == [(20, 0, "crash"), (20, 1, "isolate"), (20, 2, "pause"), (20, -1, "all")]


def test_it_starts_brokers_that_no_fault_stopped(world):
    """A 0.10 broker that gave itself up."""
    w, injector = world()
    w.down.add(2)
    injector.heal_all()

    assert w.down == set()


def test_after_it_nothing_strikes_or_heals_any_more(world):
    w, injector = world(
        Fault("crash", 5, 30), Fault("crash", 25, 1, "b2"), Fault("pause", 0, 10, "b3", after=Trigger("append", 1))
    )
    w.until(20)
    injector.heal_all()
    before = list(w.said)
    w.until(25)
    w.happened("append", 1)
    w.until(99)

    assert w.said == before
    assert w.entries[-1][:4] == (20, "heal", -1, "all")


def test_records_are_deleted_of_whoever_leads(world):
    w, _ = world(Fault("delete-records", 5, 9, amount=400), leader=2)
    w.until(20)

    assert w.said == [("delete", "t-0", 400)]
    assert w.entries == [
        (5, "strike", 0, "delete-records", {"node": 2, "role": "leader", "partition": "t-0", "amount": 400})
    ]


def test_retention_strikes_one_replica(world):
    w, _ = world(Fault("retention", 5, 9, "follower", pick=1, amount=1000))
    w.until(20)

    assert w.said == [("retain", "t-0", 3, 1000)]
    assert w.healed() == []


# Replicas that move


MOVE = "reassignment"


@pytest.mark.parametrize(
    ("pick", "replicas"),
    [
        pytest.param(0, (4, 2, 3), id="in its place"),
        pytest.param(1, (2, 3, 4), id="as the last"),
        pytest.param(2, (4, 2, 3), id="there is one broker to come"),
    ],
)
def test_a_replica_moves_to_a_broker_that_has_none(world, pick, replicas):
    w, _ = world(Fault(MOVE, 5, 10, "leader", pick))
    w.until(5)

    assert w.said == [("reassign", "t-0", replicas)]


@pytest.mark.parametrize(("pick", "to"), [(0, 4), (2, 5), (4, 4), (3, 5)])
def test_which_broker_is_picked(world, pick, to):
    w, _ = world(Fault(MOVE, 5, 10, "leader", pick), brokers=(1, 2, 3, 4, 5))
    w.until(5)

    ((_, _, replicas),) = w.said
    assert set(replicas) == {2, 3, to}


def test_what_it_is_to_be_is_told_and_nothing_is_healed(world):
    w, _ = world(Fault(MOVE, 5, 10, "follower", 0))
    w.until(20)

    assert w.entries == [
        (5, "strike", 0, MOVE, {"node": 2, "role": "follower", "partition": "t-0", "replicas": [1, 4, 3]})
    ]


def test_while_one_is_under_way_it_goes_on_from_where_that_one_leads(world):
    w, _ = world(Fault(MOVE, 5, 10, "b3", 0), replicas=(2, 3, 4, 1), more=())
    w.states["t-0"]["target"] = (2, 3, 4)
    w.until(5)

    assert w.said == [("reassign", "t-0", (2, 1, 4))]


def test_who_comes_may_be_sent_back_before_it_has_come(world):
    w, _ = world(Fault(MOVE, 5, 10, "b4", 1), replicas=(2, 3, 4, 1))
    w.states["t-0"]["target"] = (2, 3, 4)
    w.until(5)

    assert w.said == [("reassign", "t-0", (2, 3, 1))]


def test_in_place_of_one_that_is_about_to_go_another_moves(world):
    w, _ = world(Fault(MOVE, 5, 10, "leader", 4), leader=1, replicas=(2, 3, 4, 1))
    w.states["t-0"]["target"] = (2, 3, 4)
    w.until(5)

    assert w.said == [("reassign", "t-0", (2, 1, 4))]
    assert w.struck() == [(5, 0, MOVE, 3)]


def test_with_a_replica_everywhere_nothing_moves(world):
    w, _ = world(Fault(MOVE, 5, 10), brokers=(1, 2, 3))
    w.until(5)

    assert w.said == []
    assert w.struck() == [(5, 0, MOVE, 1)]


@pytest.mark.parametrize(("target", "pick", "left"), [("b2", 0, (1, 3)), ("b4", 1, (1, 3)), ("b4", 2, (1, 2))])
def test_one_replica_is_taken_away(world, target, pick, left):
    w, _ = world(Fault("one-fewer-replica", 5, 10, target, pick))
    w.until(20)

    assert w.said == [("reassign", "t-0", left)]
    assert w.entries[0][4]["replicas"] == list(left)


def test_the_only_replica_stays(world):
    w, _ = world(Fault("one-fewer-replica", 5, 10), replicas=(1,))
    w.until(5)

    assert w.said == []


def test_min_isr_is_set_and_set_back(world):
    w, _ = world(Fault("min-isr", 5, 10, amount=1))
    w.until(20)

    assert w.said == [("min ISR", 1), ("min ISR", None)]
    assert w.entries[0][4]["min_isr"] == 1


def test_elr_is_switched_off_and_on_again(world):
    w, _ = world(Fault("elr-off", 5, 10))
    w.until(5)
    assert w.said == [("ELR", False)]
    w.until(20)
    assert w.said == [("ELR", False), ("ELR", True)]


def test_unclean_elections_are_allowed_and_then_as_they_were(world):
    w, _ = world(Fault("unclean-allowed", 5, 10))
    w.until(20)

    assert w.said == [("unclean", True), ("unclean", None)]


def test_a_log_is_moved_and_what_throttled_it_is_taken_off(world):
    w, _ = world(Fault("move-log-dir", 5, 10, "b2", amount=100), Fault("move-log-dir", 6, 10, "b1"))
    w.until(30)

    (partition,) = {one[1] for one in w.said if one[0] == "move"}
    assert w.said == [("move", partition, 2, 100), ("move", partition, 1, 0), ("unthrottle", 2)]


def test_a_voter_that_several_faults_remove_is_added_with_the_last(world):
    w, _ = world(
        Fault("remove-voter", 5, 10, pick=5), Fault("remove-voter", 6, 20, pick=2), Fault("remove-voter", 7, 1)
    )
    w.until(30)

    assert w.said == [("voter", 2, False), ("voter", 0, False), ("voter", 0, True), ("voter", 2, True)]
    assert [entry[4]["node"] for entry in w.entries if entry[1] == "strike"] == [2, 2, 0]


# Log directories that fail


def test_a_log_directory_fails_and_is_mended_by_a_restart_that_the_history_tells_of(world):
    w, _ = world(Fault("fail-log-dir", 5, 10, "b2", 1), Fault("lose-log-dir", 50, 10, "b1", 2))
    w.until(70)

    (partition,) = {one[1] for one in w.said if one[0] == "fail"}
    assert w.said == [
        ("fail", partition, 2, False),
        ("mend", 2, False),
        ("fail", partition, 1, True),
        ("mend", 1, True),
    ]
    assert [op[4] for op in w.entries if op[1] == "heal"] == [{"restarts": [2]}, {"restarts": [1]}]


def test_of_a_broker_s_log_directories_one_fails_at_a_time_and_comes_back_empty_if_any_fault_says_so(world):
    w, _ = world(
        Fault("lose-log-dir", 5, 10, "b2"), Fault("fail-log-dir", 6, 30, "b2"), Fault("fail-log-dir", 60, 5, "b2")
    )
    w.until(80)

    assert [one for one in w.said if one[0] == "mend"] == [("mend", 2, True), ("mend", 2, False)]
    assert len([one for one in w.said if one[0] == "fail"]) == 2
    assert [op[4] for op in w.entries if op[1] == "heal"] == [{}, {"restarts": [2]}, {"restarts": [2]}]


# Damaged files


@pytest.mark.parametrize("kind", ["flip-bits", "cut-tail"])
def test_files_are_damaged_when_their_process_is_gone_and_found_when_it_starts(world, kind):
    w, _ = world(Fault(kind, 5, 10, "b2", 4, amount=7))
    w.until(20)

    assert w.said == [("stop", 2, "damage"), ("damage", 2, kind, 7, 4, 5), ("start", 2)]


def test_files_of_who_is_down_are_damaged_too(world):
    w, _ = world(Fault("crash", 5, 30, "b2"), Fault("cut-tail", 6, 10, "b2", amount=7))
    w.until(40)

    assert w.said == [("stop", 2, "crash"), ("damage", 2, "cut-tail", 7, 0, 6), ("start", 2)]


def test_the_same_fault_of_the_same_plan_draws_the_same_whatever_others_there_are():
    one = Damage("flip-bits", 7, 4, 5)

    assert one.seed(1) == Damage("flip-bits", 7, 4, 5).seed(1)
    assert len({one.seed(1), one.seed(2), one._replace(at_us=6).seed(1), one._replace(pick=1).seed(1)}) == 4
    assert [one._replace(pick=pick).which for pick in range(4)] == ["all", "half", "one", "all"]

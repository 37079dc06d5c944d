"""Which links a fault cuts, slows or makes lossy, and when they are whole again."""

import pytest

from tidemark.nemesis import Fault
from tidemark.nemesis.kinds import CONTROLLER_LINKS
from tidemark.nemesis.links import CONTROLLER, EVERYONE


def links(world, key=0):
    return world.links[key][0]


def both(*pairs):
    return {*pairs, *((b, a) for a, b in pairs)}


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

    assert both((1, EVERYONE)) <= links(w)


@pytest.mark.parametrize("kind", ["halves", "one-way-in", "from-controller", "slow", "late-leadership"])
def test_other_link_faults_leave_the_clients_alone(world, kind):
    w, _ = world(Fault(kind, 5, 10, clients=True))
    w.until(5)

    assert not any(EVERYONE in link for link in links(w))


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

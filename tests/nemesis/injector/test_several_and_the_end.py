"""Faults that overlap hold what they hold until the last of them ends, and the end heals all."""

from tidemark.nemesis import Fault, Trigger

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

"""What faults do to processes, machines, records, log directories and files, and how each heals."""

import pytest

from tidemark.nemesis import Fault
from tidemark.nemesis.damage import Damage
from tidemark.nemesis.links import CONTROLLER

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


# Records that are deleted


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

"""Why a partition is stuck, where the trace shows it."""

from tidemark.checkers import History, check

P = "t-0"
ELECTED = [
    (0, 0, "register", "", 1, 1, False),
    (0, 0, "register", "", 2, 2, False),
    (1, 0, "elect", P, 1, 3, (1, 2), (), "initial", True, 0),
    (2, 1, "lead", P, 3, 0, 0, (1, 2)),
]
FOLLOWS = (3, 2, "follow", P, 3, 1, 0, 0)
STUCK = (99, 0, "converged", P, False, "something")


def causes(*trace, **meta):
    (stuck,) = check(History.of(trace=[*ELECTED, *trace, STUCK], **meta)).named("stuck")
    found = stuck.evidence.get("because", [])
    assert stuck.message.endswith(" ".join(found))
    return found


def test_nothing_is_said_where_nothing_shows():
    assert causes(FOLLOWS) == []


def test_a_broker_that_has_not_heard_of_the_newest_epoch():
    later = [FOLLOWS, (5, 0, "elect", P, 1, 4, (1, 2), (), "online", True, 1), (6, 1, "lead", P, 4, 0, 0, (1, 2))]

    assert causes(*later) == [
        "Broker 2 goes by epoch 3, and has not heard of epoch 4, elected at 0.000005 s.",
    ]


def test_a_broker_that_is_told_nothing_after_its_restart():
    """KAFKA-1120."""
    back = [
        FOLLOWS,
        (4, 2, "recovered", P, 0, 0, 0),
        (5, 2, "stop", "", "crash"),
        (6, 2, "start", "", 2),
        (7, 0, "register", "", 2, 9, False),
    ]

    assert causes(*back) == ["Broker 2 has not been told anything since it started."]


def test_a_broker_that_is_down_owes_nothing():
    assert causes((5, 2, "stop", "", "crash")) == []


def test_a_follower_that_refuses_what_it_fetches():
    assert causes(FOLLOWS, (5, 2, "out-of-order", P, 7, 4), (8, 2, "out-of-order", P, 7, 4)) == [
        "Broker 2 refuses the batch at offset 7 as out of order since 0.000005 s: its log ends at 4."
    ]


def test_one_that_came_over_it_does_not():
    assert causes(FOLLOWS, (5, 2, "out-of-order", P, 7, 4), (8, 2, "append", P, 0, 3, (1,))) == []


def test_a_broker_that_gave_up():
    gone = [(5, 2, "fatal", "", "the leader's log is shorter"), (6, 2, "stop", "", "fatal")]

    assert causes(FOLLOWS, *gone) == ["Broker 2 gave up at 0.000006 s: the leader's log is shorter."]


def test_no_leader_though_a_member_of_the_isr_lives():
    none = (5, 0, "elect", P, -1, 4, (2,), (), "offline", True, 1)
    told = [(6, 1, "follow", P, 4, -1, 0, 0), (6, 2, "follow", P, 4, -1, 0, 0)]

    assert causes(FOLLOWS, none, *told) == ["There is no leader since 0.000005 s, though 2 of the ISR live."]


def test_no_leader_because_the_only_member_of_the_isr_lost_its_log_directory():
    none = (5, 0, "elect", P, -1, 4, (2,), (), "offline", True, 1)
    stopped = [(6, 2, "stop", "", "clean"), (6, 2, "log-dir", "", "first", "emptied"), (6, 2, "log-lost", P, "first")]
    began = [(7, 2, "start", "", 2), (7, 0, "register", "", 2, 3, False)]
    told = [(8, 1, "follow", P, 4, -1, 0, 0), (8, 2, "follow", P, 4, -1, 0, 0)]

    assert causes(FOLLOWS, none, *stopped, *began, *told) == [
        "There is no leader since 0.000005 s, though 2 of the ISR live.",
        "Broker 2 lost its log directory, and with it its log, at 0.000006 s.",
    ]


def test_no_leader_because_the_only_member_of_the_isr_lost_its_disk():
    none = (5, 0, "elect", P, -1, 4, (2,), (), "offline", True, 1)
    lost = [(6, 2, "stop", "", "disk"), (7, 2, "start", "", 2), (7, 0, "register", "", 2, 3, False)]
    told = [(8, 1, "follow", P, 4, -1, 0, 0), (8, 2, "follow", P, 4, -1, 0, 0)]
    leaderless = "There is no leader since 0.000005 s, though 2 of the ISR live."

    assert causes(FOLLOWS, none, *lost, *told) == [
        leaderless,
        "Broker 2 lost its disk, and with it its log, at 0.000006 s.",
    ]
    assert causes(FOLLOWS, none, *lost, *told, (9, 2, "append", P, 0, 3, (7,))) == [leaderless]


def test_logs_that_differ():
    differ = [
        FOLLOWS,
        (4, 1, "append", P, 0, 3, (7,)),
        (4, 2, "append", P, 0, 3, (8,)),
        (5, 2, "fetched", P, 3, 1),
    ]

    (cause,) = causes(*differ)
    assert "differ" in cause or "prefix" in cause or "diverge" in cause

"""Who led, by what was seen."""

from tidemark.checkers.history.leaders_seen import MOST, in_words, leaders_seen


def seen(time, node, epoch, *, leads=True, log="t-0"):
    return (time, node, "seen", log, leads, epoch, 10, 8, node)


def test_each_reign_is_told_once_in_order_of_time():
    trace = [
        seen(9, 1, 3),
        (9, 1, "stop", "", "crash"),
        seen(4, 2, 2),
        seen(5, 2, 2),
        seen(6, 3, 2, leads=False),
        seen(12, 1, 4),
    ]

    assert [(one.time, one.node, one.leader_epoch) for one in leaders_seen(trace)] == [(4, 2, 2), (9, 1, 3), (12, 1, 4)]


def test_of_several_logs_each_is_named_and_of_many_reigns_some():
    told = in_words(leaders_seen([seen(time, 1, time, log=f"t-{time % 2}") for time in range(MOST + 3)]))

    assert told.startswith("seen to lead: node 1 in epoch 0 of t-0 (0.000000 s, log end 10), node 1 in epoch 1 of t-1")
    assert told.endswith(" and 3 more")


def test_of_nobody_nothing_is_told():
    assert in_words(leaders_seen([seen(1, 1, 1, leads=False)])) == ""

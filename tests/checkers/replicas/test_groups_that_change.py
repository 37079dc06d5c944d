"""Where members change, what is committed and acknowledged is judged by the group that the leader went by."""

from tidemark.checkers import History, check, sent

META = {"isr": False, "contract": "majority", "min_isr": 2, "replicas": {"t-0": [1, 2, 3]}, "acks": "all"}


def names(trace, ops=()):
    return [anomaly.name for anomaly in check(History.of(trace=trace, ops=ops, **META)).anomalies]


def written(*nodes, offset=0, epoch=1, values=(7,)):
    return [(20 + node, node, "append", "t-0", offset, epoch, values) for node in nodes]


FOUR = (1, 2, 3, 4)
LEADS = [(10, 1, "lead", "t-0", 1, 0, 0, ())]
ADDED = [(15, 1, "append", "t-0", 0, 1, (-99,)), (15, 1, "members", "t-0", FOUR, 0, 1, False)]


def acked_by(*nodes, adds=ADDED, base=1):
    followers = [(16, node, "append", "t-0", 0, 1, (-99,)) for node in nodes if node != 1] if adds else []
    trace = [*LEADS, *adds, *followers, *written(*nodes, offset=base), (30, 1, "hw", "t-0", base + 1, 1, True)]
    return names(trace, [sent(31, "p1", "t-0", 7, base)])


def test_two_of_three_are_enough_and_two_of_four_are_not():
    assert "acked-by-too-few" not in acked_by(1, 2, adds=[], base=0)
    assert "acked-by-too-few" in acked_by(1, 2)
    assert "acked-by-too-few" not in acked_by(1, 2, 3)


def test_who_is_no_member_does_not_count():
    assert "acked-by-too-few" in acked_by(1, 2, 5)


def test_a_server_that_could_be_elected_by_its_own_group_makes_a_commit_unsafe():
    """Server 4 has the entry that makes it one of four; 5, with the same log, is in no group."""
    shared = [(16, node, "append", "t-0", 0, 1, (-99,)) for node in (2, 3, 4)]
    five = [(16, 5, "append", "t-0", 0, 1, (-99,))]
    commit = [(30, 1, "hw", "t-0", 2, 1, True)]

    assert "unsafe-commit" in names([*LEADS, *ADDED, *shared, *written(1, offset=1), *commit])
    assert "unsafe-commit" not in names([*LEADS, *ADDED, *shared, *five, *written(1, 2, 3, offset=1), *commit])


def test_who_has_left_owes_no_log():
    left = [(40, 1, "members", "t-0", (1, 2), 1, 1, True)]
    trace = [*LEADS, *written(1, 2, 3), *left, (90, 0, "converged", "t-0", True, "")]
    finals = [(91, n, "final", "t-0", "follower", 1, 1, 1, (), ((0, 1, (7,)),)) for n in (1, 2)]
    words = check(History.of(trace=[*trace, *finals], ops=[sent(31, "p1", "t-0", 7, 0)], **META)).unknown_because

    assert words is None or "final log" not in words

"""How far a high watermark may fall when the leader changes: as far as the new leader knew."""

from tidemark.checkers import History, check

P = "t-0"
BEFORE = [
    (10, 1, "lead", P, 1, 0, 0, (1, 2)),
    (20, 1, "append", P, 0, 1, (7, 8, 9)),
    (21, 2, "append", P, 0, 1, (7, 8, 9)),
    (30, 1, "hw", P, 3, 1, True),
    (31, 2, "hw", P, 2, 1, False),
]


def moved_back(*trace):
    found = check(History.of(trace=[*BEFORE, *trace])).named("hw-regression")
    return [(one.verdict, one.evidence["from"], one.evidence["to"]) for one in found]


def test_a_new_leader_knows_what_it_heard_last():
    assert moved_back((40, 2, "lead", P, 2, 3, 2, (2,))) == [("permitted", 3, 2)]


def test_a_new_leader_that_begins_with_less_has_forgotten_what_it_knew():
    assert moved_back((40, 2, "lead", P, 2, 3, 0, (2,))) == [("violation", 2, 0), ("permitted", 3, 0)]


def test_after_a_restart_it_knows_what_its_checkpoint_said():
    back = [(35, 2, "stop", "", "crash"), (36, 2, "start", "", 2), (37, 2, "recovered", P, 3, 1, 0)]

    assert moved_back(*back, (40, 2, "lead", P, 2, 3, 1, (2,))) == [("permitted", 3, 1)]
    assert moved_back(*back, (40, 2, "lead", P, 2, 3, 0, (2,)))[0] == ("violation", 1, 0)


def test_it_knows_no_more_than_its_log_has():
    cut = (35, 2, "truncate", P, 1, 3, "epoch", 2)

    assert moved_back(cut, (40, 2, "lead", P, 2, 1, 1, (2,))) == [("permitted", 3, 1)]


def test_a_leader_that_is_elected_again_forgets_nothing_either():
    assert moved_back((40, 1, "lead", P, 2, 3, 2, (1,)))[0] == ("violation", 3, 2)

"""A page says when another of several controllers becomes the active one."""

from tidemark.checkers import History
from tidemark.harness.report.story import all_moments

TRACE = [
    (0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0),
    (1, 1, "lead", "t-0", 0, 0, 0, (1, 2)),
    (5, 2, "controls", "", 7),
]


def test_it_is_a_moment_of_the_run():
    moments = all_moments(History.of(trace=TRACE, replicas={"t-0": [1, 2]}), "t-0", None, None)

    assert "Node 2 is the active controller from now on, in controller epoch 7." in [one.sentence for one in moments]

"""Which anomaly to shrink to."""

from tidemark.checkers import Verdict
from tidemark.checkers.verdict.verdict import Anomaly
from tidemark.harness.search.shrink.choice import chosen


def verdict(*anomalies):
    found = [Anomaly(name, verdict, time, "t-0", "") for name, verdict, time in anomalies]
    return Verdict("invalid", "documented", tuple(found), None, {})


def test_what_others_follow_from_comes_first_however_late():
    found = chosen(
        verdict(("stuck", "violation", 1), ("lost-write", "violation", 2), ("lost-committed-write", "violation", 3))
    )
    assert found.name == "lost-committed-write"


def test_the_first_of_a_name():
    found = chosen(verdict(("divergence", "violation", 5), ("divergence", "violation", 3)))
    assert found.time == 3


def test_only_violations_unless_one_is_asked_for():
    both = verdict(("lost-committed-write", "permitted", 1), ("odd", "violation", 2))
    assert chosen(both).name == "odd"
    assert chosen(both, "lost-committed-write").verdict == "permitted"
    assert chosen(both, "divergence") is None
    assert chosen(verdict(("odd", "near-miss", 1))) is None


def test_of_the_name_asked_for_the_gravest():
    found = chosen(verdict(("odd", "permitted", 1), ("odd", "violation", 2)), "odd")
    assert found.verdict == "violation"

"""Servers that cut what they know to be committed."""

import pytest

from tidemark.checkers import History, check
from tidemark.harness.runs.meta import run_meta
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import parse_variant

META = {"isr": False, "contract": "majority", "replicas": {"t-0": [1, 2, 3]}}
HAS = [(10, 2, "append", "t-0", 0, 1, (7, 8, 9)), (20, 2, "hw", "t-0", 2, 1, False)]


def found(*trace, **meta):
    told = check(History.of(trace=[*HAS, *trace], **META | meta)).anomalies
    return [
        (one.evidence["node"], one.evidence["to"], one.evidence["hw"]) for one in told if one.name == "committed-cut"
    ]


def cut(to, before=3, at=30):
    return (at, 2, "truncate", "t-0", to, before, "another term", 2)


def test_what_lies_beyond_may_go_and_nothing_before():
    assert found(cut(2)) == []
    assert found(cut(1)) == [(2, 1, 2)]


def test_it_is_told_once():
    assert found(cut(1), (31, 2, "hw", "t-0", 1, 2, False), cut(0, 1, 32)) == [(2, 1, 2)]


@pytest.mark.parametrize("how", ["disk", "damage"])
def test_after_a_disk_was_lost_or_damaged_anybody_may_lead(how):
    assert found((25, 1, "stop", "", how), cut(0)) == []
    assert found((25, 1, "stop", "", "power"), cut(0)) == [(2, 0, 2)]


def test_only_where_servers_vote_and_no_rule_has_them_cut():
    assert found(cut(0), votes=False) == []
    assert found(cut(0), isr=True) == []
    assert found(cut(0), cuts_committed=True) == []


@pytest.mark.parametrize(
    ("variant", "cuts"),
    [("quorum-hwm", True), ("quorum-hwm+rejoin=own", False), ("quorum-hwm+repaired", False), ("raft", False)],
)
def test_the_meta_line_tells_of_such_a_rule(variant, cuts):
    assert run_meta(ClusterSpec(), parse_variant(variant)).get("cuts_committed", False) is cuts

"""Sends and polls while one broker leads and all others follow: smallest histories, to the microsecond of the bound."""

import pytest

from tidemark.checkers import History, Op, check
from tidemark.checkers.replicas.liveness.bounds import TIMES

ELECTION, RETRY = 10 + 4 + 9, 9 + 4
META = {
    "replicas": {"t-0": [1, 2]},
    "isr": False,
    "min_isr": 2,
    "end_us": 500,
    "times": dict(zip(TIMES, (10, 2, 1, 15, 5, 2, 15), strict=True)),
}
STARTED = [(0, 1, "start", "", 1), (0, 2, "start", "", 1)]
LED, FOLLOWED = (1, 1, "lead", "t-0", 1, 0, 0, ()), (2, 2, "follow", "t-0", 1, 1, 0, 0)


def found(name, ops, trace=(), nemesis=(), led=(LED, FOLLOWED), **meta):
    history = History.of(trace=[*STARTED, *led, *trace], nemesis=nemesis, ops=ops, **{**META, **meta})
    return [(one.evidence["since"], one.evidence["until"]) for one in check(history).anomalies if one.name == name]


def polls(begin, end, error="NOT_LEADER_OR_FOLLOWER", between=(), final=False, end_type="fail"):
    asked, refused = (("poll", {}),), (("poll", {"t-0": []}),) if end_type == "ok" else (("poll", {}),)
    return [
        Op(begin, "c1", "invoke", "poll", asked, final=final),
        Op(begin + 1, "c1", end_type, "poll", refused, error, final=final),
        *between,
        Op(end - 1, "c1", "invoke", "poll", asked, final=final),
        Op(end, "c1", end_type, "poll", refused, error, final=final),
    ]


@pytest.mark.parametrize(("end", "expected"), [(10 + ELECTION, []), (11 + ELECTION, [(10, 11 + ELECTION)])])
def test_a_consumer_is_served_within_the_bound(end, expected):
    assert found("not-served", polls(10, end)) == expected


def test_only_the_time_in_which_all_is_calm_counts():
    late = (20, 2, "follow", "t-0", 1, 1, 0, 0)

    assert found("not-served", polls(10, 20 + ELECTION), led=(LED, late)) == []
    assert found("not-served", polls(10, 21 + ELECTION), led=(LED, late)) == [(20, 21 + ELECTION)]


@pytest.mark.parametrize(
    ("trace", "nemesis"),
    [
        ([(20, 2, "stop", "", "crash")], ()),
        ([(20, 2, "pause", "")], ()),
        ([(20, 2, "follow", "t-0", 2, -1, 0, 0)], ()),
        ([(20, 2, "lead", "t-0", 2, 0, 0, ())], ()),
        ([(20, 1, "members", "t-0", (1, 2, 3), 4, 1, False)], ()),
        ([], [(20, "strike", 0, "slow", {"node": 2})]),
        ([], [(20, "strike", 0, "halves", {})]),
    ],
    ids=["stopped", "paused", "knows-no-leader", "leads-too", "members-change", "slow", "halves"],
)
def test_nobody_owes_anything_unless_all_is_calm(trace, nemesis):
    send = (("send", "t-0", 7),)
    sends = [Op(10, "p1", "invoke", "send", send), Op(40, "p1", "info", "send", send, "REQUEST_TIMED_OUT", "all")]

    assert found("not-served", polls(10, 40), trace, nemesis) == []
    assert found("not-acknowledged", sends, trace, nemesis) == []


def test_polls_that_are_answered_are_not_in_vain():
    empty = [Op(25, "c1", "invoke", "poll", (("poll", {}),)), Op(26, "c1", "ok", "poll", (("poll", {"t-0": []}),))]

    assert found("not-served", polls(10, 45, between=empty)) == []
    assert found("not-served", polls(10, 45, error="OFFSET_OUT_OF_RANGE")) == []


def test_final_reads_that_do_not_end_and_return_nothing_are():
    empty = polls(10, 40, error=None, final=True, end_type="ok")

    assert found("not-served", empty, read_back=False) == [(10, 40)]
    assert found("not-served", empty, read_back=True) == []
    assert found("not-served", polls(10, 40), world="docker") == []


def send(begin, end, error="REQUEST_TIMED_OUT"):
    value = (("send", "t-0", 7), ("send", "t-0", 8))
    return [Op(begin, "p1", "invoke", "send", value), Op(end, "p1", "info", "send", value, error, "all")]


def test_a_send_without_an_isr_has_to_succeed_in_time():
    assert found("not-acknowledged", send(10, 10 + 15)) == [(10, 25)]
    assert found("not-acknowledged", send(1, 1 + 15)) == []
    assert found("not-acknowledged", send(10, 25, error="NOT_ENOUGH_REPLICAS")) == []


def test_a_leader_gives_no_send_up_before_its_client_does():
    assert found("not-acknowledged", send(10, 12)) == [(10, 12)]
    assert found("not-acknowledged", send(10, 12), patience_us=2) == []
    assert found("not-acknowledged", send(10, 12), isr=True) == [(10, 12)]
    assert found("not-acknowledged", send(10, 25), isr=True) == []


def order(kind="forced-election", node=2, time=10):
    return (time, "strike", 0, kind, {"node": node, "partition": "t-0"})


AFTER = 10 + 9


@pytest.mark.parametrize(("end", "expected"), [(AFTER, []), (AFTER + 1, [(10, AFTER + 1)])])
def test_an_election_that_is_asked_for_is_held_within_the_bound(end, expected):
    stands = [(end, 2, "follow", "t-0", 2, -1, 0, 0)]

    assert found("election-not-held", [], stands, [order()]) == expected


def test_preferred_is_the_first_replica_and_who_leads_already_is_election_not_held():
    second_leads = ((1, 2, "lead", "t-0", 1, 0, 0, ()), (2, 1, "follow", "t-0", 1, 2, 0, 0))

    assert found("election-not-held", [], nemesis=[order("preferred-election")]) == []
    assert found("election-not-held", [], nemesis=[order("preferred-election")], led=second_leads) == [(10, 500)]
    assert found("election-not-held", [], nemesis=[order(node=1)]) == []
    assert found("election-not-held", [], nemesis=[order(node=3)]) == []


def test_a_controller_elects_members_of_the_isr_only():
    elected = (0, 0, "elect", "t-0", 1, 1, (1, 2), (), "initial", True, 0)
    shrunk = (5, 0, "isr-change", "t-0", (1,), (), 1)

    assert found("election-not-held", [], [], [order()], led=(elected, LED, FOLLOWED), isr=True) == [(10, 500)]
    assert found("election-not-held", [], [shrunk], [order()], led=(elected, LED, FOLLOWED), isr=True) == []


@pytest.mark.parametrize("change", [((1, 2), (1,)), ((1,), (1, 2))])
def test_who_leaves_or_joins_the_isr_at_the_very_time_need_not_be_elected(change):
    before, after = change
    elected = (0, 0, "elect", "t-0", 1, 1, before, (), "initial", True, 0)
    changed = (10, 0, "isr-change", "t-0", after, (), 1)

    assert found("election-not-held", [], [changed], [order()], led=(elected, LED, FOLLOWED), isr=True) == []


def test_nobody_is_elected_unless_all_is_calm():
    assert found("election-not-held", [], nemesis=[order(), (12, "strike", 1, "isolate", {"node": 2})]) == []
    assert found("election-not-held", [], nemesis=[order()], world="docker") == []

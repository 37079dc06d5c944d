"""Systems that tell nothing while they run: what their logs at the end, and the ends of their processes, say."""

import pytest

from tidemark.checkers import History, check, sent

META = {"untold": True, "isr": False, "min_isr": 2, "replicas": {"t-0": [1, 2, 3]}, "faults": 1}


def final(node, role, *values):
    batches = tuple((offset, 0, (value,)) for offset, value in enumerate(values))
    return (90, node, "final", "t-0", role, -1, len(values), len(values), (), batches)


def verdict(*trace, contract="majority"):
    ops = [sent(10, "p1", "t-0", 7, 0), sent(30, "p1", "t-0", 8, 1)]
    nemesis = [(5, "strike", 0, "crash", {"node": 1})]
    return check(History.of(**META, contract=contract, ops=ops, nemesis=nemesis, trace=list(trace)))


def told(found):
    """But for what nobody has read."""
    return [one for one in found.anomalies if one.name != "unseen"]


def names(found):
    return [(one.name, one.verdict, one.evidence.get("value")) for one in told(found)]


def test_logs_that_hold_what_was_acknowledged_are_fine():
    found = verdict(final(1, "leader", 7, 8), final(2, "follower", 7, 8), final(3, "follower", 7))

    assert (told(found), found.judged_from) == ([], "clients and replicas")


def test_logs_that_differ_at_an_offset_diverge():
    found = verdict(final(1, "leader", 7, 8), final(2, "follower", 7, 9))

    assert [(one.name, one.evidence) for one in told(found)] == [("divergence", {"offset": 1, "nodes": [1, 2]})]


def test_what_the_leader_does_not_have_is_lost_though_another_has_it():
    found = verdict(final(1, "follower", 7, 8), final(2, "leader", 7))

    assert ("lost-committed-write", "violation", 8) in names(found)


@pytest.mark.parametrize(
    ("contract", "stops", "judged"),
    [
        ("majority", [(20, 1, "power"), (20, 2, "power"), (20, 3, "power")], "violation"),
        ("majority", [(5, 3, "disk")], "permitted"),
        ("durable", [(20, 1, "power"), (21, 2, "crash")], "violation"),
        ("durable", [(31, 1, "power"), (32, 2, "power")], "permitted"),
        ("durable", [(5, 1, "power"), (32, 2, "power")], "violation"),
        ("durable", [(31, 1, "power"), (32, 1, "power")], "violation"),
        ("ack-quorum", [(31, 1, "disk")], "violation"),
        ("majority", [(20, 1, "damage")], "violation"),
        ("majority", [(20, 1, "damage"), (21, 1, "damage")], "violation"),
        ("majority", [(20, 1, "damage"), (21, 2, "damage")], "permitted"),
        ("durable", [(31, 1, "damage")], "violation"),
        ("durable", [(31, 1, "damage"), (32, 2, "power")], "permitted"),
        ("ack-quorum", [(31, 1, "damage")], "violation"),
        ("ack-quorum", [(31, 1, "damage"), (31, 2, "disk")], "permitted"),
        ("ack-quorum", [(31, 1, "disk"), (31, 2, "disk")], "permitted"),
    ],
)
def test_a_promise_excuses_the_losses_that_it_excuses(contract, stops, judged):
    trace = [(time, node, "stop", "", how) for time, node, how in stops]
    found = verdict(*trace, final(1, "leader", 7), contract=contract)

    assert ("lost-committed-write", judged, 8) in names(found)


def test_what_does_not_come_to_rest_is_stuck():
    found = verdict((80, 0, "converged", "t-0", False, "no leader"), final(1, "leader", 7, 8))

    assert [one.name for one in told(found)] == ["stuck"]


def test_damage_has_a_clause_of_its_own_where_no_disk_was_lost():
    trace = [(20, node, "stop", "", "damage") for node in (1, 2)]
    clauses = [
        [one.clause for one in verdict(*trace, *more, final(1, "leader", 7)).named("lost-committed-write")]
        for more in ([], [(25, 3, "stop", "", "disk")])
    ]

    assert clauses == [["damaged>=majority"], ["lost-disk"]]


@pytest.mark.parametrize(
    ("how", "taken"), [("crash", "violation"), ("damage", "violation"), ("power", "informational")]
)
def test_where_logs_were_lost_offsets_are_given_anew(how, taken):
    ops = [sent(10, "p1", "t-0", 7, 5), sent(30, "p1", "t-0", 8, 1)]
    trace = [(20, 1, "stop", "", how), final(1, "leader", 7, 8)]
    found = check(History.of(**META, contract="majority", ops=ops, nemesis=[], trace=trace))

    assert [one.verdict for one in found.named("nonmonotonic-send")] == [taken]


def test_logs_that_differ_are_told_with_their_epochs_and_at_how_many_offsets():
    def log(node, *records):
        batches = tuple((offset, epoch, (value,)) for offset, epoch, value in records)
        return (90, node, "final", "t-0", "follower", 0, 0, 0, (), batches)

    one, other = log(1, (0, 1, 7), (2, 3, 8), (3, 3, 9)), log(2, (0, 1, 7), (2, 1, 5), (3, 1, 6), (4, 1, 4))
    (told_of_two,) = verdict(one, other).named("divergence")
    (told_of_one,) = verdict(log(1, (0, 0, 7)), log(2, (0, 0, 8))).named("divergence")

    assert told_of_two.message.endswith("at offset 2 they have 8 (epoch 3) and 5 (epoch 1); they differ at 1 more.")
    assert told_of_one.message.endswith("at offset 0 they have 7 and 8.")

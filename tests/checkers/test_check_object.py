"""The verdict on a run whose clients worked on an object."""

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.history.history import Op

LOST = [
    Op(1, "c1", "invoke", "write", ("k", 1)),
    Op(2, "c1", "ok", "write", ("k", 1)),
    Op(30, "c2", "invoke", "read", ("k", None)),
    Op(40, "c2", "ok", "read", ("k", None)),
]
KEPT = [*LOST[:3], Op(40, "c2", "ok", "read", ("k", 1))]
OF = {"untold": True, "isr": False, "model": "key-value", "workload": "register", "min_isr": 2, "read_back": True}


def run(ops, *stops, contract="majority", **meta):
    trace = [(10, node, "stop", "", how) for node, how in stops]
    nemesis = [(10, "strike", 0, "crash", {})] if stops else []
    return check(History.of(ops=ops, trace=trace, nemesis=nemesis, contract=contract, **OF, **meta))


@pytest.mark.parametrize(
    ("contract", "stops", "valid"),
    [
        ("majority", [], "invalid"),
        ("majority", [(1, "power"), (2, "power"), (3, "power")], "invalid"),
        ("majority", [(1, "disk")], "valid"),
        ("durable", [(1, "power")], "invalid"),
        ("durable", [(1, "power"), (2, "power")], "valid"),
        ("ack-quorum", [(1, "disk")], "invalid"),
        ("ack-quorum", [(1, "disk"), (2, "disk")], "valid"),
    ],
)
def test_a_loss_is_judged_by_the_promise(contract, stops, valid):
    verdict = run(LOST, *stops, contract=contract)
    assert (verdict.valid, [one.name for one in verdict.anomalies]) == (valid, ["not-linearizable"])


def test_the_message_names_the_operation_and_its_key():
    (found,) = run(LOST).anomalies
    assert (found.partition, found.time) == ("k", 40)
    assert found.message.startswith('Read by c2 returned null, and key "k" could only be 1')


def test_a_member_that_does_not_come_to_rest_is_stuck():
    history = History.of(ops=KEPT, trace=[(50, 0, "converged", "t-0", False, "no leader")], contract="majority", **OF)
    assert [one.name for one in check(history).anomalies] == ["stuck"]


def test_members_whose_logs_differ_diverge():
    logs = [
        (50, node, "final", "t-0", "follower", -1, 1, 1, (), ((0, 0, (value,)),)) for node, value in ((1, 7), (2, 8))
    ]
    verdict = check(History.of(ops=KEPT, trace=logs, contract="majority", **OF))
    assert ([one.name for one in verdict.anomalies], verdict.judged_from) == (["divergence"], "clients and replicas")


def test_where_no_fault_was_suffered_nothing_is_known():
    assert run(KEPT, faults=3).unknown_because == "no fault of the plan could be suffered"


def test_final_reads_that_did_not_end_leave_it_unknown():
    history = History.of(ops=KEPT, contract="majority", **{**OF, "read_back": False})
    assert check(history).unknown_because == "the final reads did not come to an end"


def test_an_operation_that_never_succeeded_leaves_it_unknown():
    cas = [Op(50, "c1", "invoke", "cas", ("k", (1, 2))), Op(60, "c1", "fail", "cas", ("k", (1, 2)), "no")]
    assert run([*KEPT, *cas]).unknown_because == "these operations never succeeded: cas"


def test_its_numbers_are_those_of_every_verdict_and_more():
    of_a_log = check(History.of(ops=[], untold=True)).stats.keys() - {"worst_realtime_lag"}
    assert run(KEPT).stats.keys() - of_a_log == {"operations", "object"}
    assert not of_a_log - run(KEPT).stats.keys()


def test_a_model_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="there is no model 'tree'"):
        check(History.of(ops=KEPT, model="tree"))


def test_a_set_must_be_read_as_it_is():
    ops = [
        Op(1, "c1", "invoke", "add", 1),
        Op(2, "c1", "ok", "add", 1),
        Op(5_000, "c2", "invoke", "read", None),
        Op(6_000, "c2", "ok", "read", ()),
        Op(7_000, "c2", "invoke", "read", None),
        Op(8_000, "c2", "ok", "read", (1,)),
    ]
    verdict = check(History.of(ops=ops, contract="majority", **{**OF, "model": "set-full"}))
    assert [one.message for one in verdict.anomalies] == ["1 element stale; 1 of 1 element stable."]

"""Elle's examples of registers, from ``elle.rw-register-test``, in a form of our own. Where this checker says something else, the
test says why. ``transaction-order``, an order that the database itself tells, is not offered here.
"""

from keys_told import in_turn, names, of_registers, weakest


def test_transactions_that_contradict_themselves():
    assert names(of_registers("r y 2, w x 2, r x 2, w x 1, r x 1", "w y 2")) == []
    assert "internal" in names(of_registers("r x 1, w x 2, r x 1", "w x 1"))
    assert "internal" in names(of_registers("r x _, r x 2", "w x 2"))
    result = of_registers("r x 1, r x 2", "w x 1", "p9: w x 2", promised="read-atomic")
    assert (result.valid, names(result)) == ("invalid", ["internal"])


def test_aborted_and_intermediate_reads():
    assert names(of_registers("w x 1", "r x 1")) == []
    assert names(of_registers("r x 2", "p1 fail: w x 2")) == ["G1a"]
    assert weakest(of_registers("r x 2", "p1 fail: w x 2")) == ["read-committed"]
    assert "G1b" in names(of_registers("r x 2", "w x 2, w x 1"))
    assert "G1b" not in names(of_registers("w x 1, w x 2", "r x 2"))


def test_information_that_flows_in_a_circle():
    lines = ("w x 1, r y 1", "w y 1, r x 1")
    assert (names(of_registers(*lines)), weakest(of_registers(*lines))) == (["G1c"], ["read-committed"])
    assert of_registers(*lines, promised="read-uncommitted").valid == "valid"
    assert names(of_registers("r x 0, w x 1", "r x 1, w x 0")) == ["G1c"]
    assert names(of_registers("r x 0, w y 1", "r y 1, w x 0")) == ["G1c"]


def test_nothing_was_written_before_the_first_write():
    result = of_registers("r x _, r y 1", "w y 1, w x 2")
    assert (names(result), weakest(result)) == (["G-single"], ["consistent-view", "repeatable-read"])


def test_writes_follow_reads():
    """With Elle an option; here always, for else there were a `G1c`."""
    assert names(of_registers("r y 1, w x 1, w y 2", "r x 1, r y 1", "w y 1")) == ["G-single"]


def test_a_write_cycle_is_seen_only_if_somebody_says_how_keys_behave():
    lines = ("p0: w x 1, w y 2", "p1: w x 2, w y 1", "p0: r x 2", "p1: r y 2")
    assert "G0" not in names(of_registers(*lines))
    result = of_registers(*lines, keys_are=["sequential"])
    assert "G0" in names(result)
    assert weakest(result) == ["read-uncommitted"]


def test_a_write_skew_of_keys_that_are_linearizable():
    ops = in_turn("r x 1, r y 1", "r x 1, w y 2", "r y 1, w x 2", lists=False)
    begun = [ops[0], ops[1], ops[2], ops[4], ops[5], ops[3]]
    begun = [op._replace(time=time) for time, op in enumerate(begun)]
    from tidemark.checkers.objects.transactions.check import rw_register

    assert "G2-item" not in names(rw_register(begun))
    result = rw_register(begun, keys_are=["linearizable"], promised="repeatable-read")
    assert (result.valid, "G2-item" in names(result)) == ("invalid", True)


def test_a_lost_update():
    result = of_registers("w x 0", "r x 0, w x 1", "r x 0, w x 2")
    assert names(result) == ["G2-item", "lost-update"]
    assert weakest(result) == ["cursor-stability", "update-atomic"]
    unread = of_registers("r x 0, w x 1", "r x 0, w x 2")
    assert {"lost-update", "phantom"} <= set(names(unread))


def test_versions_that_go_round():
    lines = ("p0: w x 1", "p0: w x 2", "p0: r x 1")
    result = of_registers(*lines, keys_are=["sequential"], how=in_turn)
    assert "cyclic-versions" in names(result)
    assert weakest(result) == ["read-uncommitted"]
    assert "cyclic-versions" not in names(of_registers(*lines, how=in_turn))


def test_reads_out_of_a_linearizable_order():
    """A value that nobody wrote is a `phantom` besides; Elle takes it for one that was there."""
    lines = ("w x 1", "r x 2", "r x 1")
    result = of_registers(*lines, keys_are=["linearizable"], how=in_turn)
    assert names(result) == ["cyclic-versions", "phantom"]


def test_what_one_key_contradicts_is_not_used_for_that_key_alone():
    """Elle uses nothing of what was said for any key."""
    contradicting = ("p0: w z 1", "p0: w z 2", "p0: r z 1")
    lines = ("p0: w x 1, w y 2", "p1: w x 2, w y 1", "p0: r x 2", "p1: r y 2")
    result = of_registers(*contradicting, *lines, keys_are=["sequential"])
    assert {"cyclic-versions", "G0"} <= set(names(result))


def test_nil_after_something_and_a_write_before_what_it_was_read_from():
    """``scc-sort-bug-test``."""
    lines = ("p0: r x 1", "p0: r x _", "p0: r x 4, w x 3", "p0: w x 4")
    result = of_registers(*lines, keys_are=["linearizable"], how=in_turn, promised="strict-serializable")
    assert {"cyclic-versions", "G1c-process"} <= set(names(result))
    assert weakest(result) == ["read-uncommitted"]


def test_reads_out_of_order_that_no_option_tells_of_are_found_by_nil_alone():
    """``cyclic-versions-bug-test``: concurrent operations are in no order."""
    from tidemark.checkers import Op
    from tidemark.checkers.objects.transactions.check import rw_register

    ops = [
        Op(1, "0", "invoke", "txn", [["r", 1, None]]),
        Op(2, "1", "invoke", "txn", [["w", 1, 4]]),
        Op(3, "0", "ok", "txn", [["r", 1, None]]),
        Op(4, "1", "ok", "txn", [["w", 1, 4]]),
        Op(5, "0", "invoke", "txn", [["r", 1, None]]),
        Op(6, "0", "ok", "txn", [["r", 1, 4]]),
    ]
    for keys_are in ((), ("sequential",), ("linearizable",), ("sequential", "linearizable")):
        assert rw_register(ops, keys_are=keys_are).valid == "valid"

"""Bank, long fork, causal reverse: cases of ``jepsen.tests.long-fork-test`` and ``causal-reverse-test`` among them, in our own
form."""

import pytest

from tidemark.checkers import History, Op
from tidemark.checkers.objects.workloads import Asked, bank, causal_reverse, judge, long_fork


def ok(f, value, process="a", time=1):
    return Op(time, process, "ok", f, value)


def test_a_bank_whose_total_changes():
    reads = [ok("read", {"0": 50, "1": 50}), ok("read", {"0": 40, "1": 50}, "b", 2)]
    result = bank(reads)
    assert (result.valid, result.evidence["errors"]["wrong-total"]["count"]) == ("invalid", 1)
    assert result.message == "b read balances that make 90, and there are 100 in all; of 2 reads 1 of wrong-total"
    assert bank(reads[:1]).valid == "valid"
    assert bank(reads[:1], total=99).valid == "invalid"
    assert bank([]).unknown_because == "no read was ok"


def test_a_bank_with_debts_with_nulls_and_with_accounts_that_it_has_not():
    debt = [ok("read", {"0": -5, "1": 105})]
    assert list(bank(debt).evidence["errors"]) == ["negative-value"]
    assert bank(debt, negative_balances=True).valid == "valid"
    assert judge(History(ops=debt), "bank", asked=Asked(total=100, negative_balances=True)).valid == "valid"
    assert list(bank([ok("read", {"0": None, "1": 1})], total=1).evidence["errors"]) == ["nil-balance"]
    assert list(bank(debt, accounts={"0"}).evidence["errors"]) == ["unexpected-key"]
    for value in (3, {"0": "x"}, {"0": True}):
        with pytest.raises(ValueError, match="operation 0"):
            bank([ok("read", value)])


def wrote(key, value=1):
    return Op(0, f"w{key}", "invoke", "write", [["w", key, value]])


def read(process, **values):
    return ok("read", [["r", key, value] for key, value in values.items()], process)


def test_a_long_fork():
    writes = [wrote("x"), wrote("y")]
    forked = [read("a", x=None, y=1), read("b", x=1, y=None)]
    result = long_fork([*writes, *forked])
    assert (result.valid, result.evidence["fork_count"]) == ("invalid", 1)
    assert result.message == "a read x = nothing, y = 1, and b read x = 1, y = nothing: each has what the other lacks"
    assert long_fork([*writes, forked[0], read("c", x=1, y=1), read("d", x=None, y=None)]).valid == "valid"


def test_what_no_history_of_a_long_fork_has():
    assert long_fork([wrote("x"), wrote("x", 2), read("a", x=1)]).valid == "unknown"
    assert long_fork([wrote("x"), read("a", x=2)]).valid == "invalid"
    assert long_fork([wrote("x")]).unknown_because == "no read was ok"
    with pytest.raises(ValueError, match="writes one key"):
        long_fork([ok("read", [["w", "x", 1], ["r", "y", 1]])])


def test_what_a_failed_write_would_have_written_nobody_wrote():
    failed = wrote("x")._replace(type="fail")
    assert long_fork([wrote("x"), failed, read("a", x=1)]).message == "a read what nobody wrote: x = 1"
    assert long_fork([wrote("x"), failed, wrote("x"), read("a", x=1)]).valid == "valid"
    began = Op(0, "w", "invoke", "write", 1)
    assert causal_reverse([began, began._replace(type="fail"), ok("read", [1])]).valid == "invalid"
    assert causal_reverse([began, began._replace(type="fail"), began, ok("read", [1])]).valid == "valid"


def written(value, process="w"):
    return [Op(0, process, "invoke", "write", value), Op(1, process, "ok", "write", value)]


def test_a_write_that_is_seen_without_one_that_was_over_before():
    result = causal_reverse([*written(1), *written(2), ok("read", [2])])
    assert (result.valid, result.evidence["errors"][0]["missing"]) == ("invalid", [1])
    assert causal_reverse([*written(1), *written(2), ok("read", [1]), ok("read", [])]).valid == "valid"
    one, other = written(1), written(2, "v")
    assert causal_reverse([one[0], other[0], one[1], other[1], ok("read", [2])]).valid == "valid"
    assert causal_reverse([*written(1), ok("read", [3])]).valid == "invalid"
    assert causal_reverse(written(1)).valid == "unknown"


def test_causal_reverse_of_several_keys():
    ops = [*written(["x", 1]), *written(["y", 2]), ok("read", ["y", [2]])]
    assert causal_reverse(ops).valid == "valid"
    assert causal_reverse([*ops, *written(["y", 3]), ok("read", ["y", [3]])]).valid == "invalid"

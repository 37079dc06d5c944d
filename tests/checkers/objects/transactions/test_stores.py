"""Stores that keep their level are blamed for nothing that it forbids, and what is put into their histories is found."""

import pytest
from transactional_store import IN_LISTS, IN_REGISTERS, LEVELS, TransactionalStore, injected

from tidemark.checkers.objects.transactions.check import list_append, rw_register

SEEDS = range(25)


def found(ops, *, lists, **asked):
    return (list_append if lists else rw_register)(ops, **asked)


@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.parametrize("level", LEVELS)
def test_a_store_that_keeps_its_level_is_not_blamed(level, lists):
    types = set()
    for seed in SEEDS:
        ops = TransactionalStore(seed, level, lists=lists).play(80)
        types |= {op.type for op in ops}
        result = found(ops, lists=lists, promised=level)
        assert result.valid == "valid", (seed, result.message)
    assert types == {"invoke", "ok", "fail", "info"}


@pytest.mark.parametrize("keys_are", [("sequential",), ("linearizable",), ("sequential", "linearizable")])
def test_what_is_said_of_keys_blames_nobody_of_whom_it_is_true(keys_are):
    for seed in SEEDS:
        ops = TransactionalStore(seed, lists=False).play(80)
        assert rw_register(ops, keys_are=keys_are).valid == "valid", seed


def test_weaker_levels_show_what_they_allow():
    seen = set()
    for seed in range(40):
        for level in LEVELS[1:]:
            ops = TransactionalStore(seed, level, processes=12).play(80)
            seen |= list_append(ops).evidence["anomaly_counts"].keys()
    assert {"G2-item", "G-single-process", "G-single-realtime"} <= seen


@pytest.mark.parametrize(
    ("lists", "name"), [(True, name) for name in IN_LISTS] + [(False, name) for name in IN_REGISTERS]
)
def test_an_injected_anomaly_is_found_and_no_other(lists, name):
    also = {"G1b": {"G-single"} if lists else set(), "lost-update": {"G2-item"}, "dirty-update": {"G1a"}}
    for seed in SEEDS:
        anomaly = (IN_LISTS if lists else IN_REGISTERS)[name]
        result = found(injected(TransactionalStore(seed, lists=lists).play(60), seed, anomaly), lists=lists)
        assert result.valid == "invalid", seed
        assert set(result.evidence["anomaly_counts"]) == {name, *also.get(name, ())}, seed

"""Correct histories have no cycle, whatever their clients know of them; transactions as Kafka does them have harmless ones only."""

import pytest
from dependent import cycles_in
from hypothesis import given, settings
from hypothesis import strategies as st
from transactional_log import TransactionalLog

from tidemark.checkers import History
from tidemark.checkers.clients.check_clients import clients_of
from tidemark.checkers.clients.cycles.dependencies import Dependencies
from tidemark.checkers.clients.cycles.operations import Operations
from tidemark.checkers.clients.cycles.suspects import suspects
from tidemark.checkers.history.columns.builder import columns_of
from tidemark.checkers.history.columns.versions import Versions

seeds = st.integers(0, 2**32)


@given(seeds, st.integers(1, 4), st.integers(1, 8), st.integers(1, 4))
@settings(max_examples=60)
def test_a_serialisable_history_has_none(seed, keys, processes, longest):
    ops = TransactionalLog(seed, keys=keys, processes=processes, longest=longest).play(60)

    assert cycles_in(ops) == []


@given(seeds)
@settings(max_examples=40)
def test_transactions_that_interleave_are_informational(seed):
    ops = TransactionalLog(seed, isolated=False).play(60)
    anomalies = cycles_in(ops)

    assert {one.verdict for one in anomalies} <= {"informational"}
    assert {one.name for one in anomalies} <= {"G0", "G1c", "G0-process", "G1c-process", "G0-realtime", "G1c-realtime"}


def test_they_do_interleave():
    names = {one.name for seed in range(10) for one in cycles_in(TransactionalLog(seed, isolated=False).play(60))}

    assert {"G0", "G1c"} <= names


@pytest.mark.parametrize("size", [1_000, pytest.param(30_000, marks=pytest.mark.slow)])
def test_a_long_one_leaves_no_operation_suspect(size):
    """So its cost is that of a few passes over columns: nothing is left for what looks at operations one by one."""
    columns = columns_of(TransactionalLog(7, processes=10, keys=10).play(size))

    assert len(Operations(columns)) == size
    assert len(suspects(Dependencies(Operations(columns), Versions(columns)))) == 0


def test_a_long_one_whose_transactions_interleave_has_edges_in_proportion():
    clients = clients_of(History(ops=TransactionalLog(7, isolated=False, processes=10, keys=10).play(5_000)))
    dependencies = Dependencies(Operations(clients.columns), clients.versions)
    graph = dependencies.among(suspects(dependencies))
    edges, nodes = graph.edges(frozenset({"ww", "wr", "process", "realtime"}), graph.ok * 0)

    assert nodes <= 2 * 5_000
    assert len(edges.tail) <= 4 * 5_000 + len(graph.write) + len(graph.read.tail)

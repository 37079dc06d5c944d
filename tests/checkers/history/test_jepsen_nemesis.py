"""What Jepsen's nemesis did is kept as strikes and healings, and changes no verdict."""

import io

import pytest

from tidemark.checkers import History, Op, check, read_stream
from tidemark.checkers.history.edn_lines import edn_lines
from tidemark.checkers.history.jepsen_nemesis import NemesisHalf, strikes_and_healings


def done(begin, end, f, value=None):
    """An operation of the nemesis, as Jepsen notes it."""
    return [NemesisHalf(begin, f, None), NemesisHalf(end, f, value)]


def what(*operations):
    return [entry[:4] for entry in strikes_and_healings([half for one in operations for half in one])]


@pytest.mark.parametrize(
    ("begins", "ends", "kind"),
    [
        ("kill", "start", "kill"),
        ("pause", "resume", "pause"),
        ("start-partition", "stop-partition", "partition"),
        ("start-packet", "stop-packet", "packet"),
        ("bump-clock", "reset-clock", "bump-clock"),
        ("start", "stop", "start"),
    ],
)
def test_a_fault_lasts_from_its_beginning_until_its_end_is_done(begins, ends, kind):
    assert what(done(1, 2, begins), done(8, 9, ends)) == [(1, "strike", 0, kind), (9, "heal", 0, kind)]


def test_start_starts_nothing_where_processes_are_killed():
    assert what(done(1, 2, "start"), done(3, 4, "kill"), done(5, 6, "start")) == [
        (3, "strike", 0, "kill"),
        (6, "heal", 0, "kill"),
    ]


def test_one_end_ends_all_of_its_kind():
    assert what(done(1, 2, "kill"), done(3, 4, "kill"), done(5, 6, "pause"), done(7, 8, "start")) == [
        (1, "strike", 0, "kill"),
        (3, "strike", 1, "kill"),
        (5, "strike", 2, "pause"),
        (8, "heal", 0, "kill"),
        (8, "heal", 1, "kill"),
    ]


def test_what_neither_begins_nor_ends_anything_lasts_as_long_as_it_takes():
    assert what(done(3, 7, "truncate-file")) == [(3, "strike", 0, "truncate-file"), (7, "heal", 0, "truncate-file")]


def test_a_half_alone_is_over_at_once():
    assert what([NemesisHalf(3, "bitflip", None)], done(5, 6, "kill")) == [
        (3, "strike", 0, "bitflip"),
        (3, "heal", 0, "bitflip"),
        (5, "strike", 1, "kill"),
    ]


EDN = """{:type :invoke, :process 0, :f :send, :value [[:send 3 7]], :time 1000000}
{:type :info, :process :nemesis, :f :kill, :value :one, :time 1500000}
{:type :info, :process :nemesis, :f :kill, :value {"n1" :killed}, :time 1600000}
{:type :ok, :process 0, :f :send, :value [[:send 3 [0 7]]], :time 2000000}
{:type :info, :process :nemesis, :f :start, :value nil, :time 2500000}
{:type :info, :process :nemesis, :f :start, :value {"n1" :started}, :time 2600000}
{:type :invoke, :process 1, :f :poll, :value [[:poll]], :time 3000000}
{:type :ok, :process 1, :f :poll, :value [[:poll {3 [[0 7]]}]], :time 4000000}
"""


def test_edn_keeps_the_nemesis_and_the_verdict_is_the_same():
    history = read_stream(io.BytesIO(EDN.encode()))
    without = "\n".join(line for line in EDN.splitlines() if ":nemesis" not in line)

    assert history.nemesis == [
        (1500, "strike", 0, "kill", {"value": '{"n1": "killed"}'}),
        (2600, "heal", 0, "kill", {}),
    ]
    assert check(history).to_json() == check(read_stream(io.BytesIO(without.encode()))).to_json()
    assert check(history).valid == "valid"


def test_our_own_strikes_come_back_from_edn_as_they_were():
    nemesis = [
        (3, "strike", 0, "crash", {"node": 2, "nodes": [2]}),
        (9, "heal", 0, "crash", {}),
        (9, "heal", -1, "all", {}),
    ]
    ops = [Op(1, "p1", "invoke", "send", (("send", "t-0", 7),)), Op(2, "p1", "ok", "send", (("send", "t-0", (0, 7)),))]
    lines = "\n".join(edn_lines(History(ops=ops, nemesis=nemesis)))

    assert read_stream(io.BytesIO(lines.encode())).nemesis == nemesis

"""What is written is read back, the same history is the same bytes, and bad files say what is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.checkers import (
    TRACE_FIELDS,
    History,
    HistoryFormatError,
    Op,
    check,
    parse_history,
    read_history,
    write_history,
)
from tidemark.checkers.history.history_file import history_lines

times = st.integers(0, 50)
values = st.integers(0, 1000)
keys = st.sampled_from(["t-0", "t-1", "τ-2"])
scalars = st.one_of(st.integers(-1, 9), st.booleans(), st.text(max_size=5))
ints = st.integers(-1, 9)
offsets = st.integers(0, 9)
brokers = st.lists(st.integers(1, 4), max_size=3).map(tuple)
texts = st.text(max_size=5)
records = st.lists(values, max_size=3).map(tuple)
SHAPES = {
    **dict.fromkeys(("how", "reason", "words", "what", "role", "waiting_for", "directory"), texts),
    **dict.fromkeys(("is_leader", "clean", "ok", "answered", "committed", "on"), st.booleans()),
    **dict.fromkeys(("isr", "maximal", "elr", "replicas", "adding", "removing", "bookies", "counted"), brokers),
    **dict.fromkeys(("base_offset", "to", "start", "leo"), offsets),
    "values": records,
    "cache": st.lists(st.tuples(ints, offsets), max_size=3).map(tuple),
    "snapshots": st.lists(st.tuples(ints, ints), max_size=3).map(tuple),
    "voters": st.lists(st.tuples(ints, texts), max_size=3).map(tuple),
    "entries": st.lists(st.tuples(ints, ints, ints, ints), max_size=3).map(tuple),
    "commits": st.lists(st.tuples(ints, texts, ints), max_size=3).map(tuple),
    "batches": st.lists(st.tuples(offsets, ints, records), max_size=3).map(tuple),
}
fields = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)
sends = st.tuples(st.just("send"), keys, st.one_of(values, st.tuples(st.none() | st.integers(0, 9), values)))
reads = st.dictionaries(keys, st.lists(st.tuples(st.integers(0, 9), values), max_size=3), max_size=2)
polls = st.tuples(st.just("poll"), reads)
bodies = st.one_of(
    st.tuples(st.just("assign"), st.lists(keys, max_size=2).map(tuple)),
    st.tuples(st.sampled_from(["send", "poll", "txn"]), st.lists(sends | polls, max_size=3).map(tuple)),
)


@st.composite
def operations(draw):
    """Of each process one after the other, invoked and completed; the last may be open."""
    found = []
    for process in ("p1", "c1"):
        at = sorted(draw(st.lists(times, max_size=8)))
        for begin, end in zip(at[::2], [*at[1::2], None], strict=False):
            f, value = draw(bodies)
            acks, final = draw(st.sampled_from([None, "all", "1", "0"])), draw(st.booleans())
            found.append(Op(begin, process, "invoke", f, value, None, acks, final))
            if end is not None:
                error = draw(st.none() | st.just("NOT_LEADER_OR_FOLLOWER"))
                kind = draw(st.sampled_from(["ok", "fail", "info"]))
                found.append(Op(end, process, kind, f, value, error, acks, final))
    return sorted(found, key=lambda op: op.time)


@st.composite
def trace_events(draw):
    name = draw(st.sampled_from(sorted(TRACE_FIELDS)))
    rest = [draw(SHAPES.get(field, ints)) for field in TRACE_FIELDS[name]]
    return (draw(times), draw(st.integers(0, 3)), name, draw(keys | st.just("")), *rest)


unknown_events = st.tuples(times, st.integers(0, 3), st.just("something-new"), keys, fields)
strikes = st.tuples(
    times,
    st.sampled_from(["strike", "heal"]),
    st.integers(-1, 5),
    st.just("kill"),
    st.dictionaries(st.text(max_size=4), scalars | st.lists(st.integers(), max_size=2), max_size=3),
)


def in_time(items):
    return st.lists(items, max_size=6).map(lambda found: sorted(found, key=lambda item: item[0]))


histories = st.builds(
    History,
    st.fixed_dictionaries({"variant": st.text(max_size=5), "replicas": st.just({"t-0": [1, 2]}), "seed": values}),
    operations(),
    in_time(strikes),
    in_time(trace_events() | unknown_events),
)


@given(histories)
def test_reading_restores_what_was_written(history):
    assert parse_history(history_lines(history)) == history


@given(histories)
def test_the_same_history_is_the_same_bytes(history):
    lines = list(history_lines(history))

    assert list(history_lines(parse_history(lines))) == lines


def test_lines_have_a_fixed_order_of_keys_and_no_spaces(tmp_path):
    history = History.of(
        variant="kafka-2.7",
        trace=[(5, 1, "append", "t-0", 0, 2, (7, 8)), (5, 1, "stop", "", "crash")],
        nemesis=[(5, "strike", 0, "kill", {"node": 1})],
        ops=[
            Op(4, "p1", "invoke", "send", (("send", "t-0", 7),), None, "all"),
            Op(5, "c1", "invoke", "poll", (("poll", {}),)),
            Op(5, "c1", "ok", "poll", (("poll", {"t-0": [(0, 7)]}),), final=True),
        ],
    )
    path = tmp_path / "history.jsonl"
    write_history(history, path)

    assert path.read_text().splitlines() == [
        '{"kind":"meta","line":1,"lines":7,"variant":"kafka-2.7"}',
        (
            '{"kind":"op","line":2,"time":4,"process":"p1","type":"invoke","f":"send","value":[["send","t-0",7]],'
            '"error":null,"acks":"all","final":false}'
        ),
        '{"kind":"trace","line":3,"time":5,"node":1,"event":"append","partition":"t-0","base_offset":0,"epoch":2,"values":[7,8]}',
        '{"kind":"trace","line":4,"time":5,"node":1,"event":"stop","partition":"","how":"crash"}',
        '{"kind":"nemesis","line":5,"time":5,"what":"strike","index":0,"fault":"kill","detail":{"node":1}}',
        (
            '{"kind":"op","line":6,"time":5,"process":"c1","type":"invoke","f":"poll","value":[["poll",{}]],'
            '"error":null,"acks":null,"final":false}'
        ),
        (
            '{"kind":"op","line":7,"time":5,"process":"c1","type":"ok","f":"poll","value":[["poll",{"t-0":[[0,7]]}]],'
            '"error":null,"acks":null,"final":true}'
        ),
    ]
    assert read_history(path) == history


META = '{"kind":"meta"}'
INVOKED = [
    '{"kind":"op","time":0,"process":"p1","type":"invoke","f":"send","value":[["send","x",7]]}',
    '{"kind":"op","time":1,"process":"p1","type":"invoke","f":"send","value":[["send","x",8]]}',
    '{"kind":"op","time":2,"process":"c1","type":"invoke","f":"poll","value":[["poll",{}]]}',
]
COMPLETED = [
    '{"kind":"op","time":1,"process":"p1","type":"ok","f":"send","value":[["send","x",[0,7]]]}',
    '{"kind":"op","time":2,"process":"p1","type":"ok","f":"send","value":[["send","x",[1,8]]]}',
    '{"kind":"op","time":3,"process":"c1","type":"ok","f":"poll","value":[["poll",{"x":[[1,8]]}]]}',
]
FOREIGN = [line for pair in zip(INVOKED, COMPLETED, strict=True) for line in pair]


@pytest.mark.parametrize("head", [[], [META]])
def test_a_foreign_history_with_client_operations_only_is_judged(head):
    verdict = check(parse_history([*head, *FOREIGN]))

    assert verdict.valid == "invalid"
    assert [one.name for one in verdict.anomalies] == ["lost-write"]


def test_a_torn_tail_is_tolerated_when_asked():
    history = parse_history([META, FOREIGN[0], FOREIGN[1][:40]], allow_torn_tail=True)

    assert len(history.ops) == 1


def test_a_torn_tail_is_refused_otherwise():
    with pytest.raises(HistoryFormatError, match=r"^line 3: this is not JSON"):
        parse_history([META, FOREIGN[0], FOREIGN[1][:40]])


def test_a_torn_line_in_the_middle_is_refused_always():
    with pytest.raises(HistoryFormatError, match=r"^line 2: this is not JSON"):
        parse_history([META, FOREIGN[0][:40], FOREIGN[1]], allow_torn_tail=True)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("[1]", "every line must be a JSON object"),
        ('{"time":1}', '"kind" must be meta, op, nemesis or trace, and is None'),
        (META, "the meta line must be the first line"),
        ('{"kind":"op","time":1}', 'an operation needs the field "process"'),
        (COMPLETED[0].replace(":1,", ":1.5,"), '"time" must be an integer number of microseconds, and is 1.5'),
        (
            COMPLETED[0].replace('"ok"', '"done"'),
            "the type of an operation is invoke, ok, fail or info, and not 'done'",
        ),
        (
            COMPLETED[0].replace('[["send","x",[0,7]]]', "7"),
            "the value of a send or poll must be a list of micro-operations",
        ),
        (COMPLETED[0].replace("[0,7]", "[0,7,9]"), "a send completes with [offset, value], and not with (0, 7, 9)"),
        (COMPLETED[2].replace("[[1,8]]", "[8]"), "a poll of x must be a list of [offset, value] pairs"),
        (COMPLETED[0].replace('["send"', '["sent"'), """('sent', 'x', (0, 7)) is neither"""),
        (
            COMPLETED[0].replace('["send"', '["append"'),
            "; --model list-append or rw-register judges transactions of keys",
        ),
        (
            '{"kind":"trace","time":1,"node":1,"event":"append","partition":"x","epoch":1}',
            "the trace event append needs",
        ),
        ('{"kind":"trace","time":1,"node":1,"event":"nap","partition":"x"}', "'nap' is not a known trace event"),
        ('{"kind":"trace","time":1,"node":1,"event":"stop","partition":"","fields":[]}', '"fields" does not fit'),
        ('{"kind":"nemesis","time":1,"what":"strike"}', 'a nemesis operation needs the field "index"'),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong(line, sentence):
    with pytest.raises(HistoryFormatError) as caught:
        parse_history([META, line])

    assert caught.value.line == 2
    assert sentence in caught.value.sentence

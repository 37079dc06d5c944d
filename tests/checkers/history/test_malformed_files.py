"""Files that are not in order: sorted where that is safe, else refused in one sentence with the line; never a traceback."""

import json
from random import Random

import pytest

from tidemark.checkers import History, HistoryFormatError, check, parse_history, read_history
from tidemark.checkers.history.history_file import history_lines

META = '{"kind":"meta","variant":"mine"}'


def op(time, process, kind, f="send", value=None, **more):
    value = [["send", "x", 7]] if value is None else value
    return json.dumps({"kind": "op", "time": time, "process": process, "type": kind, "f": f, "value": value, **more})


def event(time, node, name, partition="x", **fields):
    return json.dumps({"kind": "trace", "time": time, "node": node, "event": name, "partition": partition, **fields})


SEND = [op(1, "p1", "invoke"), op(2, "p1", "ok", value=[["send", "x", [0, 7]]])]
POLL = [op(3, "c1", "invoke", "poll", [["poll", {}]]), op(4, "c1", "ok", "poll", [["poll", {"x": [[0, 7]]}]])]


def refused(*lines):
    with pytest.raises(HistoryFormatError) as caught:
        parse_history([META, *lines])
    return str(caught.value)


# Order


def test_streams_that_follow_each_other_are_put_in_order():
    history = parse_history([META, *POLL, *SEND])

    assert [one.time for one in history.ops] == [1, 2, 3, 4]
    assert check(history).valid == "valid"


def test_the_traces_of_nodes_that_follow_each_other_are_put_in_order():
    lines = [
        event(5, 2, "stop", "", how="crash"),
        event(9, 2, "start", "", incarnation=2),
        event(1, 1, "fence", broker=2),
    ]

    assert [one[0] for one in parse_history([META, *lines]).trace] == [1, 5, 9]


def test_what_happens_at_one_time_stays_as_the_file_has_it():
    lines = [event(5, 2, "fence", broker=2), event(5, 1, "fence", broker=1), event(1, 3, "fence", broker=3)]

    assert [one[1] for one in parse_history([META, *lines]).trace] == [3, 2, 1]


def test_a_process_that_goes_back_in_time_is_refused():
    assert (
        refused(op(5, "p1", "invoke"), op(4, "p1", "ok"))
        == "line 3: process p1 was at 5 µs before, and goes back to 4 µs"
    )


def test_a_node_that_goes_back_in_time_is_refused():
    lines = [event(5, 2, "fence", broker=1), event(4, 2, "fence", broker=1)]

    assert refused(*lines) == "line 3: node 2 was at 5 µs before, and goes back to 4 µs"


def test_a_completion_without_an_invocation_is_refused():
    assert refused(*SEND, SEND[1]) == "line 4: p1 completes a send that it has not invoked"


def test_two_open_operations_of_a_process_are_refused():
    lines = [op(1, "p1", "invoke"), op(2, "p1", "invoke", "poll", [["poll", {}]])]

    assert refused(*lines) == "line 3: p1 invokes a poll while its send of line 2 is open"


def test_a_completion_of_something_else_is_refused():
    lines = [op(1, "p1", "invoke"), op(2, "p1", "ok", "poll", [["poll", {}]])]

    assert refused(*lines) == "line 3: p1 completes a poll, and has a send open since line 2"


@pytest.mark.parametrize(
    ("kind", "value", "other"),
    [
        ("ok", [["send", "x", [0, 8]]], "with 8 for 'x', and invoked it with 7 for 'x'"),
        ("ok", [["send", "y", [0, 7]]], "with 7 for 'y', and invoked it with 7 for 'x'"),
        ("ok", [["send", "x", [0, True]]], "with True for 'x', and invoked it with 7 for 'x'"),
        ("ok", [], "with less, and invoked it with 7 for 'x'"),
        ("ok", [["send", "x", [0, 7]], ["send", "x", [1, 8]]], "with 8 for 'x', and invoked it with less"),
        ("info", [["send", "x", 8]], "with 8 for 'x', and invoked it with 7 for 'x'"),
        ("fail", [["send", "x", 8]], "with 8 for 'x', and invoked it with 7 for 'x'"),
    ],
)
def test_a_completion_that_sends_something_else_is_refused(kind, value, other):
    assert (
        refused(op(1, "p1", "invoke"), op(2, "p1", kind, value=value))
        == f"line 3: p1 completes a send {other} (line 2)"
    )


def test_what_an_invocation_leaves_out_its_completion_may_tell_and_what_failed_may_tell_less():
    lines = [op(1, "p1", "invoke", value=[]), op(2, "p1", "ok"), op(3, "p1", "invoke"), op(4, "p1", "info", value=[])]
    two = [["send", "x", 1], ["send", "x", 2]]

    assert len(parse_history([META, *lines]).ops) == 4
    assert len(parse_history([META, op(1, "p1", "invoke", value=two), op(2, "p1", "info", value=two[1:])]).ops) == 2


# Shapes

DEEP = "[" * 400 + "]" * 400
DEEPEST = "[" * 200_000 + "]" * 200_000


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            op(1, "p1", "ok", value=[["send", "x", [1.5, 7]]]),
            "the offset of a send must be an integer or null, and is 1.5",
        ),
        (
            op(1, "p1", "ok", value=[["send", "x", ["1", 7]]]),
            "the offset of a send must be an integer or null, and is '1'",
        ),
        (
            op(1, "p1", "ok", value=[["send", "x", [True, 7]]]),
            "the offset of a send must be an integer or null, and is True",
        ),
        (
            op(1, "p1", "ok", value=[["send", "x", [2**63, 7]]]),
            "the offset of a send must be an integer or null, and is 9223",
        ),
        (
            op(1, "p1", "ok", value=[["send", "x", [0, {}]]]),
            "a record's value must be a number (an integer of 64 bits), a string, null, true or false, and is {}",
        ),
        (
            op(1, "p1", "ok", value=[["send", "x", [0, 2**64]]]),
            "a record's value must be a number (an integer of 64 bits), a string, null, true or false, and is 1844",
        ),
        (op(1, "p1", "ok", value=[["send", 7, 7]]), "the key of a send must be a string, and is 7"),
        (
            op(1, "c1", "ok", "poll", [["poll", {"x": [["0", 7]]}]]),
            "the offset of a record must be an integer from 0 on",
        ),
        (
            op(1, "c1", "ok", "poll", [["poll", {"x": [[-1, 7]]}]]),
            "the offset of a record must be an integer from 0 on",
        ),
        (op(1, "c1", "ok", "poll", [["poll", {"x": [[0, [7]]]}]]), "a record's value must be a number"),
        (op(1, "c1", "ok", "poll", [["poll", {"x": 7}]]), "a poll of x must be a list of [offset, value] pairs"),
        (op(1, {}, "ok"), '"process" must be a string or an integer, and is {}'),
        (op(1, "p1", ["ok"]), "the type of an operation is invoke, ok, fail or info, and not ['ok']"),
        (op(1, "p1", "ok", {}), '"f" must be a string, and is {}'),
        (op(1, "p1", "ok", acks=[]), '"acks" must be a string, and is []'),
        (op(1, "p1", "ok", final="no"), "\"final\" must be true or false, and is 'no'"),
        (op(1, "d1", "ok", "delete", [["delete", {}, 5]]), 'the value of a delete is [["delete", key, offset]]'),
        (op(10**400, "p1", "ok"), '"time" must be an integer number of microseconds, and is 1000'),
        (op(1, "p1", "ok").replace('"ok"', "1" * 5000), "this is not JSON (Exceeds the limit"),
        (op(1, "p1", "ok").replace("7", "NaN"), "this is not JSON (NaN is no number)"),
        (op(1, "p1", "ok").replace("7", "1e400"), "this is not JSON (1e400 is a larger number than can be kept)"),
        (op(1, "p1", "ok").replace("7", '"\\ud800"'), "this is not JSON (an escape stands for half a character)"),
        (op(1, "p1", "ok").replace("7", DEEP), "arrays and objects are nested more than 32 deep"),
        (op(1, "p1", "ok").replace("7", DEEPEST), "arrays and objects are nested more than 32 deep"),
        ('{"kind":"nemesis","time":1,"what":"strike","index":0,"fault":"x","detail":[]}', "a nemesis operation has"),
        (event(1, 1, ["stop"], how="crash"), 'a trace event has an integer "node"'),
        (event(1, [], "stop", how="crash"), 'a trace event has an integer "node"'),
        (event(1, 1, "stop", [], how="crash"), 'a trace event has an integer "node"'),
        (event(1, 1, "hw", hw="9", leader_epoch=1, is_leader=True), '"hw" of the trace event hw must be an integer'),
        (
            event(1, 1, "truncate", to=-3, old_leo=1, reason="", leader_epoch=1),
            '"to" of the trace event truncate must be',
        ),
        (
            event(1, 1, "append", base_offset=0, epoch=1, values=[[]]),
            '"values" of the trace event append must be a list',
        ),
        (event(1, 1, "append", fields=[0, 1, 7]), '"values" of the trace event append must be a list'),
        (
            event(1, 0, "elect", leader=1, leader_epoch=1, isr={}, elr=[], how="", clean=True, partition_epoch=1),
            '"isr" of',
        ),
        ("[1]", "every line must be a JSON object"),
    ],
)
def test_a_field_of_another_shape_is_refused_with_its_line(line, sentence):
    words = refused(line)

    assert words.startswith("line 2: ")
    assert sentence in words
    assert len(words) < 250


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("replicas", [1]), ("replicas", {"x": 1}), ("contract", []), ("min_isr", "2"), ("acks", 1), ("faults_end_us", "1"),
        ("died", [1]), ("died", [{"node": "2"}]), ("not_understood", "all"),
        ("doubted_nodes", {"one": ["x"]}), ("doubted_nodes", {"1": "x"}), ("read_back", "yes"),
    ],
)  # fmt: skip
def test_a_meta_line_of_another_shape_is_refused(name, value):
    with pytest.raises(HistoryFormatError, match=rf'^line 1: "{name}" of the meta line must be '):
        parse_history([json.dumps({"kind": "meta", name: value})])


@pytest.mark.parametrize("line", [2, 5])
def test_bytes_that_are_no_text_are_refused(tmp_path, line):
    """Replaced by others, two values could become one."""
    lines = [text.encode() for text in (META, *SEND, *POLL)]
    lines[line - 1] = lines[line - 1].replace(b"x", b"\xff")
    path = tmp_path / "history.jsonl"
    path.write_bytes(b"".join(one + b"\n" for one in lines))

    with pytest.raises(HistoryFormatError, match=rf"^line {line}: this is not UTF-8 \(byte 0xff at column \d+\)$"):
        read_history(path, allow_torn_tail=True)


def test_a_last_line_that_is_whole_and_no_json_is_not_a_torn_one(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_text("\n".join([META, *SEND, "{"]) + "\n")

    with pytest.raises(HistoryFormatError, match=r"^line 4: this is not JSON"):
        read_history(path, allow_torn_tail=True)


def test_a_character_that_was_torn_apart_is_a_torn_line(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_bytes("\n".join([META, *SEND, '{"kind":"op","process":"é']).encode()[:-1])

    assert read_history(path, allow_torn_tail=True).cut_off == "the last line of the history was cut off"


def test_a_byte_order_mark_and_carriage_returns_do_no_harm(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_bytes(("\ufeff" + "\r\n".join([META, *SEND, *POLL])).encode())

    assert read_history(path) == parse_history([META, *SEND, *POLL])


# Offsets that nobody can keep in a list


def test_offsets_of_clients_may_be_as_large_as_they_are():
    far = 2**63 - 1
    lines = [SEND[0], SEND[1].replace("[0, 7]", f"[{far}, 7]"), POLL[0], POLL[1].replace("[0, 7]", f"[{far}, 7]")]

    assert check(parse_history([META, *lines])).valid == "valid"


def test_an_offset_that_the_client_was_not_told_is_none():
    lines = [op(5, "p2", "invoke", value=[["send", "x", 8]]), op(6, "p2", "ok", value=[["send", "x", [-1, 8]]])]
    unknown = [line.replace("[0, 7]", "[-1, 7]") for line in SEND]
    verdict = check(parse_history([META, *unknown, *lines]))

    assert [anomaly.name for anomaly in verdict.anomalies] == ["unseen"]


FAR = 3_000_000_000
FAR_LOGS = [
    [(1, 1, "append", "x", FAR, 1, (7,))],
    [(1, 1, "log-start", "x", FAR, 0, "begin-anew")],
    [(1, 1, "recovered", "x", FAR, 0, 0), (1, 1, "log-start", "x", FAR, 0, "recovered")],
    [(1, 1, "final", "x", "leader", 1, FAR + 1, 0, (), ((FAR, 1, (7,)),))],
]
TWO_FAR_LOGS = [(1, node, "append", "x", 1_100_000, 1, (7,)) for node in (1, 2)]


@pytest.mark.parametrize("trace", FAR_LOGS)
def test_logs_that_lie_too_far_out_are_not_judged(trace):
    verdict = check(History.of(ops=parse_history([META, *SEND, *POLL]).ops, trace=trace))

    assert (verdict.valid, verdict.judged_from, verdict.anomalies) == ("unknown", "clients", ())
    assert "evidence was not used" in verdict.unknown_because


def test_of_two_logs_that_lie_far_out_one_can_be_kept():
    """It skips a million offsets, which is a finding; the other is not looked at."""
    verdict = check(History.of(ops=parse_history([META, *SEND, *POLL]).ops, trace=TWO_FAR_LOGS))

    assert [one.name for one in verdict.anomalies] == ["broken-log"]


def test_what_the_clients_saw_of_such_a_system_is_judged():
    ops = [*parse_history([META, *SEND, *POLL]).ops, *parse_history([META, POLL[0], POLL[1].replace("7", "9")]).ops]

    assert check(History.of(ops=ops, trace=FAR_LOGS[0])).valid == "invalid"


# Anything


def corrupted(lines, random):
    lines = list(lines)
    place = random.randrange(len(lines))
    what = random.randrange(7)
    if what == 0:
        raw = bytearray(lines[place].encode())
        raw[random.randrange(len(raw))] ^= 1 << random.randrange(8)
        lines[place] = bytes(raw)
    elif what == 1:
        lines[place] = lines[place][: random.randrange(len(lines[place]))]
    elif what == 2:
        del lines[place]
    elif what == 3:
        lines.insert(place, lines[place])
    elif what == 4:
        other = random.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    else:
        entry = json.loads(lines[place])
        name = random.choice(sorted(entry))
        entry[name] = random.choice(
            [None, True, -1, 10**30, 2**62, 1.5, "", "x", [], [[]], {}, {"x": [1]}, [None], [[0, {}]]]
        )
        lines[place] = json.dumps(entry)
    return lines


@pytest.mark.parametrize("numbered", [True, False])
def test_whatever_is_done_to_a_file_there_is_a_verdict_or_a_sentence(orderly, numbered):
    lines = list(history_lines(orderly(terms=2)))
    if not numbered:
        entries = [json.loads(line) for line in lines]
        lines = [json.dumps({k: v for k, v in entry.items() if k not in ("line", "lines")}) for entry in entries]
    random = Random(7)
    told = [outcome(corrupted(lines, random)) for _ in range(250)]

    assert {words.split()[0] for words in told} <= {"line", "there", "valid", "invalid", "unknown"}
    assert sum(words.startswith("line ") for words in told) > 50


def outcome(lines):
    try:
        verdict = check(parse_history(lines, allow_torn_tail=True))
    except (HistoryFormatError, ValueError) as error:
        return str(error)
    json.dumps(verdict.to_json()).encode()
    return verdict.valid


# Share groups

SHARED = [op(1, "m1", "invoke", "share-fetch", [])]
GIVEN = [["share-fetch", 2, {"x": [[0, 7, 1], [1, None, 1]]}]]


def test_what_a_share_group_did_is_read():
    said = [["share-acknowledge", 2, {"x": [[0, "accept"]]}]]
    lines = [*SHARED, op(2, "m1", "ok", "share-fetch", GIVEN), op(3, "m1", "invoke", "share-acknowledge", said)]
    ops = parse_history([META, *lines, op(4, "m1", "ok", "share-acknowledge", said)]).ops

    assert ops[1].value == (("share-fetch", 2, {"x": [(0, 7, 1), (1, None, 1)]}),)
    assert ops[3].value == (("share-acknowledge", 2, {"x": [(0, "accept")]}),)


@pytest.mark.parametrize(
    "value",
    [None, 7, [["share-fetch", 2]], [["poll", 2, {}]], [["share-fetch", "b", {}]], [["share-fetch", 2, {"x": 1}]]]
    + [[["share-fetch", 2, {"x": [one]}]] for one in (7, [], [-1, 7, 1], [0, 7], [0, [7], 1], [0, 7, "1"])],
    ids=str,
)
def test_what_no_share_group_does_is_refused(value):
    assert "the value of a share-fetch is" in refused(*SHARED, op(2, "m1", "ok", "share-fetch", value))


def test_however_many_they_are_the_operations_of_a_share_group_are_kept(monkeypatch):
    monkeypatch.setattr("tidemark.checkers.history.history_file.MANY", 2)
    meta = '{"kind":"meta","share_group":{"drained":true,"deliveries":10,"lock_us":1}}'
    history = parse_history([meta, *SHARED, op(2, "m1", "ok", "share-fetch", GIVEN), *SEND])

    assert [one.f for one in history.ops] == ["share-fetch", "send", "share-fetch", "send"]

"""Whatever a file of JSON lines holds: read many lines at once, and in blocks, it is the history that reading line by line gives,
or the same refusal.
"""

import io
import json
from dataclasses import fields
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tidemark.checkers import History, HistoryFormatError, Op
from tidemark.checkers.history.columns.builder import columns_of
from tidemark.checkers.history.columns.columns import Columns
from tidemark.checkers.history.history_blocks import places, read_block, together
from tidemark.checkers.history.history_file import Parsing, lines_of, parse_history
from tidemark.checkers.history.lines_at_once import LinesReader
from tidemark.checkers.history.long_file import parse_file


@pytest.fixture(autouse=True, scope="module")
def short_ones_are_long():
    """Some lines are a block, and one operation a history in columns."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("history_file.MANY", 1),
            ("long_file.MANY", 1),
            ("history_blocks.MANY", 1),
            ("long_file.BLOCK", 300),
            ("long_file.LONG", 1),
            ("history_blocks.LEAST_BYTES", 600),
        ):
            patch.setattr(f"tidemark.checkers.history.{name}", value)
        yield


def told(history: History) -> dict[str, object]:
    """All that there is in it."""
    columns = history.columns or columns_of(history.ops)
    return {
        **{
            field.name: getattr(history, field.name)
            for field in fields(History)
            if field.name not in ("ops", "columns")
        },
        "in columns": history.columns is not None,
        **{field.name: plain(columns, field.name) for field in fields(Columns)},
    }


def plain(columns: Columns, name: str) -> object:
    found = getattr(columns, name)
    return (found.dtype, found.tolist()) if isinstance(found, np.ndarray) else [(type(one), one) for one in found]


def line_by_line(data: bytes) -> object:
    try:
        return told(parse_history(lines_of(io.BytesIO(data)), allow_torn_tail=True))
    except HistoryFormatError as error:
        return str(error)


def at_once(data: bytes) -> object:
    try:
        return told(parse_file(io.BytesIO(data), allow_torn_tail=True))
    except HistoryFormatError as error:
        return str(error)


def in_blocks(data: bytes) -> object:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "history.jsonl"
        path.write_bytes(data)
        found = together(path, map(read_block, places(path, 3)))
        return None if found is None else told(found)


ODD = [
    *(
        "0",
        "-0",
        "7",
        "-1",
        "-2",
        "1.0",
        "1.5",
        "-0.0",
        "1e5",
        "1E-3",
        "1e400",
        "-1e400",
        "01",
        "+1",
        ".5",
        "1.",
        "0x1",
    ),
    *("0.1", "1e23", "9007199254740993.0", "2.2250738585072014e-308", "5e-324", "179769313486231580793e289"),
    *("4611686018427387903", "4611686018427387904", "-4611686018427387904", "-4611686018427387905"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"),
    *("18446744073709551615", "18446744073709551616", "12345678901234567890123", "9" * 5000, "-" + "9" * 40),
    *("true", "false", "null", "NaN", "Infinity", "-Infinity", "nul", "undefined"),
    *(
        '""',
        '"a"',
        '"null"',
        '"1"',
        '"ok"',
        '"all"',
        '"é"',
        '"\\u00e9"',
        '"\\ud83d\\ude00"',
        '"😀"',
        '"\\ud800"',
        '"\\udc00x"',
    ),
    *('"a\\nb"', '"\\u0000"', '"a\tb"', '"\\x"', '"\\/"', '"a', "'a'", '"\\"', '"x" "y"', '"\x7f"', '"\u2028"'),
    *(
        "[]",
        "{}",
        "[[]]",
        "[null]",
        "[1,2]",
        "[1,2,3]",
        "[[1,2]]",
        '{"a":1}',
        '{"a":[]}',
        '{"a":[[1,2]]}',
        "[1,]",
        "{,}",
    ),
    *(
        '{"a":[[1,2],[1,3]],"b":[]}',
        '{"a":[[1,2]],"a":[[1,3]]}',
        '{"b":[],"a":[[1,2]],"b":[[0,1]]}',
        '{"a":[[null,1]]}',
    ),
    *(
        '{"a":[[-1,1]]}',
        '{"a":[[1.0,1]]}',
        '{"a":[[1,[]]]}',
        '{"a":[[1,2,3]]}',
        '{"a":{}}',
        '{"a":null}',
        '{"é":[[1,true]]}',
    ),
    *(
        '["send","a",1]',
        '[["send","a",1]]',
        '[["send","a",[1,2]],["poll",{}]]',
        '[["poll"]]',
        '[["poll",{"a":[[1,2]]}]]',
    ),
    *(
        '[["poll",{"a":[[0,null],[1,"null"],[2,1.5]]}]]',
        '[["send",1,1]]',
        '[["send","a",[null,1]]]',
        '[["send","a",[-1,1]]]',
    ),
    *(
        '[["send","a",[-2,1]]]',
        '[["send","a",{}]]',
        '[["send","a"]]',
        '[["append",1,2]]',
        '[[["send"],"a",1]]',
        '[["sen","a",1]]',
    ),
    *('[["send","a",[1,2,3]]]', '[["send","a",[true,2]]]', '[["delete","a",3]]', '["a","b"]', '[["send","a",null]]'),
    *("[" * 40 + "]" * 40, '{"a":' * 20 + "1" + "}" * 20, "[" * 5000 + "]" * 5000, "[" * 2000),
]
FIELDS = ("kind", "line", "time", "process", "type", "f", "value", "error", "acks", "final")
OTHER_LINES = [
    *(
        b"",
        b"  ",
        b"\t\r",
        b"\x0b",
        b"\x00",
        b"{}",
        b"[]",
        b"null",
        b"7",
        b'"a"',
        b"{",
        b"}",
        b"{]",
        b"}\n{",
        b"\xff",
        b"\xef\xbb\xbf",
    ),
    b'{"kind":"meta","line":1,"lines":9}',
    b'{"kind":"meta","variant":"v"}',
    b'{"kind":"meta","min_isr":"two"}',
    b'{"kind":"nemesis","time":5,"what":"strike","index":0,"fault":"crash","detail":{"a":[1]}}',
    b'{"kind":"nemesis","time":1,"what":"heal","index":0,"fault":"crash","detail":{}}',
    b'{"kind":"nemesis","time":1,"what":"heal","index":0,"fault":"crash","detail":7}',
    b'{"kind":"nemesis","time":1}',
    b'{"kind":"trace","time":5,"node":1,"event":"resume","partition":"t-0"}',
    b'{"kind":"trace","time":5,"node":1,"event":"resume"}',
    b'{"kind":"op","time":0,"process":"z","type":"invoke","f":"send","value":[["send","a",1]]}',
    b'{"kind":"op","time":0,"process":"z","type":"ok","f":"poll","value":null}',
    b'{"kind":"op","time":0,"process":1,"type":"invoke","f":"poll","value":[["poll",{"a":[[0,1]]}]]}',
    b'{"kind":"op","time":0,"process":"z","type":"invoke","f":"assign","value":["a","b"]}',
    b'{"kind":"op","time":0,"process":"z","type":"invoke","f":"delete","value":[["delete","a",3]]}',
    b'{"kind":"op","time":0,"process":"z","type":"invoke","f":"write","value":{"a":[1,[2]]}}',
    b'{"kind":"op","time":0,"process":"z","type":"invoke","f":"txn","value":[["send","a",1],["poll",{}],["send","b",2]]}',
    b'{"kind":"op","time":0,"process":"z","type":"ok","f":"txn","value":[["poll",{"a":[]}],["send","b",[3,2]],["poll",{"b":[[3,2]]}]]}',
    b'{"kind":"op","time":0,"process":"\xc3","type":"invoke","f":"send","value":[["send","a",1]]}',
    b'{"kind":"op","time":0,"process":"z","type":"invoke","f":"send","value":[["send","a",1]]} {}',
    b' {"kind":"op" , "time":\t0,"process":"z","type":"invoke","f":"send","value":[ ["send","a",1]]}\r',
    b'{"k\\u0069nd":"op","time":0,"process":"z","type":"invoke","f":"send","value":[["send","a",1]]}',
]


def operations(seed: int, most: int = 24) -> list[dict[str, object]]:
    """Halves of operations as JSON has them, each process one after the other; as most recorders have them."""
    random = Random(seed)
    values = [*range(9), "a", "null", '"a"', None, True, 1.5, 2**62, 2**64 - 1, -(2**63)][: random.choice([9, 12, 18])]
    late = random.choice([0, 0, 50])
    open_ones: dict[object, tuple[str, list[list[object]]]] = {}
    made = []

    def record() -> list[object]:
        return [random.randrange(9), random.choice(values)]

    for number in range(random.randint(most // 8, most)):
        process = random.choice(["p", 1, "1"])
        if process not in open_ones:
            f = random.choice(["send", "poll", "txn"])
            micros = [
                ["send", random.choice("abé"), random.choice(values)] if one == "send" else ["poll", {}]
                for one in ([f] if f != "txn" else random.choices(["send", "poll"], k=random.randint(0, 3)))
            ]
            open_ones[process] = f, micros
            type_ = "invoke"
        else:
            f, micros = open_ones.pop(process)
            type_ = random.choice(["ok", "ok", "fail", "info"])
            micros = [
                [
                    "poll",
                    {
                        key: [record() for _ in range(random.randrange(4))]
                        for key in random.sample("abé", random.randrange(3))
                    },
                ]
                if micro[0] == "poll"
                else [*micro[:2], [random.randrange(9), micro[2]] if type_ == "ok" else micro[2]]
                for micro in micros
            ]
        time = 10 * number + late * (process == "p")
        made.append({"time": time, "process": process, "type": type_, "f": f, "value": micros})
    return made


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Lines of operations, of which some few are spoilt."""
    numbered, meta, full, other = (draw(st.booleans()) for _ in range(4))
    lines = []
    for number, entry in enumerate(operations(draw(st.integers(0, 9999))), 1 + meta):
        line = {"kind": "op", **({"line": number} if numbered else {}), **entry}
        line |= {"error": None, "acks": None, "final": False} if full else {}
        lines.append(line | ({"note": number, "é": {"a": [1.5]}} if other else {}))
    texts = [draw(st.sampled_from([spaced, close]))(line) for line in lines]
    if meta:
        texts.insert(0, close({"kind": "meta", **({"line": 1, "lines": len(lines) + 1} if numbered else {})}))
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2, 3]))):
        texts = draw(st.sampled_from(SPOILERS))(draw, texts)
    end = draw(st.sampled_from([b"\n", b"\n", b"", b"\n\n", b"\r\n", b"\n{", b'\n{"kind":"op","ti']))
    return (
        draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
        + draw(st.sampled_from([b"\n", b"\n", b"\r\n"])).join(texts)
        + end
    )


def spaced(line: dict[str, object]) -> bytes:
    return json.dumps(line).encode()


def close(line: dict[str, object]) -> bytes:
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode()


def one_else(draw: st.DrawFn, texts: list[bytes]) -> list[bytes]:
    at = draw(st.integers(0, len(texts)))
    return [*texts[:at], draw(st.sampled_from(OTHER_LINES)), *texts[at + draw(st.integers(0, 1)) :]]


def one_odd(draw: st.DrawFn, texts: list[bytes]) -> list[bytes]:
    """A field that there is, once more or anew, or one that nobody knows."""
    at = draw(st.integers(0, len(texts) - 1))
    name = draw(st.sampled_from([*FIELDS, *FIELDS, "note", "é"]))
    field = f'"{name}":{draw(st.sampled_from(ODD))}'.encode()
    text = texts[at]
    return [
        *texts[:at],
        text[:-1] + b"," + field + text[-1:] if draw(st.booleans()) else b"{" + field + b"," + text[1:],
        *texts[at + 1 :],
    ]


def one_odd_all_over(draw: st.DrawFn, texts: list[bytes]) -> list[bytes]:
    field = f',"{draw(st.sampled_from(["note", *FIELDS]))}":{draw(st.sampled_from(ODD))}}}'.encode()
    return [text[:-1] + field for text in texts]


def one_value(draw: st.DrawFn, texts: list[bytes]) -> list[bytes]:
    """Something else for a number or a word."""
    at = draw(st.integers(0, len(texts) - 1))
    text = texts[at]
    what = draw(
        st.sampled_from(
            [b"0", b"1", b'"a"', b'"send"', b'"poll"', b"[", b"{}", b"null", b'"op"', b'"p"', b'"invoke"', b"false"]
        )
    )
    return [*texts[:at], text.replace(what, draw(st.sampled_from(ODD)).encode(), 1), *texts[at + 1 :]]


def gone(draw: st.DrawFn, texts: list[bytes]) -> list[bytes]:
    at = draw(st.integers(0, len(texts) - 1))
    return [*texts[:at], *texts[at + draw(st.integers(1, 3)) :]] or texts


def exchanged(draw: st.DrawFn, texts: list[bytes]) -> list[bytes]:
    one, other = draw(st.integers(0, len(texts) - 1)), draw(st.integers(0, len(texts) - 1))
    texts = list(texts)
    texts[one], texts[other] = texts[other], texts[one]
    return texts


def a_byte(draw: st.DrawFn, texts: list[bytes]) -> list[bytes]:
    at = draw(st.integers(0, len(texts) - 1))
    text = texts[at]
    begin = draw(st.integers(0, len(text)))
    byte = draw(st.sampled_from([b"\xc3", b'"', b",", b"}", b"{", b" ", b"\n", b"\x00", b"\\", b"-", b"e", b""]))
    return [*texts[:at], text[:begin] + byte + text[begin + draw(st.integers(0, 1)) :], *texts[at + 1 :]]


SPOILERS = [one_else, one_odd, one_odd, one_odd_all_over, one_value, one_value, gone, exchanged, a_byte]


@settings(max_examples=150, deadline=None)
@given(files())
@example(b'{"kind":"op","time":0,"process":"p","type":"invoke","f":"send","value":[["send","a",1]]}\n' * 8)
@example(
    b'{"kind":"op","time":0,"process":"1","type":"invoke","f":"poll","value":[["send","a",null]]}\n'
    + b"".join(
        b'{"kind":"op","time":%d,"process":"p","type":"%s","f":"txn","value":[["poll",{}]]}\n'
        % (5 + n, (b"invoke", b"ok")[n % 2])
        for n in range(8)
    )
    + b'{"kind":"op","time":40,"process":"1","type":"ok","f":"poll","value":[["poll",{}]]}\n'
)
def test_a_file_read_at_once_is_what_it_is_line_by_line(data: bytes) -> None:
    expected = line_by_line(data)

    assert at_once(data) == expected
    assert in_blocks(data) in (None, expected)


@pytest.mark.parametrize("seed", range(20))
def test_the_usual_lines_are_read_at_once_and_in_blocks(seed: int) -> None:
    data = b"".join(close({"kind": "op", **op}) + b"\n" for op in operations(seed, 200))

    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(Parsing, "line")
        found = at_once(data)

    assert found == line_by_line(data)
    if len(data) > 2000:
        assert in_blocks(data) == found


def test_lines_of_another_shape_between_them_are_read_with_them() -> None:
    one = close({"kind": "op", "time": 1, "process": "p", "type": "invoke", "f": "assign", "value": ["a"]})
    other = close(
        {"kind": "op", "time": 2, "process": 0, "type": "ok", "f": "send", "value": [["send", "b", [0, "x"]]]}
    )
    strike = b'{"kind":"nemesis","time":1,"what":"strike","index":0,"fault":"crash","detail":{}}'

    found = LinesReader().read(b"\n".join((one, b"", strike, other)), 1)

    assert found is not None
    assert (found.told, found.lines, found.columns.keys) == (3, 4, ["a", "b"])
    assert found.nemesis == [(1, "strike", 0, "crash", {})]


def test_a_trace_after_many_operations_gives_them_back() -> None:
    lines = [
        close({"kind": "op", "time": 1, "process": "p", "type": "invoke", "f": "send", "value": [["send", "a", True]]}),
        close({"kind": "trace", "time": 1, "node": 1, "event": "resume", "partition": "t-0"}),
    ]

    history = parse_file(io.BytesIO(b"\n".join(lines)))

    assert history.columns is None
    assert history.ops == [Op(1, "p", "invoke", "send", (("send", "a", True),))]

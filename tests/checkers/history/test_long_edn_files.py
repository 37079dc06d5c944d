"""Whatever a file of EDN holds: read many lines at once, it is the history that reading form by form gives, or the same refusal."""

import io
from dataclasses import fields
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tidemark.checkers import History
from tidemark.checkers.history.columns.columns import Columns
from tidemark.checkers.history.edn.json_text import NoTextError, json_text
from tidemark.checkers.history.edn.reader import EdnError
from tidemark.checkers.history.edn_history import EdnReading, read_edn
from tidemark.checkers.history.history_blocks import places, read_block, together


@pytest.fixture(autouse=True, scope="module")
def some_lines_are_a_block():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tidemark.checkers.history.long_file.BLOCK", 300)
        patch.setattr("tidemark.checkers.history.history_blocks.LEAST_BYTES", 600)
        yield


def told(history: History) -> dict[str, object]:
    """All that there is in it."""
    return {
        "nemesis": history.nemesis,
        **{field.name: plain(history.columns, field.name) for field in fields(Columns)},
    }


def plain(columns: Columns, name: str) -> object:
    found = getattr(columns, name)
    return (found.dtype, found.tolist()) if isinstance(found, np.ndarray) else [(type(one), one) for one in found]


def read(data: bytes, patch: pytest.MonkeyPatch, least: int) -> object:
    patch.setattr("tidemark.checkers.history.edn_history.BLOCK", least)
    try:
        return told(read_edn(io.BytesIO(data)))
    except EdnError as error:
        return str(error)


def form_by_form(data: bytes) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tidemark.checkers.history.long_file.BLOCK", 1 << 20)
        return read(data, patch, 1 << 20)


def at_once(data: bytes) -> object:
    with pytest.MonkeyPatch.context() as patch:
        return read(data, patch, 0)


def in_blocks(data: bytes) -> object:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "history.edn"
        path.write_bytes(data)
        found = together(path, map(read_block, places(path, 3)))
        return None if found is None else told(found)


KEYS = ["0", "1", '"1"', ":1", '"a"', ":a", '"t 0, [x]"', '"é"']
VALUES = [
    *map(str, range(9)),
    '"1"',
    ":b",
    '"b"',
    "nil",
    "true",
    "-3",
    "1.5",
    "4611686018427387904",
    "18446744073709551615",
]
ODD_SHORT = (
    "0 ¦ -0 ¦ 7 ¦ -1 ¦ -2 ¦ +1 ¦ 1.0 ¦ 1.5 ¦ -0.0 ¦ 1e5 ¦ 1E-3 ¦ 1e00005 ¦ 1e400 ¦ 01 ¦ .5 ¦ 1. ¦ 0x1F ¦ 2r11 ¦ 1N ¦ 1.5M"
    " ¦ 1/2 ¦ 4/2 ¦ 0.1 ¦ 9007199254740993.0 ¦ 1e23 ¦ -9999999999999999999999999999999999999999 ¦ 1.e5"
    " ¦ 4611686018427387903 ¦ -4611686018427387904 ¦ 9223372036854775807 ¦ 9223372036854775808 ¦ -9223372036854775808"
    " ¦ -9223372036854775809 ¦ 18446744073709551615 ¦ 18446744073709551616 ¦ true ¦ false ¦ nil ¦ null ¦ NaN ¦ Infinity"
    ' ¦ ##NaN ¦ ##Inf ¦ nul ¦ nilx ¦ ni ¦ foo ¦ ->x ¦ - ¦ tru ¦ "" ¦ "a" ¦ ":a" ¦ ":" ¦ "1" ¦ "ok" ¦ "all" ¦ "é"'
    ' ¦ "\\u00e9"'
    ' ¦ "\\ud83d\\ude00" ¦ "\\ud800" ¦ "\U0001f600" ¦ "a\\nb" ¦ "a\tb" ¦ "a\nb" ¦ "\\x" ¦ "\\/" ¦ "a ¦ \'a\' ¦ "\\""'
    ' ¦ "x" "y" ¦ "x":y ¦ "\x7f" ¦ "\u2028" ¦ :a ¦ :null ¦ :nil ¦ : ¦ ::a ¦ :a:b ¦ :a/b ¦ :\xe9 ¦ :a\xa0b ¦ :a\'b ¦ :1e5'
    ' ¦ a:b ¦ \\a ¦ \\newline ¦ \\ ¦ :a #_b ¦ ;c ¦ ; c\n ¦ #_x ¦ #_ ¦ #{1} ¦ #{1 1} ¦ #inst "2026" ¦ #a ¦ ^:b c ¦ @x ¦ `x'
    " ¦ ~x ¦ \x00 ¦ \t ¦ [] ¦ {} ¦ () ¦ (1 2) ¦ [[]] ¦ [1 2] ¦ [1, 2] ¦ [1,2] ¦ [1  2] ¦ [ 1 2 ] ¦ [1 2 3] ¦ [1[2]]"
    " ¦ [1,,2] ¦ [nil 1] ¦ [-1 1] ¦ [-2 1] ¦ [1.0 1] ¦ [true 1] ¦ [nil] ¦ {:a 1} ¦ {:a} ¦ {:a 1, :a 2} ¦ {1 2, 1 3}"
    ' ¦ {0 []} ¦ {0 [[1 2]]} ¦ {0 [[1 2]], "0" [[1 3]], :0 []} ¦ {0 [[1 2]], 0 []} ¦ {true []} ¦ {1 [], true []}'
    " ¦ {nil []} ¦ {1.0 []} ¦ {1 [], 1.0 []} ¦ {0 [[1 2] [1 3]]} ¦ {0 nil} ¦ {0 [[1]]} ¦ {0 [[1 2 3]]} ¦ {[0 1] []}"
    ' ¦ {0 [[nil 2]]} ¦ {0 [[-1 2]]} ¦ {0 [[-2 2]]} ¦ {0 [1]} ¦ {0 {}} ¦ {{} []} ¦ {0 ["ab"]} ¦ {0 [[1 [2]]]} ¦ {0}'
    " ¦ [:send 0 1] ¦ [[:send 0 1]] ¦ [[:send 0 [1 2]] [:poll]] ¦ [[:poll {}]] ¦ [[:poll nil]] ¦ [[:poll []]]"
    ' ¦ [[:poll {0 [[1 2]], 1 [[3 :x] [4 nil]]}]] ¦ [[:poll 1]] ¦ [[:poll {} {}]] ¦ [["send" 0 1]] ¦ [[":send" 0 1]]'
    " ¦ [[:send nil 1]] ¦ [[:send 0 nil]] ¦ [[:send 0]] ¦ [[:send 0 [1 2 3]]] ¦ [[:send 0 (1 2)]] ¦ [[:send 0 {}]]"
    " ¦ [[:send [0 :a] 1]] ¦ [[:send true 1]] ¦ [[:send 0 [-1 1]]] ¦ [[:append 0 1]] ¦ [[:poll {0 [[0 1]]}]] ¦ []] ¦ ["
    ' ¦ } ¦ ] ¦ :send ¦ :poll ¦ :txn ¦ :assign ¦ :invoke ¦ :ok ¦ :info ¦ :nemesis ¦ :kafka ¦ :all ¦ "send" ¦ ":send"'
)
ODD = [
    *ODD_SHORT.split(" ¦ "),
    "9" * 1001,
    "-" + "9" * 40,
    "[" * 99 + "]" * 99,
    "[" * 127 + "]" * 127,
    "[" * 128 + "]" * 128,
    "[" * 3000,
    "{0 " * 40 + "1" + "}" * 40,
]
FIELDS = (
    "type",
    "process",
    "f",
    "value",
    "time",
    "index",
    "error",
    "acks",
    "final?",
    "rebalance-log",
    "node",
    "ext/dur",
)
OTHER_LINES = [
    *(
        "",
        "  ",
        "\t\r",
        ",",
        ";",
        "; comment",
        "#_{:a 1}",
        "{}",
        "[]",
        "nil",
        "7",
        '"a"',
        "{",
        "}",
        "]",
        "{]",
        "\x00",
        "\ufeff",
    ),
    "{:type :info, :process :nemesis, :f :kill, :value :one, :time 5000, :index 7}",
    '{:type :info, :process :nemesis, :f :kill, :value {"n1" :killed}, :time 9000}',
    "{:type :info, :process :nemesis, :f :start-partition, :value nil}",
    '#jepsen.history.Op{:index 3, :time 77000, :type :info, :process :nemesis, :f :stop, :value #{"n1"}}',
    "{:type :info, :process :nemesis, :f :kill, :value ##NaN, :time 5000}",
    "{:type :info, :process :other, :f :kill, :value nil}",
    "{:type :invoke, :process 1, :f :assign, :value [0 1], :time 1000}",
    "{:type :invoke, :process 1, :f :assign, :value (0 :a), :time 1000}",
    "{:type :invoke, :process 1, :f :subscribe, :value [true]}",
    "{:type :ok, :process 1, :f :poll, :value [[:poll {0 [[0 1]]}]], :rebalance-log [{:keys [0 1]}], :time 1000}",
    "{:type :ok, :process 1, :f :poll, :value [[:poll {0 [[0 1]]}]], :rebalance-log []}",
    "{:type :ok, :process 1, :f :poll, :value ([:poll {0 ([0 1])}])}",
    "{:type :ok, :process 1, :f :delete, :value [[:delete 0 3]]}",
    '{:type :info, :process 1, :f :send, :value [[:send 0 1]], :error [:timeout "No; (reply)"], :exception {:via [{:type X}]}}',
    "{:type :invoke, :process 1, :f :send, :value [[:send 0 1]]} {:type :ok, :process 1, :f :send, :value nil}",
    "{:type :invoke :process 1 :f :send :value [[:send 0 1]]}",
    "{:type :invoke,:process 1,:f :send,:value [[:send 0 1]]}",
    "{:type :invoke, :process 2, :f :send,\n :value [[:send 0 1]]}",
    '{:type :invoke, :process 2, :f :poll, :value "a\n{:type :ok, :process 2, :f :poll, :value nil}\n"}',
    " {:type :invoke, :process 1, :f :send, :value [[:send 0 1]]} ",
    '{"type" :invoke, :process 1, :f :send, :value [[:send 0 1]]}',
    "{:process 1, :type :invoke}",
    "#jepsen.history.Op{:type :invoke, :process 1, :f :txn, :value [[:send 0 1] [:poll] [:send :a 2]]}",
    "#other{:type :invoke, :process 1, :f :txn, :value [[:send 0 1]]}",
]


def operations(seed: int, most: int = 24, *, in_parts: bool = True) -> list[dict[str, str]]:
    """The fields of halves of operations, as Clojure prints them; some tell of a part of what was invoked."""
    random = Random(seed)
    keys, values = random.choice([KEYS[:1], KEYS[2:3], KEYS]), VALUES[: random.choice([9, 12, len(VALUES)])]
    sent: dict[int, tuple[str, list[str]]] = {}
    made = []

    def records() -> str:
        return (
            "[" + " ".join(f"[{random.randrange(9)} {random.choice(values)}]" for _ in range(random.randrange(4))) + "]"
        )

    for number in range(random.randint(most // 8, most)):
        process = random.randrange(3)
        if process not in sent or random.random() < 0.02:
            f = random.choice(["send", "poll", "txn"])
            kinds = [f] if f != "txn" else random.choices(["send", "poll"], k=random.randint(0, 3))
            micros = [
                f":send {random.choice(keys)} {random.choice(values)}" if one == "send" else ":poll" for one in kinds
            ]
            sent[process] = f, micros
            type_ = "invoke"
        else:
            f, micros = sent.pop(process)
            type_ = random.choice(["ok", "ok", "ok", "fail", "info"])
            if type_ == "ok":
                micros = [completed(micro, random, keys, records) for micro in micros]
            elif in_parts and random.random() < 0.1:
                micros = micros[1:]
        value = f"[{' '.join(f'[{micro}]' for micro in micros)}]" if not in_parts or random.random() < 0.95 else "nil"
        time = 10_007 * number - (50_000 if random.random() < 0.05 else 0)
        made.append({"type": f":{type_}", "process": str(process), "f": f":{f}", "value": value, "time": str(time)})
    return made


def completed(micro: str, random: Random, keys: list[str], records: object) -> str:
    if micro == ":poll":
        return f":poll {{{', '.join(f'{key} {records()}' for key in random.sample(keys, random.randrange(min(len(keys), 3))))}}}"
    key, value = micro.removeprefix(":send ").rsplit(" ", 1)
    return f":send {key} [{random.choice([*range(9), 'nil', -1])} {value}]"


def line(entry: dict[str, str], record: bool) -> str:
    return (
        ("#jepsen.history.Op" if record else "")
        + "{"
        + ", ".join(f":{name} {one}" for name, one in entry.items())
        + "}"
    )


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Lines of operations, of which some few are spoilt."""
    record, indexed, other = (draw(st.booleans()) for _ in range(3))
    texts = []
    for number, entry in enumerate(operations(draw(st.integers(0, 9999)))):
        extra = {"node": '"n1"'} if other else {}
        error = (
            {"error": draw(st.sampled_from([":timeout", '[:a "b c" 1.5]', '"x"']))} if entry["type"] == ":info" else {}
        )
        texts.append(line(entry | ({"index": str(number)} if indexed else {}) | extra | error, record))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2, 3]))):
        texts = draw(st.sampled_from(SPOILERS))(draw, texts)
    end = draw(st.sampled_from(["\n"] * 9 + ["", "\n\n", "\r\n", "\n{", "\n{:type :o", "\n]", "\n#_"]))
    text = draw(st.sampled_from([""] * 8 + ["\ufeff", "\ufeff\ufeff", "["])) + "\n".join(texts) + end
    data = text.encode("utf-8", "surrogatepass")
    for _ in range(draw(st.sampled_from([0, 0, 0, 0, 0, 0, 1, 2]))):
        at = draw(st.integers(0, len(data)))
        byte = draw(
            st.sampled_from([b"\xc3", b'"', b",", b"}", b"{", b" ", b"\n", b"\x01", b"\\", b"-", b"e", b":", b"#", b""])
        )
        data = data[:at] + byte + data[at + draw(st.integers(0, 1)) :]
    return data


def one_else(draw: st.DrawFn, texts: list[str]) -> list[str]:
    at = draw(st.integers(0, len(texts)))
    return [*texts[:at], draw(st.sampled_from(OTHER_LINES)), *texts[at + draw(st.integers(0, 1)) :]]


def one_odd(draw: st.DrawFn, texts: list[str]) -> list[str]:
    """A field that there is, once more, or one that there was not."""
    at = draw(st.integers(0, len(texts) - 1))
    text = texts[at]
    field = f":{draw(st.sampled_from(FIELDS))} {draw(st.sampled_from(ODD))}"
    more = text.replace("{", "{" + field + ", ", 1) if draw(st.booleans()) else text[:-1] + f", {field}" + text[-1:]
    return [*texts[:at], more, *texts[at + 1 :]]


def one_odd_all_over(draw: st.DrawFn, texts: list[str]) -> list[str]:
    field = f", :{draw(st.sampled_from(FIELDS))} {draw(st.sampled_from(ODD))}}}"
    return [text[:-1] + field for text in texts]


def one_value(draw: st.DrawFn, texts: list[str]) -> list[str]:
    """Something else for a number or a word."""
    at = draw(st.integers(0, len(texts) - 1))
    what = draw(
        st.sampled_from(
            [" 0", " 1", " nil", ":send ", ":poll", "[[", "{}", ":f :send", ":invoke", " 2", "]]", ", ", "[0 ", ":ok"]
        )
    )
    odd = draw(st.sampled_from(ODD))
    place = draw(st.sampled_from([odd, f" {odd}"]))
    return [*texts[:at], texts[at].replace(what, place, draw(st.sampled_from([1, -1]))), *texts[at + 1 :]]


def gone(draw: st.DrawFn, texts: list[str]) -> list[str]:
    at = draw(st.integers(0, len(texts) - 1))
    return [*texts[:at], *texts[at + draw(st.integers(1, 3)) :]] or texts


def exchanged(draw: st.DrawFn, texts: list[str]) -> list[str]:
    one, other = draw(st.integers(0, len(texts) - 1)), draw(st.integers(0, len(texts) - 1))
    texts = list(texts)
    texts[one], texts[other] = texts[other], texts[one]
    return texts


SPOILERS = [one_else, one_else, one_odd, one_odd, one_odd_all_over, one_value, one_value, gone, exchanged]


@settings(max_examples=150, deadline=None)
@given(files())
@example(b"{:type :invoke, :process 0, :f :poll, :value [[:poll]], :type :invoke}\n" * 9)
@example(b"{:type :invoke, :process 0, :f :poll, :value [[:poll]], :x 1e00005}\n" * 9)
@example(b'{:type :ok, :process 0, :f :poll, :value [[:poll {":a" [[0 1]], :a [[0 2]]}]]}\n' * 9)
def test_a_file_read_at_once_is_what_it_is_form_by_form(data: bytes) -> None:
    expected = form_by_form(data)

    assert at_once(data) == expected
    assert in_blocks(data) in (None, expected)


@pytest.mark.parametrize("seed", range(20))
def test_the_usual_lines_are_read_at_once(seed: int) -> None:
    data = "".join(line(entry, bool(seed % 2)) + "\n" for entry in operations(seed, 200, in_parts=False)).encode()
    expected = form_by_form(data)

    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(EdnReading, "each")
        assert at_once(data) == expected
        assert len(data) < 2000 or in_blocks(data) == expected


def test_times_of_a_block_are_not_before_those_of_the_one_before() -> None:
    late, early, untold = (
        f"{{:type :invoke, :process {process}, :f :poll, :value [[:poll]]{time}}}\n" * 20
        for process, time in ((0, ", :time 9999999"), (1, ", :time 5"), (2, ""))
    )
    data = (late + early + untold).encode()

    assert in_blocks(data) == at_once(data) == form_by_form(data)


@pytest.mark.parametrize("longest", [100, 1 << 24])
def test_a_vector_in_one_line_is_read_form_by_form(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark.checkers.history.edn_history.LONGEST", longest)
    monkeypatch.setattr("tidemark.checkers.history.edn.reader.BLOCK", 100)
    data = ("[" + " ".join(line(entry, record=True) for entry in operations(1, in_parts=False)) + "]").encode()

    assert at_once(data) == form_by_form(data)
    assert in_blocks(data) is None


def test_a_nemesis_without_a_time_is_left_to_one_reader() -> None:
    data = b"{:type :invoke, :process 0, :f :poll, :value [[:poll]], :time 7}\n" * 40
    data += b"{:type :info, :process :nemesis, :f :kill, :value nil}\n"

    assert in_blocks(data) is None
    assert at_once(data) == form_by_form(data)


def test_lines_of_another_shape_between_them_are_read_with_them() -> None:
    data = "\n".join(text for text in OTHER_LINES if text.startswith(("{:type :info, :process :n", "#jepsen", "; ")))
    data = data.replace("##NaN", "nil").encode() + b"\n"
    expected = form_by_form(data)

    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(EdnReading, "each")
        assert at_once(data) == expected


NO_TEXT = (
    '{:a ":b"} ¦ {:a null} ¦ {:a #{1}} ¦ {:a (1)} ¦ {:a \\b} ¦ {:a 1e5} ¦ {:a ::b} ¦ {:é 1} ¦ {:a "b\\n"} ¦ {:a\n1}'
)


@pytest.mark.parametrize("text", NO_TEXT.split(" ¦ "))
def test_what_json_may_write_otherwise_is_no_text(text: str) -> None:
    with pytest.raises(NoTextError):
        json_text(f"{text}\n".encode())

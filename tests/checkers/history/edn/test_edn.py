"""EDN: what is read, what is refused and where, and that what is written is read as it was."""

import io
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.checkers import read_any
from tidemark.checkers.history.edn import reader as reader_module
from tidemark.checkers.history.edn.forms import Char, EdnList, EdnMap, EdnSet, Keyword, Long, Precise, Symbol, Tagged
from tidemark.checkers.history.edn.operations import operations
from tidemark.checkers.history.edn.reader import EdnError, blocks_of, elements, read_all
from tidemark.checkers.history.edn.writer import written
from tidemark.checkers.history.edn_lines import edn_lines

K = Keyword


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("nil", None),
        ("-12", -12),
        ("+3", 3),
        ("12345678901234567890123N", 12345678901234567890123),
        ("0x1F", 31),
        ("2r101", 5),
        ("1.5e3", 1500.0),
        ("##-Inf", float("-inf")),
        ("1.50M", Decimal("1.50")),
        ("2/6", Fraction(1, 3)),
        ("4/2", 2),
        (r'"a\n\u00e9\"\\"', 'a\né"\\'),
        (r'"\ud83d\ude00"', "😀"),
        ('"two\nlines"', "two\nlines"),
        (r"\a", Char("a")),
        (r"\newline", Char("\n")),
        (r"[\a\b]", (Char("a"), Char("b"))),
        (r'["\"" "\\"]', ('"', "\\")),
        (":a/b", K("a/b")),
        ("->x", Symbol("->x")),
        ("[1 [2]]", (1, (2,))),
        ("(1 2)", EdnList((1, 2))),
        ("#{1 2}", EdnSet((2, 1))),
        ("{:a 1, [2] {3 4}}", {K("a"): 1, (2,): {3: 4}}),
        ("{{:a 1} #{{:b 2}}}", {EdnMap({K("a"): 1}): EdnSet((EdnMap({K("b"): 2}),))}),
        ("#a.b.C{:x 1}", Tagged("a.b.C", {K("x"): 1})),
        ('#inst "2026"', Tagged("inst", "2026")),
        ("#a #b 1", Tagged("a", Tagged("b", 1))),
        ("[1 #_2 3 #_#_ 4 5 #_{:a #_1 2}]", (1, 3)),
        ("[#_#a 1 2]", (2,)),
        ("[1 ; 2 ]\n 3]", (1, 3)),
        ("^{:line 3} [1]", (1,)),
    ],
)
def test_what_a_form_is(text, form):
    (read,) = read_all(text)

    assert read == form
    assert type(read) is type(form) or isinstance(form, dict | int | Decimal)


def test_numbers_keep_their_letters():
    assert [type(form) for form in read_all("1N 1M 1")] == [Long, Precise, int]


@pytest.mark.parametrize(
    ("text", "line", "column", "sentence"),
    [
        ("[1\n  }", 2, 3, "this } does not close the [ of line 1"),
        ("\n ]", 2, 2, "this ] closes nothing"),
        ("{:a 1\n:b}", 2, 3, "this map has a key without a value"),
        ("{:a 1 :a 2}", 1, 11, "this map has the same key twice"),
        ("#{1 1}", 1, 6, "this set has the same form twice"),
        ("[1 [2\n", 2, 1, "the file ends before the [ of line 1 is closed"),
        ("[1 #_]", 1, 6, "there is no form after the #_ of line 1"),
        ("\n#a", 2, 3, "the file ends, and there is no form after the #a of line 2"),
        ("1 1x", 1, 3, "1x is no number"),
        ("1/0", 1, 1, "1/0 is no number"),
        ('\n"abc', 2, 1, "this string has no end"),
        (r'["a\q"]', 1, 2, r"\q is no escape"),
        (r'"\ud83d"', 1, 1, "an escape stands for half a character"),
        (r"\longname", 1, 1, r"\longname is no character"),
        ("#=(+ 1 2)", 1, 1, "#= begins nothing"),
        (":", 1, 1, ": is no keyword"),
        ("1" * 1001, 1, 1, "a number has more than 1000 digits"),
        ("[" * 129, 1, 129, "forms are nested more than 128 deep"),
        ("#_" * 129, 1, 257, "forms are nested more than 128 deep"),
    ],
)
def test_what_is_no_edn_is_refused_with_its_place(text, line, column, sentence):
    with pytest.raises(EdnError) as refused:
        read_all(text)

    assert (refused.value.line, refused.value.column, refused.value.sentence) == (line, column, sentence)


def test_what_is_wrong_before_a_byte_that_is_no_utf_8_is_told_first():
    with pytest.raises(EdnError, match=r"^line 1, column 3: :: is no keyword$"):
        list(elements([b"1 :: \xff"]))


@pytest.mark.parametrize("size", [4, 100])
def test_a_token_may_be_so_long_wherever_a_block_ends(size, monkeypatch):
    monkeypatch.setattr(reader_module, "BLOCK", size)
    monkeypatch.setattr(reader_module, "LONGEST", 10)

    with pytest.raises(EdnError, match=r"^line 1, column 3: this token has more than 16777216 characters$"):
        list(elements(blocks_of(io.BytesIO(b"1 12345678901 :a"))))


def test_a_byte_that_is_no_utf_8_is_refused_with_its_place():
    with pytest.raises(EdnError, match=r"^line 2, column 2: byte 0xff is no UTF-8$"):
        list(elements(io.BytesIO(b"1\n:\xff")))


INVOKE = b"{:type :invoke, :process 0}"
OK = b'{:type :ok, :process 0, :error "two\nlines"}'
INFO = b"{:type :info, :process :nemesis}"


@pytest.mark.parametrize(
    "text",
    [
        INVOKE + b"\n" + OK + b"\n" + INFO,
        b"[" + INVOKE + b"\n " + OK + b"\n " + INFO + b"]",
        b"(#jepsen.history.Op" + INVOKE + b"\n#_{}" + OK + b"\n" + INFO + b")",
    ],
    ids=["map per line", "vector", "list of records"],
)
@pytest.mark.parametrize("block", [1, 2, 7, 1 << 18])
def test_operations_of_every_shape_whatever_the_blocks(text, block, monkeypatch):
    monkeypatch.setattr(reader_module, "BLOCK", block)

    found = [(op.line, op.process, op.type, op.fields.get(K("error"))) for op in operations(io.BytesIO(text))]

    assert found == [(1, 0, "invoke", None), (2, 0, "ok", "two\nlines"), (4, K("nemesis"), "info", None)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"{:type :ok, :process 0}\n[7]\n8", "line 2: an operation is a map, and not 7"),
        (b"{:process 0}", "line 1: the :type of an operation is :invoke, :ok, :fail or :info, and not nil"),
        (b"{:type :ok}", "line 1: an operation needs a :process"),
        (
            b"{:type :ok, :process 0, :time 1.5}",
            "line 1: the :time of an operation is an integer of 64 bits, and not 1.5",
        ),
        (
            b"{:type :ok, :process 0, :index 99999999999999999999}",
            "line 1: the :index of an operation is an integer of 64 bits, and not 99999999999999999999",
        ),
    ],
)
def test_what_is_no_operation_is_refused_with_its_line(text, sentence):
    with pytest.raises(EdnError) as refused:
        list(operations(io.BytesIO(text)))

    assert str(refused.value) == sentence


def test_a_file_is_not_read_whole():
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return b"{:type :ok, :process 0}\n" * (size // 24)

    found = operations(blocks_of(Endless()))

    assert [next(found).line for _ in range(50_000)][-1] == 50_000


names = st.sampled_from(["a", "a-b", "->x", "ns.a/b", "nil?", "*x*", "+", "-"])
atoms = st.one_of(
    st.none(),
    st.integers(),
    st.integers().map(Long),
    st.floats(allow_nan=False).filter(lambda number: not number.is_integer()),
    st.text(),
    st.characters(exclude_categories=("Cs", "Z", "C"), max_codepoint=0xFFFF).map(Char),
    names.map(Keyword),
    names.map(Symbol),
    st.just(Fraction(-2, 3)),
)


@st.composite
def a_form(draw, deepest=3):
    kind = draw(st.integers(0, 8))
    if kind > 5 or not deepest:
        return draw(atoms)
    inner = a_form(deepest - 1)
    if kind == 0:
        return EdnMap(draw(st.dictionaries(inner, inner, max_size=3)))
    if kind == 1:
        return Tagged("jepsen.history.Op", draw(inner))
    if kind == 2:
        return EdnSet(tuple(draw(st.frozensets(inner, max_size=3))))
    return (EdnList if kind == 3 else tuple)(draw(st.lists(inner, max_size=4)))


@given(st.lists(a_form(), max_size=3), st.integers(1, 40))
def test_what_is_written_is_read_as_it_was(forms, block):
    text = "\n".join(map(written, forms))
    size, reader_module.BLOCK = reader_module.BLOCK, block
    try:
        found = read_all(text)
    finally:
        reader_module.BLOCK = size

    assert found == forms
    assert list(map(written, found)) == list(map(written, forms))


@given(st.binary(max_size=60) | st.text('[]{}()#_^"\\;:1 n\nu0/NMae+-', max_size=30).map(str.encode))
def test_whatever_a_file_holds_it_is_read_or_refused_in_a_sentence(data):
    refused = None
    try:
        list(elements(io.BytesIO(data)))
    except EdnError as error:
        refused = error

    assert refused is None or (refused.line >= 1 and refused.column >= 1)


def test_nanoseconds_are_written_again(tmp_path):
    file = tmp_path / "history.edn"
    file.write_text("{:process 0 :type :invoke :f :poll :value [[:poll]] :time 1234567}\n", encoding="utf-8")
    history = read_any(file)

    assert history.columns.time.tolist() == [1234]
    assert ":time 1234567" in next(edn_lines(history))

"""What a numbered file lacks is seen, whatever is taken away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.checkers import History, HistoryFormatError, Op, check, parse_history, sent, write_history
from tidemark.checkers.history.history_file import history_lines
from tidemark.checkers.history.long_file import read_history

K = "t-0"
OPS = [
    Op(1, "p1", "invoke", "send", (("send", K, 7),), None, "all"),
    sent(2, "p1", K, 7, 0),
    Op(3, "p1", "invoke", "send", (("send", K, 8),), None, "all"),
    sent(4, "p1", K, 8, 1),
    Op(5, "c1", "invoke", "poll", (("poll", {}),)),
    Op(6, "c1", "ok", "poll", (("poll", {K: [(0, 7), (1, 8)]}),)),
]
WHOLE = History.of(variant="mine", ops=OPS)
LINES = list(history_lines(WHOLE))


def without(*numbers):
    return parse_history([line for number, line in enumerate(LINES, start=1) if number not in numbers])


def test_a_whole_file_is_whole():
    history = parse_history(LINES)

    assert (history, history.cut_off, history.gaps) == (WHOLE, "", "")
    assert "lines" not in history.meta


@pytest.mark.parametrize("kept", range(1, 7))
def test_a_file_that_ends_early_is_cut_off_wherever_it_ends(kept):
    history = parse_history(LINES[:kept])

    assert (history.cut_off, history.gaps) == (f"the history ends after {kept} of 7 lines", "")
    assert check(history).valid == "unknown"


def test_a_torn_last_line_is_cut_off():
    assert parse_history([*LINES[:6], LINES[6][:-9]], allow_torn_tail=True).cut_off == (
        "the history ends after 6 of 7 lines"
    )


def test_a_torn_last_line_of_a_file_without_numbers_is_seen_as_well():
    foreign = '{"kind":"op","time":1,"process":"p1","type":"invoke","f":"send","value":[["send","x",7]]}'
    history = parse_history([foreign, foreign[:20]], allow_torn_tail=True)

    assert history.cut_off == "the last line of the history was cut off"


@pytest.mark.parametrize(
    ("gone", "sentence"),
    [
        ((1,), "line 1 is missing"),
        ((4,), "line 4 is missing"),
        ((3, 4, 5), "lines 3 to 5 are missing"),
        ((1, 2, 6), "lines 1 to 2 are missing"),
    ],
)
def test_lines_that_are_missing_are_named(gone, sentence):
    assert without(*gone).gaps == sentence


def test_a_line_that_is_there_twice_makes_no_other_one_up():
    assert parse_history([*LINES[:3], *LINES[2:4], *LINES[5:]]).gaps == "line 3 comes after line 3"


def test_a_line_that_is_there_twice_is_seen_though_none_is_missing():
    assert parse_history([*LINES, LINES[-1]]).gaps == "line 7 comes after line 7"


def test_lines_without_numbers_among_others_are_seen():
    stranger = '{"kind":"nemesis","time":9,"what":"heal","index":-1,"fault":"all","detail":{}}'

    assert parse_history([*LINES, stranger]).gaps == "line 8 of the file has no number, and those before it have"
    assert parse_history([stranger, LINES[1].replace('"line":2', '"line":1')]).gaps == "only 1 of 2 lines have a number"


def test_a_file_that_does_not_say_how_many_lines_there_are_was_not_finished():
    history = parse_history([LINES[0].replace('"lines":7,', ""), *LINES[1:]])

    assert (history.cut_off, history.gaps) == ("the history was not written to its end", "")
    assert '"lines"' not in next(history_lines(history))


def test_a_foreign_file_may_count_its_lines_without_numbering_them():
    foreign = [
        '{"kind":"meta","lines":3}',
        *[line.replace('"line":2,', "").replace('"line":3,', "") for line in LINES[1:3]],
    ]

    assert parse_history(foreign).cut_off == ""
    assert parse_history(foreign[:2]).cut_off == "the history ends after 2 of 3 lines"
    assert (
        parse_history([*foreign, foreign[2].replace("7", "9")]).gaps == "the file has 4 lines, and the meta line says 3"
    )


@pytest.mark.parametrize("number", ['"2"', "-2", "true", "2.0", "null"])
def test_a_number_that_is_none_is_told(number):
    assert parse_history([LINES[0], LINES[1].replace('"line":2', f'"line":{number}'), *LINES[2:]]).gaps != ""


@given(st.sets(st.integers(1, 7), min_size=1, max_size=6))
def test_whatever_lines_are_taken_away_the_rest_is_not_valid(gone):
    assert check(without(*gone)).valid == "unknown"


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "history.jsonl"
    write_history(WHOLE, path)
    with pytest.raises(TypeError):
        write_history(History.of(ops=[*OPS, sent(9, "p1", K, object(), 3)]), path)

    assert read_history(path) == WHOLE
    assert [one.name for one in tmp_path.iterdir()] == ["history.jsonl"]


def test_what_follows_a_torn_line_is_refused():
    with pytest.raises(HistoryFormatError, match=r"^line 2: this is not JSON"):
        parse_history([LINES[0], LINES[1][:9], *LINES[2:]], allow_torn_tail=True)

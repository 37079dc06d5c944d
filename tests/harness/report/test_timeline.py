"""Which operations a timeline shows, where, and what its page says of the others."""

import re
from html.parser import HTMLParser

import pytest

from tidemark.checkers.history.columns.builder import columns_of
from tidemark.checkers.history.history import History, Op
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly
from tidemark.harness.report import timeline as timeline_module
from tidemark.harness.report.timeline import NothingThereError, timeline_of
from tidemark.harness.report.timeline_page import what_is_shown, write_timeline


def send(time, process, ended, value, type_="ok", error=None):
    what = ("send", "t-0", (value, value) if type_ == "ok" else value)
    return [
        Op(time, process, "invoke", "send", (("send", "t-0", value),)),
        Op(ended, process, type_, "send", (what,), error),
    ]


def history(*ops, nemesis=(), **meta):
    found = sorted((op for one in ops for op in one), key=lambda op: op.time)
    return History.of(ops=found, nemesis=nemesis, **meta)


SMALL = history(
    send(1000, "p1", 4000, 1),
    send(2000, "p2", 3000, 2, "fail", "NOT_LEADER"),
    [Op(5000, "p10", "invoke", "poll", (("poll", {}),))],
    nemesis=[(1500, "strike", 0, "crash", {}), (2500, "heal", 0, "crash", {})],
)
LOST = Anomaly("lost-write", VIOLATION, 4000, "t-0", "Record 1 is gone.", evidence={"value": 1, "offset": 1})


def test_a_block_reaches_from_its_invocation_to_its_completion_in_its_process_s_column():
    shown = timeline_of(SMALL, [LOST])

    assert shown.columns == ["p1", "p2", "p10"]
    assert shown.times == [1000, 2000, 3000, 4000, 5000]
    assert [(b.column, b.row, b.until, b.outcome, b.found) for b in shown.blocks] == [
        (0, 0, 3, "ok", True),
        (1, 1, 2, "fail", False),
        (2, 4, 5, "open", False),
    ]
    assert [block.short for block in shown.blocks] == ["send t-0 1@1", "send t-0 2", "poll"]
    assert shown.blocks[1].hover.splitlines() == [
        "p2 send: fail",
        "0.002000 s to 0.003000 s, 1 ms",
        "error: NOT_LEADER",
        "asked: [['send', 't-0', 2]]",
    ]
    assert [(bar.row, bar.until, bar.words) for bar in shown.faults] == [(1, 2, "crash: 0.002 s to 0.003 s")]


def test_columns_show_the_same_as_operations():
    columns = History(nemesis=SMALL.nemesis, columns=columns_of(SMALL.ops))

    assert timeline_of(columns, [LOST]) == timeline_of(SMALL, [LOST])


@pytest.fixture
def ten(monkeypatch):
    """Ten sends one after the other, a second each, of which a page may show four."""
    monkeypatch.setattr(timeline_module, "MOST_OPERATIONS", 4)
    return history(*(send(n * 1_000_000, "p1", n * 1_000_000 + 500_000, n) for n in range(10)))


def values(shown):
    return [int(block.short.split("@")[1]) for block in shown.blocks]


def test_a_long_history_is_shown_around_what_was_found(ten):
    shown = timeline_of(ten, [Anomaly("lost-write", VIOLATION, 6_000_000, "t-0", "")])

    assert values(shown) == [4, 5, 6, 7]
    assert (shown.before, shown.after, shown.total) == (4, 2, 10)
    assert what_is_shown(shown, "tidemark report h.jsonl") == (
        "4 of 10 operations, from 4.000 s to 7.500 s, around lost-write at 6.000 s. Left out: 4 before and 2 after. Another "
        "window: tidemark report h.jsonl --from SECONDS --to SECONDS."
    )


def test_a_long_history_in_which_nothing_was_found_is_shown_from_the_beginning(ten):
    assert values(timeline_of(ten, [])) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("window", "shown", "left_out"),
    [
        ((7.6, None), [8, 9], (8, 0)),
        ((None, 1.2), [0, 1], (0, 8)),
        ((2.2, 4.0), [2, 3, 4], (2, 5)),
        ((1.0, 8.0), [1, 2, 3, 4], (1, 5)),
    ],
)
def test_another_window_can_be_asked_for(ten, window, shown, left_out):
    found = timeline_of(ten, [], window)

    assert values(found) == shown
    assert (found.before, found.after) == left_out


def test_what_began_before_the_window_is_cut(ten):
    assert [(block.row, block.until, block.cut) for block in timeline_of(ten, [], (2.2, 3.0)).blocks] == [
        (0, 1, True),
        (1, 2, False),
    ]


def test_a_window_without_operations_is_refused(ten):
    with pytest.raises(
        NothingThereError, match=r"no operation lies between 20 s and 30 s; they lie between 0 s and 9\.5 s"
    ):
        timeline_of(ten, [], (20, 30))


def test_what_never_ended_before_the_window_is_counted_and_not_shown(monkeypatch):
    monkeypatch.setattr(timeline_module, "MOST_OPERATIONS", 2)
    stuck = [Op(1, "p0", "invoke", "send", (("send", "t-0", 9),))]
    shown = timeline_of(
        history(stuck, *(send(n * 1000 + 2, "p1", n * 1000 + 500, n) for n in range(1, 6))), [], (0.003, None)
    )

    assert (shown.before, shown.open_before) == (2, 1)
    assert "2 before, 1 after and 1 that began before and never ended" in what_is_shown(shown)


def test_a_history_with_an_order_only_is_shown_in_that_order(tmp_path):
    shown = timeline_of(history(send(1, "p1", 2, 1), send(3, "p1", 4, 2)), [])
    page = write_timeline(shown, tmp_path / "t.html", "mine").read_text(encoding="utf-8")

    assert shown.by_order
    assert shown.blocks[0].hover.splitlines()[1] == "asked: [['send', 't-0', 1]]"
    assert "The history has no times." in page
    assert "seconds" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.blocks, self.links, self.scripts = [], [], 0

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.scripts += tag == "script"
        if tag == "a":
            self.links.append(found["href"])
        if found.get("class", "").startswith("op "):
            self.blocks.append((found["class"], found["title"].splitlines()[0]))


def test_the_page_has_a_block_for_each_operation_and_a_link_back(tmp_path):
    page = write_timeline(timeline_of(SMALL, [LOST]), tmp_path / "t.html", "mine", page="a page.html")
    tags = Tags()
    tags.feed(page.read_text(encoding="utf-8"))

    assert tags.blocks == [
        ("op ok found", "p1 send: ok"),
        ("op fail", "p2 send: fail"),
        ("op open", "p10 poll: never ended"),
    ]
    assert tags.links == ["a%20page.html"]
    assert "All 3 operations." in page.read_text(encoding="utf-8")


def test_a_sheet_that_is_wider_than_a_phone_scrolls_in_a_box_of_its_own(tmp_path):
    text = write_timeline(timeline_of(SMALL, []), tmp_path / "t.html", "mine").read_text(encoding="utf-8")
    assert ".scroll { overflow: auto;" in text
    assert re.search(r'<div class="scroll" tabindex="0"[^>]*>\s*<div class="sheet"', text)


def test_hostile_values_are_shown_and_not_run(tmp_path):
    evil = '"><script>alert(1)</script>'
    shown = timeline_of(history(send(1000, evil, 4000, evil)), [])
    tags = Tags()
    tags.feed(write_timeline(shown, tmp_path / "t.html", evil).read_text(encoding="utf-8"))

    assert tags.scripts == 0
    assert len(tags.blocks) == 1

"""The page of anybody's history has what was found, the records' stories, figures and a timeline, the same bytes every time."""

import re
from html.parser import HTMLParser

import pytest

from tidemark.checkers import History, Op, check
from tidemark.checkers.objects.workloads import judge
from tidemark.harness.report.environment import ZOOM
from tidemark.harness.report.history_page import write_history_page
from tidemark.harness.report.own_files import SomebodysFileError, refuse_to_overwrite
from tidemark.harness.report.pages import render_run
from tidemark.harness.report.record_story import record_stories


def send(time, process, value, offset, ended=None, type_="ok"):
    what = ("send", "t-0", (offset, value) if type_ == "ok" else value)
    return [
        Op(time, process, "invoke", "send", (("send", "t-0", value),)),
        Op(ended or time + 1000, process, type_, "send", (what,), None if type_ == "ok" else "TIMED_OUT"),
    ]


def poll(time, process, *records, final=False):
    return [
        Op(time, process, "invoke", "poll", (("poll", {}),), final=final),
        Op(time + 1000, process, "ok", "poll", (("poll", {"t-0": list(records)}),), final=final),
    ]


def history(*ops, nemesis=()):
    return History.of(
        ops=sorted((op for one in ops for op in one), key=lambda op: op.time), nemesis=nemesis, variant="theirs"
    )


LOST = history(
    send(1000, "p1", 1, 0),
    send(3000, "p1", 2, 1),
    send(5000, "p2", 3, 1),
    poll(7000, "c1", (0, 1), (1, 3)),
    nemesis=[(2500, "strike", 0, "meteor", {}), (4500, "heal", 0, "meteor", {})],
)
"""Record 2 was acknowledged at offset 1, where record 3 is."""


def sentences(found, name):
    (story,) = (story for story in record_stories(found, check(found)) if story.anomaly.name == name)
    return [moment.sentence for moment in story.moments]


def test_the_story_of_a_lost_record():
    assert sentences(LOST, "lost-write") == [
        "p1 sends record 2 to t-0.",
        "p1 is told that record 2 is written at offset 1 (acknowledged).",
        "p2 is told that another record, 3, is written at offset 1 (acknowledged).",
        "c1 reads another record, 3, at offset 1.",
    ]


def test_the_story_of_a_record_that_a_final_read_does_not_have():
    found = history(send(1000, "p1", 1, 0), send(3000, "p1", "two", 1), poll(7000, "c1", (0, 1), final=True))

    assert sentences(found, "lost-write") == [
        "p1 sends record two to t-0.",
        "p1 is told that record two is written at offset 1 (acknowledged).",
        "c1 has read t-0 to its end (a final read): 1 records at offsets 0 to 0, without it.",
    ]


def test_of_many_reads_of_a_record_a_few_are_told():
    reads = [poll(10_000 + n * 2000, f"c{n}", (0, 1), (1, 3)) for n in range(6)]
    found = history(send(1000, "p1", 1, 0), send(3000, "p1", 2, 1), send(5000, "p2", 3, 1), *reads)

    assert sentences(found, "lost-write")[3:] == [
        "c0 reads another record, 3, at offset 1.",
        "c1 reads another record, 3, at offset 1.",
        "c2 reads another record, 3, at offset 1.",
        "c5 reads record 3, as 2 did before that are not listed.",
    ]


def test_a_failed_send_that_is_read_says_why():
    found = history(send(1000, "p1", 1, 0, type_="fail"), send(3000, "p1", 2, 1), poll(7000, "c1", (0, 1), (1, 2)))

    assert sentences(found, "G1a")[:3] == [
        "p1 sends record 1 to t-0.",
        "p1 is told that record 1 was not written (TIMED_OUT).",
        "c1 reads record 1 at offset 0.",
    ]


def test_each_kind_of_anomaly_is_told_before_a_second_of_one():
    more = [send(20_000 + n * 4000, "p1", 10 + n, 5) for n in range(6)]
    found = history(*(LOST.ops[n : n + 2] for n in range(0, len(LOST.ops), 2)), *more)
    told = [story.anomaly.name for story in record_stories(found, check(found))]

    assert len(told) == len(set(told)) or len(set(told)) == len({a.name for a in check(found).anomalies})
    assert set(told) >= {"lost-write", "inconsistent-offsets"}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.text, self.ids, self.tags, self.links = "", [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append(tag)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []

    def handle_data(self, data):
        self.text += data


FIGURES = ("latency", "latency-quantiles", "rate", "availability", "behind", "recovery")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write_history_page(LOST, check(LOST), tmp_path_factory.mktemp("page") / "mine-report.html", "mine.jsonl")


def test_the_page_tells_what_was_found_and_shows_it(written):
    page = Page(written.page)

    assert (
        "The promise “durable” was broken, judged by what the clients saw alone: 1 inconsistent-offsets (violation) and "
        "1 lost-write (violation)."
    ) in page.text
    assert "p1 is told that record 2 is written at offset 1 (acknowledged)." in page.text
    assert "What happened on the replicas is not in this history." in page.text
    assert page.tags.count("figure") == len(FIGURES)
    assert [link for link in page.links if link[0] != "#"] == ["mine-report-timeline.html"]
    assert {link[1:] for link in page.links if link[0] == "#"} <= set(page.ids)
    assert "tidemark check mine.jsonl" in page.text
    assert "meteor" in page.text
    assert "high watermark" not in page.text.lower()


def test_figures_and_timeline_lie_beside_the_page(written):
    names = {path.name for path in written.page.parent.iterdir()}

    assert names == {
        "mine-report.html",
        "mine-report-timeline.html",
        *(f"mine-report-{figure}.svg" for figure in FIGURES),
    }
    assert "1.000 s" not in Page(written.timeline).text
    assert "All 4 operations." in Page(written.timeline).text


@pytest.mark.systems
def test_for_a_paper_each_figure_is_a_png_and_a_pdf_too_and_these_go_with_the_page_that_had_them(written, tmp_path):
    page = tmp_path / "mine-report.html"
    write_history_page(LOST, check(LOST), page, "mine.jsonl", for_paper=True)

    assert page.read_bytes() == written.page.read_bytes()
    for figure in FIGURES:
        assert (tmp_path / f"mine-report-{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"mine-report-{figure}.pdf").read_bytes().startswith(b"%PDF")
        assert (tmp_path / f"mine-report-{figure}.svg").read_bytes() == (
            written.page.parent / f"mine-report-{figure}.svg"
        ).read_bytes()

    (tmp_path / "mine-report-behind.png").write_bytes(b"somebody's")
    write_history_page(LOST, check(LOST), page, "mine.jsonl")
    assert [path.name for path in tmp_path.glob("*.p*")] == ["mine-report-behind.png"]


def test_nothing_is_fetched_or_run(written):
    for path in (written.page, written.timeline):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
        assert all(script == ZOOM for script in re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL))
        assert "script-src 'sha256-" in text  # and no other could run
        ids = Page(path).ids
        assert len(ids) == len(set(ids))


def test_the_same_history_is_the_same_page_to_the_byte(written, tmp_path):
    again = write_history_page(LOST, check(LOST), tmp_path / "mine-report.html", "mine.jsonl")

    for path in written.page.parent.iterdir():
        assert (again.page.parent / path.name).read_bytes() == path.read_bytes()


def test_the_numbers_are_told_as_json_too(written):
    told = written.plots.to_json()

    assert told["operations"][0] == {
        "f": "send",
        "ok": 3,
        "info": 0,
        "fail": 0,
        "never_ended": 0,
        "latency_us": {"0.5": 1000, "0.95": 1000, "0.99": 1000, "1.0": 1000},
    }
    assert [(one["faults"], one["first_success_us"]) for one in told["recovery"]] == [
        (["meteor"], {"send": 1500, "poll": 3500})
    ]


def test_a_history_with_an_order_only_has_no_figures_and_says_why(tmp_path):
    ops = [op._replace(time=place) for place, op in enumerate(LOST.ops)]
    page = Page(write_history_page(History(ops=ops), check(History(ops=ops)), tmp_path / "r.html", "mine").page)

    assert "The history has no times, only an order" in page.text
    assert "svg" not in page.tags
    assert [link for link in page.links if link[0] != "#"] == ["r-timeline.html"]
    assert {link[1:] for link in page.links if link[0] == "#"} <= set(page.ids)


def test_where_all_records_fared_alike_there_are_no_others(tmp_path):
    ops = [*send(0, "p1", 1, 0), *poll(2, "c1", (0, 1), final=True)]
    found = History(
        {"read_back": True}, [op._replace(time=place) for place, op in enumerate(ops)]
    )  # an order: no figures
    page = Page(write_history_page(found, check(found), tmp_path / "r.html", "mine").page)

    assert "thereas promisedall\n" in page.text


def test_a_history_without_operations_says_so(tmp_path):
    written = write_history_page(History(), check(History()), tmp_path / "r.html", "mine.jsonl")

    assert "Nothing can be drawn: the history has no operations of clients." in Page(written.page).text
    assert written.timeline is None


def test_what_is_no_log_has_a_page_as_well(tmp_path):
    ops = [
        Op(1000, "a", "invoke", "write", 1),
        Op(2000, "a", "ok", "write", 1),
        Op(5000, "b", "invoke", "read", None),
        Op(6000, "b", "ok", "read", 7),
    ]
    found = History(ops=ops)
    page = Page(
        write_history_page(found, judge(found, "register"), tmp_path / "r.html", "h", options=" --model register").page
    )

    assert "As a history of register it is invalid." in page.text
    assert "read by b returned 7" in page.text
    assert "tidemark check h --model register" in page.text
    assert "acked" not in page.text


def test_hostile_names_are_shown_and_not_run(tmp_path):
    evil = "<script>alert(1)</script>"
    ops = [Op(1000, evil, "invoke", evil, None), Op(5000, evil, "fail", evil, None, evil)]
    found = History(ops=ops, nemesis=[(2000, "strike", 0, evil, {}), (3000, "heal", 0, evil, {})])

    write_history_page(found, check(found), tmp_path / "r.html", f"{evil}.jsonl")
    for path in tmp_path.glob("*.html"):
        assert evil not in path.read_text(encoding="utf-8")
        assert Page(path).tags.count("script") <= 1


def test_somebody_s_own_files_are_not_written_over(written, tmp_path):
    refuse_to_overwrite(written.page)
    (tmp_path / "r.html").write_text("<title>my notes about Tidemark</title>")
    with pytest.raises(SomebodysFileError, match=r"r\.html is there, and Tidemark did not write it"):
        refuse_to_overwrite(tmp_path / "r.html")
    (tmp_path / "s-rate.png").write_bytes(b"\x89PNG mine")
    with pytest.raises(SomebodysFileError, match=r"s-rate\.png is there"):
        refuse_to_overwrite(tmp_path / "s.html")


def test_the_page_of_a_run_has_the_same_plots_and_a_timeline(tmp_path):
    plan = {"index": 3, "faults": [], "faults_end_us": 4500}
    page = Page(render_run(plan, LOST, check(LOST), tmp_path))

    assert page.tags.count("figure") == len(FIGURES) + 1
    assert "report-timeline.html" in page.links
    assert 'href="report.html"' in (tmp_path / "report-timeline.html").read_text(encoding="utf-8")
    assert (tmp_path / "report-availability.svg").is_file()

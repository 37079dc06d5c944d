"""`tidemark report`: a page for any history that `tidemark check` reads, beside it, and never over somebody's own file."""

import gzip
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from tidemark.cli import main

LINES = [
    '{"kind":"op","time":1000,"process":"p1","type":"invoke","f":"send","value":[["send","t-0",1]]}',
    '{"kind":"op","time":2000,"process":"p1","type":"ok","f":"send","value":[["send","t-0",[0,1]]]}',
    '{"kind":"op","time":3000,"process":"p1","type":"invoke","f":"send","value":[["send","t-0",2]]}',
    '{"kind":"op","time":4000,"process":"p1","type":"ok","f":"send","value":[["send","t-0",[1,2]]]}',
    '{"kind":"op","time":5000,"process":"c1","type":"invoke","f":"poll","value":[["poll",{}]],"final":true}',
    '{"kind":"op","time":6000,"process":"c1","type":"ok","f":"poll","value":[["poll",{"t-0":[[0,1]]}]],"final":true}',
]
JSONL = "\n".join(LINES) + "\n"
EDN = """{:type :invoke, :process 0, :f :send, :value [[:send 0 1]], :time 1000000}
{:type :ok, :process 0, :f :send, :value [[:send 0 [0 1]]], :time 2000000}
{:type :info, :process :nemesis, :f :kill, :value :one, :time 2100000}
{:type :info, :process :nemesis, :f :kill, :value :one, :time 2200000}
{:type :info, :process :nemesis, :f :start, :value :all, :time 2300000}
{:type :info, :process :nemesis, :f :start, :value :all, :time 2400000}
{:type :invoke, :process 1, :f :poll, :value [[:poll]], :time 3000000}
{:type :ok, :process 1, :f :poll, :value [[:poll {0 [[0 1]]}]], :time 4000000}
"""


@pytest.fixture
def tidemark(tmp_path, monkeypatch):
    """Run the program in a folder of its own; gives exit code, output and complaint."""
    monkeypatch.chdir(tmp_path)

    def run(*words, stdin=b""):
        out, error = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["tidemark", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
            main()
        return end.value.code, out.getvalue(), error.getvalue()

    return run


def refused(result):
    code, out, error = result
    assert (code, out) == (254, "")
    assert error.startswith("tidemark: ")
    assert error.count("\n") == 1
    return error


def test_the_page_lies_beside_the_file_and_says_what_was_lost(tidemark, tmp_path):
    (tmp_path / "mine.jsonl").write_text(JSONL)

    assert tidemark("report", "mine.jsonl") == (0, "mine-report.html\n", "")
    page = (tmp_path / "mine-report.html").read_text(encoding="utf-8")
    assert "p1 is told that record 2 is written at offset 1 (acknowledged)." in page
    assert 'href="mine-report-timeline.html"' in page
    assert (tmp_path / "mine-report-timeline.html").is_file()
    assert (tmp_path / "mine.jsonl").read_text() == JSONL


@pytest.mark.parametrize(
    ("name", "content", "page"),
    [
        ("h.jsonl.gz", gzip.compress(JSONL.encode()), "h-report.html"),
        ("history.edn", EDN.encode(), "history-report.html"),
        ("no-suffix", JSONL.encode(), "no-suffix-report.html"),
    ],
)
def test_every_file_that_check_reads_has_a_page(tidemark, tmp_path, name, content, page):
    (tmp_path / name).write_bytes(content)

    assert tidemark("report", name) == (0, f"{page}\n", "")
    assert (tmp_path / page).is_file()


def test_parquet_has_a_page(tidemark, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [json.loads(line) for line in LINES]
    columns = {name: [row[name] for row in rows] for name in ("time", "process", "type", "f")}
    pq.write_table(pa.table(columns | {"value": [json.dumps(row["value"]) for row in rows]}), tmp_path / "h.parquet")

    assert tidemark("report", "h.parquet") == (0, "h-report.html\n", "")


def test_standard_input_has_a_page_where_one_stands(tidemark, tmp_path):
    assert tidemark("report", "-", stdin=JSONL.encode()) == (0, "history-report.html\n", "")
    assert tidemark("report", "-", "--out", tmp_path / "x", stdin=EDN.encode())[0] == 0
    assert (tmp_path / "x" / "report.html").is_file()


def test_faults_of_jepsen_s_nemesis_are_shaded(tidemark, tmp_path):
    (tmp_path / "history.edn").write_text(EDN)
    code, out, _ = tidemark("report", "history.edn", "--json")
    told = json.loads(out)

    assert code == 0
    assert [(one["faults"], one["start_us"], one["end_us"]) for one in told["over_time"]["recovery"]] == [
        (["kill"], 2100, 2400)
    ]
    assert told["verdict"]["valid"] == "valid"
    assert (told["page"], told["timeline"]) == ("history-report.html", "history-report-timeline.html")


def test_a_folder_without_a_plan_is_a_history(tidemark, tmp_path):
    (tmp_path / "history.jsonl").write_text(JSONL)

    assert tidemark("report", tmp_path) == (0, f"{tmp_path / 'report.html'}\n", "")
    assert "of 3 operations" not in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "All 3 operations." in (tmp_path / "report-timeline.html").read_text(encoding="utf-8")


def test_another_window_of_the_timeline(tidemark, tmp_path):
    (tmp_path / "h.jsonl").write_text(JSONL)

    assert tidemark("report", "h.jsonl", "--from", "0.0025", "--to", "0.0045")[0] == 0
    assert "1 of 3 operations" in (tmp_path / "h-report-timeline.html").read_text(encoding="utf-8")
    assert "no operation lies between 7 s and 8 s" in refused(tidemark("report", "h.jsonl", "--from", "7", "--to", "8"))


@pytest.mark.systems
def test_a_second_report_replaces_the_first_and_nobody_s_own(tidemark, tmp_path):
    (tmp_path / "h.jsonl").write_text(JSONL)
    tidemark("report", "h.jsonl")

    assert tidemark("report", "h.jsonl")[0] == 0
    (tmp_path / "h-report.html").write_text("mine")
    assert "h-report.html is there, and Tidemark did not write it; choose another place with --out" in refused(
        tidemark("report", "h.jsonl")
    )
    assert (tmp_path / "h-report.html").read_text() == "mine"
    assert tidemark("report", "h.jsonl", "--force")[0] == 0
    assert (tmp_path / "h-report.html").read_text(encoding="utf-8") != "mine"


def test_another_promise_and_another_object(tidemark, tmp_path):
    (tmp_path / "h.jsonl").write_text(JSONL)
    tidemark("report", "h.jsonl", "--contract", "kip-966")
    assert "tidemark check h.jsonl --contract kip-966" in (tmp_path / "h-report.html").read_text(encoding="utf-8")

    assert "the model register has read and write" in refused(tidemark("report", "h.jsonl", "--model", "register"))
    sends = LINES[:2]
    register = [line.replace("send", "write", 1).partition('"value"')[0] + '"value":1}' for line in sends]
    (tmp_path / "r.jsonl").write_text("\n".join(register) + "\n")
    assert tidemark("report", "r.jsonl", "--model", "register") == (0, "r-report.html\n", "")
    assert "As a history of register it is valid." in (tmp_path / "r-report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report", "nowhere.jsonl"], "nowhere.jsonl: there is no such file or folder"),
        (["report", "bad.jsonl"], "bad.jsonl: line 2: "),
        (["report", "empty"], "empty holds neither a campaign (manifest.json) nor a run (history.jsonl)"),
        (["report", "h.jsonl", "--from", "3", "--to", "2"], "--from 3 is later than --to 2"),
        (["report", "h.jsonl", "--baseline", "kafka-2.1"], "--baseline is for campaigns"),
        (["report", "h.jsonl", "--model", "register", "--contract", "durable"], "a model makes no promise"),
        (["report", "h.jsonl", "--out", "h.jsonl/below"], "cannot write h.jsonl/below"),
        (["report", "campaign", "--out", "x.html"], "a campaign's page is report.html in its folder"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(tidemark, tmp_path, words, said):
    (tmp_path / "h.jsonl").write_text(JSONL)
    (tmp_path / "bad.jsonl").write_text(LINES[0] + "\nnothing\n" + LINES[1] + "\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "campaign").mkdir()
    (tmp_path / "campaign" / "manifest.json").write_text("{}")

    assert said in refused(tidemark(*words))
    assert not list(tmp_path.glob("*.html"))


def test_help_has_examples(tidemark):
    code, out, _ = tidemark("report", "--help")

    assert code == 0
    assert "tidemark report store/latest/history.edn --out pages/monday.html" in out


def test_what_a_checker_of_ones_own_found_is_on_the_page_and_in_its_command(tidemark, tmp_path):
    (tmp_path / "mine.jsonl").write_text(JSONL)
    (tmp_path / "odd.py").write_text(
        "from tidemark.checkers import Anomaly\n"
        "def check(history):\n"
        "    yield Anomaly('odd-offset', 'violation', 4000, 't-0', 'Record 2 of t-0 is at offset 1.')\n"
    )

    assert tidemark("report", "mine.jsonl", "--checker", "odd.py")[0] == 0

    page = (tmp_path / "mine-report.html").read_text()
    assert "Record 2 of t-0 is at offset 1." in page
    assert "tidemark check mine.jsonl --checker odd.py" in page


def test_a_model_judges_instead_of_checkers(tidemark, tmp_path):
    (tmp_path / "mine.jsonl").write_text(JSONL)

    assert "--model or --checker" in refused(tidemark("report", "mine.jsonl", "--model", "set", "--checker", "odd.py"))


@pytest.mark.systems
def test_a_folder_with_other_things_is_not_filled_unless_somebody_insists(tidemark, tmp_path):
    (tmp_path / "h.jsonl").write_text(JSONL)
    (tmp_path / "there").mkdir()
    assert tidemark("report", "h.jsonl", "--out", "there")[0] == 0  # it is empty
    assert tidemark("report", "h.jsonl", "--out", "there")[0] == 0  # and now ours
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "letter.txt").touch()

    assert "name a new folder" in refused(tidemark("report", "h.jsonl", "--out", "theirs"))
    assert "name a new folder" in refused(tidemark("report", "h.jsonl", "--out", "."))
    assert [path.name for path in (tmp_path / "theirs").iterdir()] == ["letter.txt"]
    assert tidemark("report", "h.jsonl", "--out", "theirs/page.html")[0] == 0
    assert tidemark("report", "h.jsonl", "--out", "theirs", "--force")[0] == 0

"""Control characters of a history reach neither the terminal nor a page nor a picture."""

import io
import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from xml.dom import minidom

import pytest

from tidemark.cli import main
from tidemark.harness.runs.folder import load_file

KEY, PROCESS, VALUE = "k\x1b]0;evil\x07", "p\x1b[31m1", "a\x1b[2Jb\x00\u202e"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    found = {KEY: [[1, VALUE]]}
    ops = [
        (1000, PROCESS, "invoke", "send", [["send", KEY, 1]]),
        (9000, PROCESS, "ok", "send", [["send", KEY, [0, 1]]]),
        (20_000, "c1", "invoke", "poll", [["poll", {}]]),
        (23_000, "c1", "ok", "poll", [["poll", found]]),
    ]
    names = ("time", "process", "type", "f", "value")
    path = tmp_path_factory.mktemp("control") / "h.jsonl"
    lines = [json.dumps({"kind": "op", **dict(zip(names, op, strict=True))}) for op in ops]
    lines.append(
        json.dumps({"kind": "nemesis", "time": 5000, "what": "strike", "index": 0, "fault": "x\x1b[5m", "detail": {}})
    )
    path.write_text("\n".join(lines) + "\n")
    return path


def tidemark(monkeypatch, *words):
    out, error = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "argv", ["tidemark", *map(str, words)])
    with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit):
        main()
    return out.getvalue(), error.getvalue()


def test_the_terminal_shows_them_and_obeys_none(history, monkeypatch, tmp_path):
    out, error = tidemark(monkeypatch, "check", history, "--annotations", "--junit", tmp_path / "j.xml")

    assert "k^[]0;evil^G" in out
    assert "p^[[31m1" in out
    assert not OBEYED.search(out + error)
    minidom.parse(str(tmp_path / "j.xml"))


def test_pages_and_pictures_have_none(history, monkeypatch, tmp_path):
    tidemark(monkeypatch, "report", history, "--out", tmp_path / "p.html")

    written = [*tmp_path.glob("*.html"), *tmp_path.glob("*.svg")]
    assert len(written) >= 5
    for path in written:
        assert not OBEYED.search(path.read_text(encoding="utf-8")), path
    for path in tmp_path.glob("*.svg"):
        minidom.parse(str(path))


def test_an_exported_history_names_them_by_number_and_is_read_back_the_same(history, monkeypatch, tmp_path):
    out, _ = tidemark(monkeypatch, "export", history)

    assert not OBEYED.search(out)
    assert "\\u001b]0;evil\\u0007" in out
    (tmp_path / "again.edn").write_text(out)
    read = load_file(tmp_path / "again.edn").columns
    assert (read.keys, VALUE in read.values) == ([KEY], True)


def test_a_complaint_has_none(monkeypatch, tmp_path):
    (tmp_path / "bad.jsonl").write_text(json.dumps({"kind": "op\x1b[31m"}) + "\n")

    out, error = tidemark(monkeypatch, "check", tmp_path / "bad.jsonl")

    assert error.startswith("tidemark: ")
    assert not OBEYED.search(out + error)

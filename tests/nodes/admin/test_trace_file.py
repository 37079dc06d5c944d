import json
import os
from base64 import b64decode

import pytest

from tidemark.nodes.admin.trace_file import Trace
from tidemark.nodes.formats.record_batch import build


@pytest.fixture
def trace(tmp_path):
    trace = Trace(tmp_path / "folder" / "trace.jsonl")
    yield trace
    trace.close()


def lines(tmp_path):
    return [json.loads(line) for line in (tmp_path / "folder" / "trace.jsonl").read_text().splitlines()]


def test_entries_are_lines(trace, tmp_path):
    raw = build([1, 2], 5, 3)
    trace.write([(1, 2, "hw", "t-0", 5, 3, True), (2, 2, "append", "t-0", 5, 3, raw)])
    trace.write([(3, 2, "stop", "", "clean")])
    first, second, third = lines(tmp_path)
    assert first == [1, 2, "hw", "t-0", 5, 3, True]
    assert second[:6] == [2, 2, "append", "t-0", 5, 3]
    assert b64decode(second[6]) == raw
    assert third == [3, 2, "stop", "", "clean"]


def test_a_step_is_one_write_and_a_short_write_goes_on(trace, tmp_path, monkeypatch):
    sizes = []
    real = os.write

    def write_some(file, data):
        sizes.append(len(data))
        return real(file, data[:7])

    monkeypatch.setattr(os, "write", write_some)
    trace.write([(1, 2, "start", "", 1), (1, 2, "start", "", 2)])
    assert sizes[0] == 2 * len('[1,2,"start","",1]\n')
    assert [entry[4] for entry in lines(tmp_path)] == [1, 2]


def test_the_next_process_adds_to_the_file(trace, tmp_path):
    trace.write([(1, 2, "start", "", 1)])
    after = Trace(tmp_path / "folder" / "trace.jsonl")
    after.write([(2, 2, "start", "", 2)])
    after.close()
    assert [entry[4] for entry in lines(tmp_path)] == [1, 2]


def test_watchers_see_what_is_in_the_file(trace, tmp_path):
    seen = []
    trace.watchers.append(lambda entries: seen.append((entries, len(lines(tmp_path)))))
    entries = [(1, 2, "start", "", 1)]
    trace.write(entries)
    assert seen == [(entries, 1)]

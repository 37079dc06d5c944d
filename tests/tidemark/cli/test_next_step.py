"""``tidemark check`` says what to do next about a history that says less than its owner wants to know."""

import json

import pytest
from click.testing import CliRunner

from tidemark.cli import tidemark

SENT = [
    {"time": 1, "process": "p", "type": "invoke", "f": "send", "value": [["send", "t-0", 1]]},
    {"time": 2, "process": "p", "type": "ok", "f": "send", "value": [["send", "t-0", [0, 1]]]},
]


def poll(**more):
    return [
        {"time": 3, "process": "c", "type": "invoke", "f": "poll", "value": [["poll", {}]], **more},
        {"time": 4, "process": "c", "type": "ok", "f": "poll", "value": [["poll", {"t-0": [[0, 1]]}]], **more},
    ]


NO_FINAL_READ = "  next: when all is done read every partition to its end, and say of these polls that they are final "


def check(path):
    told = CliRunner().invoke(tidemark, ["check", str(path)], standalone_mode=False)
    return [line for line in told.output.splitlines() if line.startswith("  next: ")]


@pytest.mark.parametrize(
    ("operations", "step"),
    [
        (SENT, [f"{NO_FINAL_READ}(docs/checking-your-own-history.md#what-to-record)"]),
        (SENT + poll(), [f"{NO_FINAL_READ}(docs/checking-your-own-history.md#what-to-record)"]),
        (SENT + poll(final=True), []),
    ],
)
def test_a_final_read_is_asked_for_where_it_would_tell_more(tmp_path, operations, step):
    path = tmp_path / "history.jsonl"
    path.write_text("".join(json.dumps({"kind": "op", **one}) + "\n" for one in operations))

    assert check(path) == step


@pytest.mark.parametrize(("name", "text"), [("history.edn", "[]"), ("history.jsonl", '{"kind":"meta"}')])
def test_of_nothing_something_is_to_be_recorded(tmp_path, name, text):
    (tmp_path / name).write_text(text)

    assert check(tmp_path / name) == [
        "  next: record something: there is not one operation here (docs/checking-your-own-history.md#the-smallest-history)"
    ]

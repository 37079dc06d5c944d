"""Every block of code in the pages is run, or read by what is to read it; where another test does that, it is named here."""

import json
import runpy
import tomllib
from collections import Counter
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import create_autospec

import pytest
from documented_commands import read_page

import tidemark.harness.clients.kafka_workload
from tidemark.checkers import History, Op, check
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.scenario.parser import parse_scenario
from tidemark.nemesis import Plan

ROOT = Path(__file__).parents[2]
PAGES = [
    read_page(path) for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
]
CODE = [code for page in PAGES for code in page.code]

ELSEWHERE = {
    "tests/docs/test_api_page.py": ("docs/api.md", 8),
    "tests/docs/test_querying_page.py": ("docs/querying.md", 8),
    "tests/nodes/core/test_worked_example.py": ("docs/writing-a-variant.md", 2),
    "tests/nemesis/test_worked_kind.py": ("docs/writing-a-variant.md", 2),
    "tests/tidemark/test_pytest_plugin.py": ("docs/for-builders.md", 1),
    "tests/examples/test_builders_file.py": ("docs/for-builders.md", 1),
    "tests/checkers/replicas/test_worked_checker.py": ("docs/writing-a-variant.md", 2),
}
"""Test → a page of its own, and how many of its blocks of Python it tries: they must be typed in somewhere, or want a campaign."""
PAGES_ELSEWHERE = {page for page, _ in ELSEWHERE.values()}
ROOMS = ("checkers", "harness", "nodes", "tidemark")
NOT_READ = {
    "": "output, or commands",
    "sh": "commands",
    "sql": "docs/querying.md",
    "mermaid": "written by the code",
    "java": "tests/examples/test_recorders.py",
    "go": "tests/examples/test_recorders.py",
    "yaml": "tests/installation/test_action.py",
    "{toctree}": "tests/docs/test_site.py",
}
"""What is no block for Python and its readers: who holds it instead."""


def of(*languages):
    return [code for code in CODE if code.language in languages]


def place(code):
    return f"{code.page.relative_to(ROOT)}:{code.line}"


def given(text):
    """What a block leaves to its readers: names → what stands for it."""
    if text.startswith("def send("):
        return {"Op": Op, "NotEnoughReplicas": type("NotEnoughReplicas", (Exception,), {})}
    if text.startswith("KnownDifference("):
        return {"KnownDifference": KnownDifference}
    if text.startswith("class FixedPrimary"):
        return runpy.run_path(str(ROOT / "examples" / "fixed_primary.py"))
    names = "cluster", "spec", "now_us", "deadline_us"
    return dict.fromkeys(names) | {"ops": [], "folder": Path()} if "work = KafkaWorkload(" in text else {}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a block: the names it leaves, and what it prints. No client goes to a broker."""
    monkeypatch.chdir(tmp_path)
    workload = create_autospec(tidemark.harness.clients.kafka_workload.KafkaWorkload)
    monkeypatch.setattr(tidemark.harness.clients.kafka_workload, "KafkaWorkload", workload)

    def run(text):
        names, told = {"__name__": "a_page", **given(text)}, StringIO()
        with redirect_stdout(told):
            exec(compile(text, "page", "exec"), names)
        return names, told.getvalue()

    return run


def beginning(text):
    """The block of the pages that begins so."""
    (code,) = [code for code in CODE if code.text.startswith(text)]
    return code.text


@pytest.mark.parametrize(
    "code", [code for code in of("python") if str(code.page.relative_to(ROOT)) not in PAGES_ELSEWHERE], ids=place
)
def test_it_runs(code, run):
    run(code.text)


def test_what_is_run_elsewhere_is_run_there():
    counted = Counter(str(code.page.relative_to(ROOT)) for code in of("python"))
    for test, (page, _) in ELSEWHERE.items():
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")
    for page in PAGES_ELSEWHERE:
        assert counted[page] == sum(blocks for other, blocks in ELSEWHERE.values() if other == page), page


def test_the_history_that_is_written_by_hand_is_valid(run):
    assert run(beginning("from tidemark.checkers import History, Op, check, write_history"))[1] == "valid\n"


@pytest.mark.parametrize(("error", "ends"), [(None, "ok"), ("NotEnoughReplicas", "fail"), ("OSError", "info")])
def test_a_recorder_tells_the_three_ends_of_a_send_apart(run, error, ends):
    names, _ = run(beginning("def send("))

    class Producer:
        def send_and_wait(self, topic, record, partition):
            if error:
                raise names.get(error, OSError)
            return 0

    ops = []
    names["send"](Producer(), 7, iter((10, 20)).__next__, ops)

    assert [op.type for op in ops] == ["invoke", ends]
    assert check(History(meta={}, ops=ops)).valid in {"valid", "unknown"}


@pytest.mark.parametrize("code", of("json"), ids=place)
def test_json_is_what_its_page_takes_it_for(code):
    try:
        plan = json.loads(code.text)
    except json.JSONDecodeError:
        lines = [json.loads(line) for line in code.text.splitlines()]
        assert {line["kind"] for line in lines} <= {"meta", "op", "nemesis", "trace"}
        return
    if isinstance(plan, Mapping) and "faults" in plan and "bridge" not in code.text:
        Plan.from_json(plan)


@pytest.mark.parametrize("code", of("toml"), ids=place)
def test_an_entry_point_is_for_a_group_that_is_read(code):
    (group,) = tomllib.loads(code.text)["project"]["entry-points"]
    source = [path.read_text(encoding="utf-8") for room in ROOMS for path in (ROOT / room).rglob("*.py")]

    assert any(f'"{group}"' in text for text in source)


def test_the_steps_of_a_script_are_read():
    steps = [code.text for code in of("") if code.text.startswith("1. ") and "\n   > " in code.text]

    assert len(steps) == 1
    head = "name: shrunk\ntitle: A shrunk plan\nsource: docs/searching.md\nbrokers: A, B, C\n"
    head += "cluster: acks all, min ISR 2\n\nabout:\n  It was shrunk.\n\n"
    parse_scenario(head + steps[0])


def test_nobody_is_overlooked():
    assert {code.language for code in CODE} == {"python", "json", "toml", *NOT_READ}

"""The fixture that records and judges, in sessions of pytest of its own."""

import json
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from documented_commands import read_page

# Sessions in this process forget what they load, and NumPy, say, cannot be loaded twice.
import tidemark.checkers.clients.check_clients
import tidemark.checkers.objects.workloads
import tidemark.cli.for_ci
import tidemark.harness.runs.folder  # noqa: F401

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
EXAMPLE = read_page(ROOT / "docs" / "for-builders.md").files["test_register.py"]
LOG = """
    def sent(history, record):
        with history.operation("p", "send", [["send", "t-0", record]]) as send:
            send.ok([["send", "t-0", [record, record]]])

    def polled(history, records):
        with history.operation("c", "poll", [["poll", {}]], final=True) as poll:
            poll.ok([["poll", {"t-0": [[record, record] for record in records]} if records else {}]])
"""


@pytest.fixture
def tried(pytester, monkeypatch):
    """Has pytest run a file, with this plugin and no other that is installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def try_it(text, *words):
        pytester.makepyfile(text)
        return pytester.runpytest_inprocess("-p", "tidemark.pytest_plugin", "--strict-markers", *words)

    return try_it


def test_the_pages_example_fails_as_the_page_says(tried):
    told = tried(EXAMPLE)

    told.assert_outcomes(failed=1)
    told.stdout.fnmatch_lines(
        [
            "tidemark: register: read by reader returned 0, and the register could only be 1 (operations 2 to 3)",
            "*/history.jsonl",
        ]
    )


def test_the_pages_example_passes_once_it_is_mended(tried):
    tried(EXAMPLE.replace("return self.stale", "return self.value")).assert_outcomes(passed=1)


def test_a_log_that_lost_a_record_fails_and_keeps_its_history(tried, pytester):
    pytester.makeini("[pytest]\ntidemark_histories = kept")
    told = tried(LOG + """
    def test_lost(tidemark_history):
        sent(tidemark_history, 1)
        sent(tidemark_history, 2)
        polled(tidemark_history, [1])
        polled(tidemark_history, [])

    def test_kept(tidemark_history):
        sent(tidemark_history, 1)
        polled(tidemark_history, [1])
        polled(tidemark_history, [])
    """)  # fmt: skip

    told.assert_outcomes(failed=1, passed=1)
    told.stdout.fnmatch_lines(["tidemark: lost-write: Record 2 of t-0 at offset 2 *"])
    (file,) = pytester.path.glob("kept/*test_lost.jsonl")
    halves = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(half["type"], half["f"]) for half in halves[:2]] == [("invoke", "send"), ("ok", "send")]
    assert [half["time"] for half in halves] == sorted(half["time"] for half in halves)


def test_what_nobody_says_is_unknown_and_what_raises_too(tried):
    tried("""
    import json, pytest
    from pathlib import Path

    @pytest.mark.tidemark(model="register", initial=0, allow_unknown=True)
    def test_ends(tidemark_history):
        with pytest.raises(OSError):
            with tidemark_history.operation("a", "write", 1):
                raise TimeoutError("no answer")
        with tidemark_history.operation("a", "write", 2):
            pass
        with tidemark_history.operation("a", "write", 3) as write:
            write.fail("refused")
            with pytest.raises(RuntimeError, match="this write of a has ended"):
                write.ok()
        ends = [json.loads(line) for line in tidemark_history.path.read_text().splitlines()]
        told = [(end["type"], end["error"]) for end in ends if end["type"] != "invoke"]
        assert told == [("info", "TimeoutError"), ("info", "nobody said how it went"), ("fail", "refused")]
    """).assert_outcomes(passed=1)


def test_a_history_that_proves_nothing_fails_unless_the_marker_allows_it(tried):
    told = tried("""
    import pytest

    def test_nothing(tidemark_history):
        pass

    @pytest.mark.tidemark(allow_unknown=True)
    def test_allowed(tidemark_history):
        pass
    """)

    told.assert_outcomes(failed=1, passed=1)
    told.stdout.fnmatch_lines(["tidemark: unknown: the test recorded nothing with tidemark_history"])


@pytest.mark.parametrize(
    ("marker", "complaint"),
    [
        ('model="ledger"', "tidemark: model 'ledger' is none of log, *register*"),
        ('model="register", contract="durable"', "*or is told what is not for it (contract)"),
        ("initial=0", "*or is told what is not for it (initial)"),
        ('model="register", colour="red"', "tidemark cannot judge the history: *colour*"),
    ],
)
def test_a_wrong_marker_is_one_sentence(marker, complaint, tried):
    told = tried(f"""
    import pytest

    @pytest.mark.tidemark({marker})
    def test_it(tidemark_history):
        with tidemark_history.operation("a", "read") as read:
            read.ok(1)
    """)

    told.assert_outcomes(failed=1)
    told.stdout.fnmatch_lines([complaint])


def test_a_test_that_fails_by_itself_is_told_of_as_it_is(tried):
    told = tried("def test_it(tidemark_history):\n    assert 1 == 2")

    told.assert_outcomes(failed=1)
    told.stdout.no_fnmatch_line("*tidemark:*")


def test_pytest_finds_it_by_its_entry_point_and_loads_nothing_heavy():
    with (ROOT / "pyproject.toml").open("rb") as file:
        (place,) = tomllib.load(file)["project"]["entry-points"]["pytest11"].values()
    heavy = "{'numpy', 'click', 'rich', 'msgspec'}"
    script = f"import sys, {place}; print(*({heavy} & {{name.split('.')[0] for name in sys.modules}}))"

    assert hasattr(import_module(place), "tidemark_history")
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == ""

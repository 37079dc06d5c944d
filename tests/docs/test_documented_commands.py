"""Every command of the pages is typed as a reader would type it, and ends as its page says.

What is cheap is run, with smaller numbers where a page says thousands. What needs containers goes as far as an engine that is
not there, and what needs Spark as far as a Java that is not there: all that is refused beforehand (options, names, variants,
systems) has then been passed. What is about a reader's own files, or never ends, is parsed. Which is which is a matter of rules.
"""

import importlib.util
import io
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path

import click
import pytest
from documented_commands import PLACEHOLDER, read_page

from tidemark.cli import main, tidemark
from tidemark.pipeline.engines.java import JavaNotFoundError

ROOT = Path(__file__).parents[2]
PAGES = [
    read_page(path) for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
]
COMMANDS = [command for page in PAGES for command in page.commands]
OURS = [command for command in COMMANDS if command.words[:1] == ["tidemark"]]

SMALLER = {
    "hunt": ["--tries", "4", "--round", "4", "--jobs", "1", "--fresh"],
    "explore": ["--max-states", "1000"],
    "compare": ["--plans", "2"],
    "run --corpus": ["--jobs", "1"],
}
"""What is put behind a command's own options; the last counts."""
DROPPED = {"hunt": ("--seconds", "--until-found"), "explore": ("--jobs",)}
ENDLESS = {"serve", "--follow"}
PLAYED_WHOLE_ELSEWHERE = {"--all", "--truth-table"}
"""In the simulator, by tests/harness/scenario/test_library.py and tests/harness/search/explore."""
NEEDS_ENGINE = {"docker", "--system", "--confirm", "soak", "systems", "conform", "cluster", "images"}
FOREIGN = {
    "docker": "needs an engine",
    "kill": "in a node",
    "iptables": "in a node",
    "tcpdump": "in a node",
    "tshark": "in a node",
    "python3": "makes an environment for Spark's workers, from the package index",
    "environment/bin/venv-pack": "is of that environment",
    "mkdir": "is of that environment",
    "javac": "compiles what the reader has copied, as tests/examples/test_recorders.py does",
    "go": "runs what the reader has copied, as tests/examples/test_recorders.py does",
    "pytest": "runs a test of the reader, as tests/tidemark/test_pytest_plugin.py does",
    "home=$(python3": "begins a Spark cluster, which tests/pipeline/test_cluster.py does",
    "$home/bin/spark-class": "begins a Spark cluster, which tests/pipeline/test_cluster.py does",
}
"""Programs that are not ours, and that no test of the pages starts: why not."""
NEEDS_JAVA = {"compare", "sql", "--master"}
WRITTEN = {"--out", "--script", "--html", "--page", "--junit", "--corpus"}
READER_ADDS_IT = {"bridge.json": "of a kind of fault that the reader adds first"}
CODES = {
    "run": {0, 1, 2},
    "hunt": {0, 1},
    "shrink": {0, 1},
    "explore": {0, 1, 2},
    "check": {0, 1, 2},
    "conform": {0, 1, 2},
    "doctor": {0, 1},
}
"""How a command may end of which its page says nothing; else 0."""
SAYS = (
    (re.compile(r"^tidemark: "), 254),
    (re.compile(r"^(invalid|Verdict: invalid|.* is broken after|✗ violation)"), 1),
    (re.compile(r"^unknown "), 2),
    (re.compile(r"^(valid|holds within)"), 0),
)
VARIES = re.compile(r"[0-9a-f]{32}|\d[\d,.]* (s|a second)\b")


def named(command):
    return f"{command.page.relative_to(ROOT)}:{command.line} {command.text}"


def command_and_context(words):
    """The click command that words name, and what is left of them."""
    command, context, left = tidemark, click.Context(tidemark, info_name="tidemark"), words[1:]
    while isinstance(command, click.Group) and left and not left[0].startswith("-"):
        name, *left = left
        found = command.get_command(context, name)
        assert found is not None, f"there is no command {name}"
        command, context = found, click.Context(found, parent=context, info_name=name)
    return command, left


def parse(words):
    """As the command line does before it does anything."""
    command, left = command_and_context(words)
    command.make_context(command.name, left)


def is_cut_short(words):
    """Whether it lacks what it cannot do without, as `tidemark run --plan` does."""
    try:
        parse(words)
    except click.MissingParameter:
        return True
    except click.BadOptionUsage as error:
        return "requires an argument" in error.message
    return False


@pytest.fixture
def any_path_exists(monkeypatch):
    """A reader's files are not here."""
    for command in tidemark.commands.values():
        for parameter in command.params:
            if isinstance(parameter.type, click.Path):
                monkeypatch.setattr(parameter.type, "exists", False)


@pytest.mark.parametrize("command", [one for one in OURS if one.is_mention], ids=named)
def test_what_is_left_open_has_options_that_are_there(command):
    found, left = command_and_context(command.words)
    options = {name for parameter in found.params for name in parameter.opts} | {"--help"}

    asked = {word.strip("[]").partition("=")[0] for word in left if word.strip("[]").startswith("--")}
    assert asked <= options


@pytest.mark.usefixtures("any_path_exists")
@pytest.mark.parametrize("command", [one for one in OURS if not one.is_mention], ids=named)
def test_it_is_understood(command):
    if is_cut_short(command.words):
        assert command.place != "block"
    else:
        parse(command.words)


def what_is_lacking(words, folder):
    """A file or folder that the command reads and the page does not give."""
    for before, word in pairwise(words):
        if word.startswith(("s3://", "s3a://")):
            return word
        if before in WRITTEN:
            continue
        built = re.fullmatch(r"kafka:(?:[\d.]+\+)?(\./.+)", word)
        if built and not (folder / built[1]).exists():
            return word
        path = word.partition(":")[0] if word.startswith("./") else word
        looks_like = re.fullmatch(r"[\w./-]+\.(jsonl|json|edn|gz|py|scenario|html|txt)|results/.+|store/.+", path)
        if looks_like and not (folder / path).exists():
            return word
    return "standard input" if words[-1] == "-" else None


def smaller(words):
    """The same, with less to do."""
    kind = "run --corpus" if words[1:3] == ["run", "--corpus"] else words[1]
    kept, skip = [], False
    for word in words:
        if skip or word in DROPPED.get(kind, ()):
            skip = not skip and word != "--until-found"
            continue
        kept.append(word)
    return [*kept, *SMALLER.get(kind, ())]


def is_a_name(command):
    """Whether a table only names it: `tidemark compare` has no more words, and `tidemark run --plan` wants some."""
    return command.place == "table" and (len(command.words) == 2 or is_cut_short(command.words))


def is_only_parsed(command, folder):
    """Why it is not typed as well; None if it is."""
    words = set(command.words)
    if command.is_mention or command.place == "prose" or is_a_name(command):
        return "a mention"
    if words & ENDLESS:
        return "it never ends"
    if words & PLAYED_WHOLE_ELSEWHERE and not words & {"--world", "conform", "--master"}:
        return "played whole elsewhere"
    if lacking := what_is_lacking(command.words, folder):
        return f"there is no {lacking}"
    return None


class Typed:
    """How a command ended: exit code, output and complaint."""

    def __init__(self, words, monkeypatch):
        out, error = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", words)
        with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
            main()
        self.code, self.out = end.value.code, out.getvalue()
        self.error = re.sub(r"try python -m pytest\S* ", "try tidemark ", error.getvalue())

    @property
    def stopped_at(self):
        """What it lacked, after all else was right."""
        if self.code != 254:
            return None
        if "no Java in this test" in self.error:
            return "Java"
        return "engine" if "Docker" in self.error else None


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with what a checkout has that commands name, without engine and Java."""
    for name in ("harness/scenario/scripts", "results/published/corpus", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")

    def none():
        raise JavaNotFoundError("no Java in this test")

    monkeypatch.setattr("tidemark.pipeline.engines.session.ensure_java_home", none)
    return tmp_path


def expected_codes(command):
    """What the page says."""
    for line in command.shown or ():
        for says, code in SAYS:
            if says.match(line):
                return {code}
    if "what is seen" in command.row and command.words[1] == "run":
        return {1}
    return CODES.get(command.words[1], {0})


def is_shown(lines, told):
    """Whether what a page shows was told; times differ, and "…" leaves something out."""
    told = VARIES.sub("#", " ".join(told.split()))
    parts = [part for line in lines for part in line.split("…")]
    return [part for part in parts if VARIES.sub("#", " ".join(part.split())) not in told]


def outcome(command, folder, monkeypatch):
    """What is wrong with a command, in words; None if nothing is."""
    words = smaller(command.words)
    typed = Typed(words, monkeypatch)
    if typed.stopped_at:
        needs = NEEDS_ENGINE if typed.stopped_at == "engine" else NEEDS_JAVA
        return None if needs & set(command.words) else f"stopped at {typed.stopped_at}"
    expected = expected_codes(command) | (set() if words == command.words else CODES.get(command.words[1], {0}))
    if typed.code not in expected:
        return f"ended with {typed.code}: {typed.error or typed.out}"
    if words == command.words and (missing := is_shown(command.shown or (), typed.out + typed.error)):
        return f"does not say {missing}, but {typed.out}{typed.error}"
    command.code = typed.code
    return None


LONG = (
    "for-students",
    "zoo",
    "conform",
    "for-operators",
    "real-kafka",
    "results-folder",
    "track-record",
    "comparison",
    "searching",
)
"""Pages whose commands take a quarter of a minute or more."""
TYPED_BEFORE = set()
"""What pages without files of their own had typed and shown nothing of: elsewhere it would end the same."""


def is_new(command, page):
    """Whether nobody typed it before, in this process."""
    key = None if page.files or command.shown or command.row else tuple(command.words)
    known = key in TYPED_BEFORE
    if key:
        TYPED_BEFORE.add(key)
    return not known


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.path.stem, marks=[pytest.mark.systems] if page.path.stem in LONG else ())
        for page in PAGES
        if page.commands
    ],
)
def test_it_ends_as_its_page_says(page, desk, monkeypatch):
    for name, text in page.files.items():
        (desk / name).write_text(text, encoding="utf-8")
    wrong, last = [], None
    for command in page.commands:
        if command.text == "echo $?":
            if command.shown != [str(last)]:
                wrong.append(f"{named(command)}: {last}")
        elif command.words[:1] == ["tidemark"]:
            if READER_ADDS_IT.keys() & set(command.words) or is_only_parsed(command, desk):
                continue
            if not is_new(command, page):
                continue
            if instead := outcome(command, desk, monkeypatch):
                wrong.append(f"{named(command)}: {instead}")
            last = getattr(command, "code", None)
        elif not command.words and not what_is_lacking(["", *command.text.split()], desk):
            subprocess.run(["sh", "-c", command.text], check=True, cwd=desk, timeout=60)
    assert wrong == []


def test_most_commands_of_the_simulator_are_run_and_none_is_overlooked(tmp_path):
    typed = [command for command in OURS if not is_only_parsed(command, tmp_path)]

    assert len(OURS) > 250
    assert len(typed) > 120
    for page in PAGES:
        lines = re.findall(
            r"^(?: {4}|\$ )?(?:[A-Z_]+=\S* )*(tidemark [a-z].*)$", page.path.read_text(encoding="utf-8"), re.MULTILINE
        )
        for line in lines:
            assert any(line.startswith(command.text) for command in page.commands), f"{page.path}: {line}"


def test_a_program_of_somebody_else_is_not_started_for_a_reason():
    started = {command.text.split(" ")[0] for page in PAGES for command in page.foreign}

    assert started == FOREIGN.keys()


def test_targets_modules_and_extras_that_are_named_are_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    extras = set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE))
    for command in COMMANDS:
        match command.words:
            case ["make", target, *_]:
                assert f"\n{target}:" in makefile, named(command)
            case ["python", "-m", module, *_]:
                assert importlib.util.find_spec(module), named(command)
            case ["pip", "install", *_, what] if "[" in what:
                assert {*what.partition("[")[2].rstrip("]").split(",")} <= extras, named(command)


def test_a_placeholder_is_told_from_a_name():
    assert [word for word in ("FILE", "kafka:VERSION", "…", "[FOLDER]") if not PLACEHOLDER.search(word)] == []
    assert [word for word in ("KAFKA-7128", "kafka:4.3.1", "StrongIsr", "kip-279-*") if PLACEHOLDER.search(word)] == []

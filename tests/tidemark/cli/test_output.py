"""Output that is no terminal's is not wrapped, and Ctrl-C says nothing before there is anything to say."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.cli.output import output

ROOT = Path(__file__).parents[3]
WORDS = "word " * 60


@pytest.mark.parametrize("stderr", [False, True])
@pytest.mark.parametrize(("columns", "lines"), [(None, 1), ("100", 3)])
def test_a_file_is_not_wrapped_unless_somebody_says_how_wide_it_is(monkeypatch, columns, lines, stderr):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr" if stderr else "stdout", stream)

    output(stderr=stderr).print(WORDS.strip())

    assert stream.getvalue().count("\n") == lines


def test_before_ctrl_c_can_end_it_next_to_nothing_is_loaded():
    program = "import sys, tidemark.command; print(sorted({'typing', 're', 'pathlib', 'click'} & {*sys.modules}))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".venv" / "as-installed")}

    words = [sys.executable, "-S", "-c", program]  # without what the environment of the tests loads
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)

    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_ctrl_c_while_the_commands_are_loaded_ends_it_without_a_word():
    """The import that Ctrl-C strikes in is that of the first module of the command line."""
    program = (
        "import os, signal, sys\n"
        "class Struck:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'tidemark.cli': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Struck())\n"
        "from tidemark.command import main\n"
        "main()\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=os.environ)

    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_ctrl_c_when_it_is_done_ends_it_without_a_word():
    """It strikes as the interpreter waits for the threads that are left."""
    program = (
        "import os, signal, sys, threading\n"
        "import tidemark.cli\n"
        "threading._register_atexit(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "sys.argv = ['tidemark', 'zoo']\n"
        "from tidemark.command import main\n"
        "main()\n"
    )

    words = [sys.executable, "-c", program]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)

    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")

"""Output that is no terminal's is not wrapped, and Ctrl-C says nothing before there is anything to say."""

import io
import os
import signal
import subprocess
import sys

import pytest

from tidemark.cli.output import output

WORDS = "word " * 60


@pytest.mark.parametrize(("columns", "lines"), [(None, 1), ("100", 3)])
def test_a_file_is_not_wrapped_unless_somebody_says_how_wide_it_is(monkeypatch, columns, lines):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", io.StringIO())

    output().print(WORDS.strip())

    assert sys.stdout.getvalue().count("\n") == lines


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

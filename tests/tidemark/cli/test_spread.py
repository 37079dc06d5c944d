"""Work that is spread over processes of this machine."""

import os
import signal
import subprocess
import sys

import click
import pytest

from tidemark.cli.spread import spread_over


def die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_is_told_in_a_sentence() -> None:
    with (
        pytest.raises(click.ClickException, match=r"one of the 2 processes .* with fewer --jobs"),
        spread_over(2) as spread,
    ):
        list(spread(die, range(4)))


def test_no_process_outlives_a_command_that_is_killed() -> None:
    command = (
        "import os, signal\n"
        "from tidemark.cli.spread import spread_over\n"
        "with spread_over(3, dear=True) as spread:\n"
        "    print(sum(spread(abs, range(9))), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    words = [sys.executable, "-c", command]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=60, check=False)  # ends when all have ended

    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "36\n")

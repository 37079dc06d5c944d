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


@pytest.mark.parametrize("signal_", ["SIGINT", "SIGTERM"])
def test_ctrl_c_as_a_process_begins_is_the_command_s_to_act_on(signal_: str) -> None:
    """Of SIGTERM, which reaches whoever is asked to end, such a process ends without a word."""
    command = (
        "import os, signal\n"
        "import click\n"
        "from tidemark.cli.spread import spread_over\n"
        f"os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.{signal_}))\n"
        "try:\n"
        "    with spread_over(2, dear=True) as spread:\n"
        "        print(sum(spread(abs, range(9))), flush=True)\n"
        "except click.ClickException as error:\n"
        "    print(error.message[:20])\n"
    )

    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout, done.stderr) == ("36\n" if signal_ == "SIGINT" else "one of the 2 process\n", "")

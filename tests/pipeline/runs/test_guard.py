"""A run that goes beyond its limits is told of, and takes nothing down."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from tidemark.pipeline.runs.guard import RunLimitError, RunLimits, apart, within

LITTLE = RunLimits(seconds=0.05, memory_mb=256)
ENOUGH = RunLimits(seconds=300, memory_mb=256)
"""For what ends by itself: a fork alone may take longer than little where others use the machine."""


def for_ever() -> None:
    while True:
        pass


def swallowing() -> None:
    while True:
        with suppress(Exception):
            for_ever()


@pytest.mark.parametrize("work", [for_ever, swallowing])
def test_what_never_ends_is_ended(work) -> None:
    with pytest.raises(RunLimitError, match=r"longer than 0\.05 s"), within(LITTLE):
        work()
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_what_never_hears_its_alarm_ends_a_process_that_is_expendable() -> None:
    deaf = (
        "from itertools import repeat\n"
        "from tidemark.pipeline.runs.guard import RunLimits, within\n"
        "with within(RunLimits(0.05, expendable=True)):\n"
        "    sum(repeat(0))"
    )
    assert subprocess.run([sys.executable, "-c", deaf], check=False, timeout=300).returncode == -signal.SIGPROF


def test_memory_that_is_too_much_is_not_given() -> None:
    with pytest.raises(MemoryError), within(RunLimits(0, 256)):
        bytearray(8 << 30)
    assert len(bytearray(1 << 20)) == 1 << 20


def test_a_child_answers() -> None:
    assert apart(lambda: {"plan": 3}, ENOUGH) == {"plan": 3}


@pytest.mark.parametrize(
    ("work", "limits", "words"),
    [
        (for_ever, LITTLE, "took longer than 0.05 s"),
        (lambda: os._exit(3), ENOUGH, "ended with status 3"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), ENOUGH, "was killed by SIGKILL"),
        (lambda: bytearray(8 << 30), ENOUGH, "MemoryError"),
        (lambda: 1 // 0, ENOUGH, "ZeroDivisionError"),
    ],
)
def test_a_child_that_dies_is_told_of(work, limits, words) -> None:
    with pytest.raises(RunLimitError, match=words):
        apart(work, limits)

"""Who waits hears what is being done, again and again; who does not wait hears it once."""

import re
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from tidemark.harness.machines.image_build import one_at_a_time
from tidemark.harness.machines.said_again import said_again


def until(what):
    deadline = time.monotonic() + 30
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_lasts_is_said_again_with_its_time_until_there_is_something_else(monkeypatch):
    monkeypatch.setattr("tidemark.harness.machines.said_again.time", SimpleNamespace(monotonic=lambda: 7.0))
    told = []
    with said_again(told.append, "getting ready", every_s=0.05) as tell:
        until(lambda: len(told) >= 2)
        assert set(told) == {"getting ready (0 s so far)"}
        tell("building")
        first = told.index("building")
        until(lambda: len(told) >= first + 3)

    assert set(told[first + 1 :]) == {"building (0 s so far)"}
    assert not any(thread.name == "says what takes long" for thread in threading.enumerate())


def test_nothing_is_said_of_what_is_quick():
    told = []
    with said_again(told.append, "getting ready") as tell:
        tell("building")

    assert told == ["building"]


def test_it_ends_where_the_work_fails():
    with pytest.raises(RuntimeError), said_again(print, "getting ready", every_s=0.01):
        raise RuntimeError
    assert not any(thread.name == "says what takes long" for thread in threading.enumerate())


def test_who_waits_for_another_command_is_told_for_which(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    holds = (
        "import sys\nfrom tidemark.harness.machines.image_build import one_at_a_time\n"
        "with one_at_a_time():\n    print('has it', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "has it\n"
        told = []

        def tell(sentence):
            told.append(sentence)
            other.stdin.close()

        with one_at_a_time(tell):
            pass

    (sentence,) = told
    words = rf"waiting for another command \(process {other.pid}\) that gets or builds an image, \d+ s already"
    assert re.fullmatch(words, sentence)
    with one_at_a_time(pytest.fail):
        pass

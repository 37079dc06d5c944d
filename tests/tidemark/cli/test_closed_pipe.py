"""Who reads us may stop: the command goes on, and its exit code is its own."""

import os
import sys

from tidemark.cli.closed_pipe import said_to_nobody


def test_a_closed_pipe_breaks_nothing_off(monkeypatch):
    reading, writing = os.pipe()
    os.close(reading)
    done = []

    with os.fdopen(writing, "w", buffering=1) as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with said_to_nobody():
            for _ in range(3):
                print("nobody reads this")  # noqa: T201
                sys.stdout.flush()
            done.append("all")
        assert sys.stdout is stream

    assert done == ["all"]


def test_what_is_read_is_written(capsys):
    with said_to_nobody():
        print("somebody reads this")  # noqa: T201

    assert capsys.readouterr().out == "somebody reads this\n"

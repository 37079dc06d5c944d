"""Output that nobody takes: the command goes on, ends with an exit code of its own, and says so where it must."""

import os
import subprocess
import sys

import pytest

from tidemark.cli.standard_streams import UnwrittenError, forgiving_streams

COMMAND = "import sys; from tidemark.cli import main; sys.argv[0] = 'tidemark'; main()"


@pytest.fixture
def history(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_text(
        '{"kind":"op","time":1,"process":"p","type":"invoke","f":"send","value":[["send","t-0",1]]}\n'
        '{"kind":"op","time":2,"process":"p","type":"ok","f":"send","value":[["send","t-0",[0,1]]]}\n'
        '{"kind":"op","time":3,"process":"c","type":"invoke","f":"poll","value":[["poll",{}]]}\n'
        '{"kind":"op","time":4,"process":"c","type":"ok","f":"poll","value":[["poll",{"t-0":[[0,1]]}]]}\n'
    )
    return path


def run(redirection, *arguments):
    line = " ".join([sys.executable, "-c", f'"{COMMAND}"', *map(str, arguments), redirection])
    return subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True, check=False)


def test_a_closed_pipe_breaks_nothing_off(monkeypatch):
    reading, writing = os.pipe()
    os.close(reading)
    done = []

    with os.fdopen(writing, "w", buffering=1) as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with forgiving_streams():
            for _ in range(3):
                print("nobody reads this")  # noqa: T201
                sys.stdout.flush()
            done.append("all")
        assert sys.stdout is stream

    assert done == ["all"]


def test_what_is_read_is_written(capsys):
    with forgiving_streams():
        print("somebody reads this")  # noqa: T201

    assert capsys.readouterr().out == "somebody reads this\n"


def test_a_full_disk_is_told_when_the_work_is_done(monkeypatch):
    done = []

    with open("/dev/full", "w") as stream:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(UnwrittenError, match="No space left on device"):  # noqa: PT012, SIM117 - the work is what goes on
            with forgiving_streams():
                print("no room for this", flush=True)  # noqa: T201
                done.append("all")

    assert done == ["all"]


@pytest.mark.parametrize("command", [["check"], ["check", "--json"], ["export"]])
def test_a_full_disk_is_one_sentence(command, history):
    found = run("> /dev/full", *command, history)

    assert (found.returncode, found.stderr) == (
        255,
        "tidemark: not all output could be written (No space left on device)\n",
    )


@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-", "2> /dev/full", "<&- >&- 2>&-"])
def test_streams_that_are_closed_change_no_exit_code(redirection, history):
    found = run(redirection, "check", history)

    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full", ">&- 2>&-"])
def test_an_error_that_nobody_takes_is_an_error(redirection):
    assert run(redirection, "check", "/no/such/file").returncode == 254


def test_standard_input_that_is_closed_is_empty():
    found = run("<&-", "check", "-")

    assert found.returncode == 254
    assert found.stderr.startswith("tidemark: -: line 1: there is not one line of a history here (docs/")
    assert found.stderr.count("\n") == 1


def test_help_onto_a_full_disk_is_one_sentence():
    found = run("> /dev/full", "--help")

    assert found.returncode == 255
    assert found.stderr.count("\n") == 1

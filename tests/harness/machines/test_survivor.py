"""What a process that was killed leaves is removed by one that outlives it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from local_cluster import eventually

from tidemark.harness.machines import survivor
from tidemark.harness.machines.leftovers import every, remove
from tidemark.harness.machines.owner import Owner

COMMAND = """
import sys
from tidemark.harness.machines.survivor import survived
from tidemark.harness.runs.temporary_folder import temporary_folder
{more}
assert survived() == survived()
folders = [temporary_folder() for _ in range(2)]
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def command(tmp_path):
    """A process that has begun its survivor, and waits."""
    began = []

    def command(more="", **environment):
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND.format(more=more)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(tmp_path), **environment},
        )
        began.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield command
    for process in began:
        process.kill()
        process.communicate()


def survivors(process):
    """The processes that wait for the end of one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # it has ended meanwhile
            if survivor.__name__.encode() in words and str(process.pid).encode() in words:
                found.append(int(entry.name))
    return found


def test_one_survivor_waits_for_its_process_in_a_session_of_its_own_and_holds_nothing_open(command):
    process = command("import os; os.set_inheritable(os.dup(1), True)")

    (found,) = survivors(process)

    assert os.getsid(found) == found
    files = Path(f"/proc/{found}/fd")
    eventually(lambda: sorted(file.name for file in files.iterdir()) == ["0", "1", "2"])
    assert {str(file.readlink()) for file in files.iterdir()} == {os.devnull}


@pytest.mark.parametrize("end", [os.kill, os.killpg])
def test_what_a_killed_process_had_in_temporary_folders_goes_and_then_its_survivor(command, tmp_path, end):
    process = command(DOCKER_HOST=f"unix://{tmp_path}/no-engine")
    assert len(list(tmp_path.iterdir())) == 2

    end(process.pid, signal.SIGKILL)

    eventually(lambda: list(tmp_path.iterdir()) == [])
    eventually(lambda: survivors(process) == [])


def test_while_a_process_lives_nothing_is_removed(monkeypatch, tmp_path):
    looks = iter([False, False, True])
    done = []
    monkeypatch.setattr(Owner, "is_gone", property(lambda owner: next(looks)))
    monkeypatch.setattr(survivor.os, "closerange", lambda low, high: None)
    monkeypatch.setattr(survivor.time, "sleep", lambda seconds: done.append("slept"))
    monkeypatch.setattr(survivor, "remove_folders_of", lambda pid, start: done.append("removed"))
    monkeypatch.setattr(survivor, "_remove_what_it_left", lambda owner: done.append("removed"))

    survivor.main(Owner.this_process())

    assert done == ["slept", "slept", "removed", "removed"]


MAKES = """
from tidemark.harness.machines.docker_engine import connect
from tidemark.harness.machines.owner import Owner
client = connect()
name, labels = {name!r}, {owner}.labels({name!r})
client.networks.create(name, driver="bridge", labels=labels)
client.volumes.create(name, labels=labels)
client.containers.run({image!r}, ["-c", "sleep 600"], entrypoint="sh", detach=True, name=name, labels=labels, network=name)
"""


@pytest.mark.docker
def test_containers_networks_and_volumes_of_a_killed_process_are_removed_and_those_of_others_are_not(
    command, engine, image
):
    ours = f"test-{os.getpid()}-ours"
    engine.volumes.create(ours, labels=Owner.this_process().labels(ours))
    name = f"test-{os.getpid()}-killed"
    process = command(MAKES.format(name=name, image=image, owner="survived()"))
    assert sorted(found.kind for found in every(engine, name)) == ["container", "network", "volume"]

    process.kill()

    eventually(lambda: every(engine, name) == [])
    eventually(lambda: survivors(process) == [])
    assert len(every(engine, ours)) == 1
    engine.volumes.get(ours).remove()


@pytest.mark.docker
def test_what_was_made_by_hand_outlives_the_process_that_made_it(command, engine, image):
    name = f"test-{os.getpid()}-by-hand"
    process = command(MAKES.format(name=name, image=image, owner="Owner.by_hand()"))

    process.kill()

    eventually(lambda: survivors(process) == [])
    found = every(engine, name)
    remove(engine, found)
    assert sorted(item.kind for item in found) == ["container", "network", "volume"]

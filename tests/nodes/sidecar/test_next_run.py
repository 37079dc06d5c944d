"""A sidecar whose JVM goes on into the next run, as a process around a `java` that does what a test wants."""

import asyncio
import os
import shutil
import signal
import threading
from types import SimpleNamespace

import pytest
from sidecar_process import LOADED, appended, eventually

from tidemark.nodes.admin.port import CommandError
from tidemark.nodes.formats.record_batch import build
from tidemark.nodes.sidecar import next_run

OLD, NEW = build([1, 2], 0, 0), build([7], 0, 0)


def go_on(node):
    """The run's topic is deleted: its log goes, and the checkpoints forget it."""
    shutil.rmtree(node.data / "t-0")
    (node.data / "recovery-point-offset-checkpoint").write_text("0\n0\n")


@pytest.fixture
def old_run(node, serve):
    """A run is over: its log has two records, and a watermark of 2 is in the checkpoint."""
    node.start(
        ["write", "replication-offset-checkpoint", "0\n1\nt 0 2\n"],
        ["write", "recovery-point-offset-checkpoint", "0\n1\nt 0 2\n"],
        ["print", LOADED.format(0)],
        *serve,
        ["append", "t-0", OLD.hex()],
        ["print", appended(0, 2)],
        "wait",
        ["print", LOADED.format(0)],
        ["append", "t-0", NEW.hex()],
        ["print", appended(0, 1)],
        ["sleep", 60],
    ).ready()
    eventually(lambda: len(node.events()) == 3, "the first run is not traced")
    return node


def test_the_next_run_begins_like_the_first(old_run):
    go_on(old_run)
    assert old_run.ask("next-run") == {"ok": True}
    assert old_run.events() == [["start", "", 1]]
    assert old_run.ask("status")["incarnation"] == 1
    assert old_run.ask("status")["partitions"] == {}
    assert "Completed load" not in old_run.log()

    os.kill(old_run.jvm, signal.SIGTERM)
    eventually(lambda: len(old_run.events()) == 3, "the next run is not traced")
    assert old_run.events()[1:] == [["recovered", "t-0", 0, 0, -1], ["append", "t-0", 0, 0, [7]]]
    assert "Completed load" in old_run.log()


def test_it_waits_until_the_old_log_is_gone_and_forgotten(old_run):
    answers = []
    asking = threading.Thread(target=lambda: answers.append(old_run.ask("next-run")))
    asking.start()
    asking.join(0.5)
    assert not answers
    assert len(old_run.events()) == 3
    shutil.rmtree(old_run.data / "t-0")
    asking.join(0.5)
    assert not answers, "the recovery point is still there"
    (old_run.data / "recovery-point-offset-checkpoint").write_text("0\n0\n")
    asking.join(20)
    assert answers == [{"ok": True}]


def test_the_old_high_watermark_is_waited_for(old_run):
    go_on(old_run)
    old_run.ask("next-run")
    answers = []
    asking = threading.Thread(target=lambda: answers.append(old_run.ask("forgotten")))
    asking.start()
    asking.join(0.5)
    assert not answers
    (old_run.data / "replication-offset-checkpoint").write_text("0\n1\nt 0 0\n")
    asking.join(20)
    assert answers == [{"ok": True}]


def test_a_log_that_stays_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(next_run, "GONE_S", 0.0)
    (tmp_path / "t-0").mkdir()
    logs = SimpleNamespace(all=(tmp_path,), of=lambda name: tmp_path / name, home=lambda _: tmp_path)
    sidecar = SimpleNamespace(controller=None, logs=logs, config=SimpleNamespace(partitions={"t-0": (1,)}))
    with pytest.raises(CommandError, match="a log of the last run is still there"):
        asyncio.run(next_run.next_run(sidecar))

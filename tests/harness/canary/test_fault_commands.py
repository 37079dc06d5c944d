import os
import signal
import subprocess
import sys
import threading

import pytest
from local_cluster import eventually

from tidemark.harness.canary import fault_commands
from tidemark.harness.canary.canary_error import CanaryError
from tidemark.harness.canary.fault_commands import FaultCommands, FaultOrder


class Run:
    """A run whose clock counts the looks at it."""

    def __init__(self, order, log):
        self.seen, self.told, self.time = [], [], 0
        self.struck = threading.Event()
        self.faults = FaultCommands(order, clock=self.clock, record=self.record, tell=self.told.append, log=log)

    def clock(self):
        self.time += 1
        return self.time

    def record(self, op):
        self.seen.append(op)
        self.struck.set()


def test_what_is_broken_when_it_is_stopped_is_mended_first(tmp_path):
    mark = tmp_path / "mark"
    run = Run(FaultOrder(f"echo broken; touch {mark}", f"rm {mark}", 0.01, 600), tmp_path / "log")
    run.faults.start()
    assert run.struck.wait(20)
    assert mark.exists()
    run.faults.stop()
    assert not mark.exists()
    assert run.seen == [
        (1, "strike", 0, "command", {"command": f"echo broken; touch {mark}", "came_to": "exit code 0"}),
        (2, "heal", 0, "command", {"command": f"rm {mark}", "came_to": "exit code 0"}),
    ]
    assert (tmp_path / "log").read_text() == "broken\n"


def test_a_command_that_fails_or_does_not_end_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(fault_commands, "PATIENCE_S", 0.05)
    run = Run(FaultOrder("exit 7", "sleep 100", 0.01, 0), tmp_path / "log")
    run.faults.start()
    assert run.struck.wait(20)
    run.faults.stop()
    assert [op[4]["came_to"] for op in run.seen[:2]] == ["exit code 7", "did not end in time"]
    assert run.told[0] == f"strike 1: exit 7: exit code 7 ({tmp_path / 'log'} has its words)"


def test_that_commands_cannot_be_run_is_not_passed_over(tmp_path):
    run = Run(FaultOrder("true", None, 0.01, 0), tmp_path / "nowhere" / "log")
    run.faults.start()
    run.faults._thread.join(20)
    with pytest.raises(CanaryError, match="could not be run"):
        run.faults.stop()


COMMAND = """
import sys, time
from pathlib import Path
from tidemark.harness.canary.fault_commands import FaultCommands, FaultOrder
order = FaultOrder(sys.argv[1], sys.argv[2], 0.01, 600)
FaultCommands(order, clock=time.monotonic_ns, record=print, tell=print, log=Path(sys.argv[3])).start()
time.sleep(600)
"""


@pytest.mark.parametrize("strike", ["touch {mark}", "touch {mark}; sleep 2"])
@pytest.mark.parametrize("end", [os.kill, os.killpg])
def test_what_is_broken_is_mended_once_though_the_canary_is_killed(tmp_path, end, strike):
    mark, healed = tmp_path / "mark", tmp_path / "healed"
    words = [strike.format(mark=mark), f"rm {mark}; echo healed >>{healed}", str(tmp_path / "log")]
    canary = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        eventually(mark.exists)  # a strike of 2 s has not ended then
        end(canary.pid, signal.SIGKILL)
        eventually(healed.exists)
        canary.communicate()  # to the end: nobody has its output open
        eventually(lambda: healed.read_text() == "healed\n")
    finally:
        canary.kill()
        canary.wait()
    assert not mark.exists()

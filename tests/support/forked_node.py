"""Node processes for tests, forked off one that has loaded the code: to load it is most of what the start of a node costs.

Nothing else differs from `python -m tidemark.nodes.process`, which tests/nodes/process/test_start.py starts.
"""

from __future__ import annotations

import multiprocessing
import os
import sys

import tidemark.nodes.process.__main__ as program

_FORK = multiprocessing.get_context("forkserver")
_FORK.set_forkserver_preload(["tidemark.nodes.process.__main__"])


class ForkedNode:
    """One node's process.

    Args:
        config: its file. log: takes what it says, after what is there.
    """

    def __init__(self, config, log):
        self._process = _FORK.Process(target=_live, args=(str(config), str(log)), daemon=True)
        self._process.start()
        self.pid = self._process.pid

    def poll(self):
        """The exit code, None while it runs."""
        return self._process.exitcode

    def wait(self, timeout_s):
        """The exit code; fails the test if it does not end."""
        self._process.join(timeout_s)
        assert self._process.exitcode is not None, f"process {self.pid} does not end"
        return self._process.exitcode

    def kill(self):
        """SIGKILL."""
        self._process.kill()

    def terminate(self):
        """SIGTERM."""
        self._process.terminate()

    def send_signal(self, number):
        """Any signal."""
        if self.poll() is None:
            os.kill(self.pid, number)


def _live(config, log):
    said = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for ours, its in ((0, nothing), (1, said), (2, said)):
        os.dup2(its, ours)
    sys.exit(program.main(["--config", config]))

"""One Docker engine for a whole run of tests, however many processes share the work.

The process that was started, not its workers, finds the engine, or starts one when the first test wants it, and stops it after
the last worker has gone. Workers ask it through a socket.
"""

import tempfile
import threading
from contextlib import suppress
from multiprocessing.connection import Client, Listener
from pathlib import Path

from started_engine import can_start, start_engine

from tidemark.harness.machines.docker_engine import diagnose
from tidemark.harness.machines.errors import ContainerWorldError

WORKER_KEY = "engine_address"


class OneEngine:
    """Of the process that leads."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="tm-")
        self.address = str(Path(self._folder.name) / "engine")
        self._asked = threading.Lock()
        self._why_not = None
        self._started = None
        self._listener = Listener(self.address, "AF_UNIX", backlog=64)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        with suppress(OSError, EOFError):
            while True:
                with self._listener.accept() as worker:
                    if not worker.recv():
                        return
                    with suppress(OSError):
                        worker.send(self.why_not())

    def why_not(self):
        """Nothing once an engine runs, which is started if need be; else why there is none."""
        with self._asked:
            if self._why_not is None:
                self._why_not = self._find()
            return self._why_not

    def _find(self):
        found = diagnose()
        if found.state == "running":
            return ""
        if not can_start():
            return f"{found.found}; {found.fix}"
        try:
            self._started = start_engine()
        except ContainerWorldError as error:
            return str(error)
        return ""

    def close(self):
        """Leave the engine as it was found."""
        with Client(self.address) as last:
            last.send(False)
        self._thread.join()
        self._listener.close()
        self._folder.cleanup()
        if self._started is not None:
            self._started.stop()


def ask(address):
    """A worker's question: nothing once an engine runs, else why there is none."""
    with Client(address) as leader:
        leader.send(True)
        return leader.recv()

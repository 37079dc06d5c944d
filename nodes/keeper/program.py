"""The program, as a child of its keeper; where anybody asks what it syncs, under a filter that tells of that."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import socket
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.nodes.admin.seccomp import Listener, filter_of, put_under, this_machine
from tidemark.nodes.keeper.syncs import ASKED, REFUSED, Syncs

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.nodes.keeper.config import KeeperConfig
    from tidemark.nodes.keeper.sync_ledger import SyncLedger

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class Program:
    """One life of the program.

    Args:
        config: what to run.
        ledger: told of every sync before it is carried out; None: nobody is.
        on_end: called with the exit code (negative: the signal), in another thread, when it is gone and the ledger is whole.

    Attributes:
        pid: its number. slow_us: every sync takes so much longer.
    """

    def __init__(self, config: KeeperConfig, ledger: SyncLedger | None, on_end: Callable[[int], None]) -> None:
        """Start it.

        Raises:
            OSError: it cannot be started. UnknownMachineError: see :mod:`tidemark.nodes.admin.seccomp`.
        """
        self.slow_us = 0
        self._config, self._on_end = config, on_end
        self._printed_before = config.output.stat().st_size if config.output.exists() else 0
        self._syncs: Syncs | None = None
        if ledger is None:
            self._process = self._started(lambda: None)
        else:
            machine = this_machine()
            program = filter_of(machine, ASKED, REFUSED)
            here, there = socket.socketpair()
            with here, there:
                self._process = self._started(lambda: put_under(program, machine.calls["seccomp"], there))
                there.close()
                self._syncs = Syncs(Listener.of_child(here, machine), ledger, lambda: self.slow_us)
        self.pid = self._process.pid
        threading.Thread(target=self._wait, name="waits for the program", daemon=True).start()

    def _started(self, become: Callable[[], object]) -> subprocess.Popen[bytes]:
        """The program; `become` is called in it before it is the program."""
        config, parent = self._config, os.getpid()

        def before() -> None:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)
            become()

        with config.output.open("ab") as output:
            return subprocess.Popen(
                config.argv,
                cwd=config.data,
                env={**os.environ, **config.env},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=before,  # noqa: PLW1509 - a few system calls, and no lock that a thread could hold
            )

    def _wait(self) -> None:
        code = self._process.wait()
        if self._syncs is not None:
            self._syncs.close()
        self._on_end(code)

    def is_ready(self) -> bool:
        """Whether it prints or listens as it does when it is ready."""
        config = self._config
        if config.ready_port:
            return _listens(config.ready_port)
        if not config.ready:
            return True
        with config.output.open("rb") as output:
            output.seek(self._printed_before)
            return re.search(config.ready, output.read().decode(errors="replace"), re.MULTILINE) is not None


def _listens(port: int) -> bool:
    wanted = f":{port:04X} "
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if f"{fields[1]} ".endswith(wanted) and fields[3] == "0A":
                    return True
    return False

"""Who a container belongs to: labels that name the run and the process that made it, so that leftovers can be told.

A process is named by its number, the boot it lives in and the time it started: a number alone is given again.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tidemark.harness.runs.process_start import started

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN = "tidemark.run"
NODE = "tidemark.node"
BY_HAND = "by-hand"
_HOST, _PID, _BOOT, _START = "tidemark.owner-host", "tidemark.owner-pid", "tidemark.owner-boot", "tidemark.owner-start"


class Owner(NamedTuple):
    """A process, or with pid :data:`BY_HAND` a person, who will say when it is over."""

    host: str
    pid: str
    boot: str = ""
    start: str = ""

    @staticmethod
    def this_process() -> Owner:
        """Us."""
        pid = os.getpid()
        return Owner(socket.gethostname(), str(pid), _boot(), started(pid))

    @staticmethod
    def by_hand() -> Owner:
        """A person: what was started by hand lives until it is stopped by hand."""
        return Owner(socket.gethostname(), BY_HAND)

    @staticmethod
    def of(labels: Mapping[str, str]) -> Owner:
        """As :meth:`labels` wrote it."""
        return Owner(*(labels.get(name, "") for name in (_HOST, _PID, _BOOT, _START)))

    def labels(self, run_id: str) -> dict[str, str]:
        """For a container, network or volume of a run."""
        return {RUN: run_id, _HOST: self.host, _PID: self.pid, _BOOT: self.boot, _START: self.start}

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended. False for by-hand clusters, and for processes of other hosts: who can tell?"""
        if self.pid == BY_HAND or self.host != socket.gethostname():
            return False
        if self.boot != _boot():
            return True
        return not self.pid.isdigit() or started(int(self.pid)) != self.start

    def __str__(self) -> str:
        if self.pid == BY_HAND:
            return "started by hand"
        where = "" if self.host == socket.gethostname() else f" on {self.host}"
        return f"process {self.pid}{where}" + (", which is gone" if self.is_gone else "")


def _boot() -> str:
    """Names this boot of the computer; nothing where there is no /proc."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""

"""When a process started: with its number it names a process, as a number alone does not, which is given again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

GONE: Final = "gone"


def started(pid: int) -> str:
    """When a process started, in clock ticks since the boot; :data:`GONE` if it is not there, or only a zombie.

    Source: proc(5), /proc/PID/stat; the second field is the program's name and may hold anything.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return _without_proc(pid)
    return GONE if fields[0] in "ZX" else fields[19]


def _without_proc(pid: int) -> str:
    if Path("/proc/self/stat").exists():
        return GONE
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return GONE
    except PermissionError:
        pass
    return "there"

"""The file that names a node's process: its number and when it started, by which whoever kills it knows it again."""

from __future__ import annotations

from pathlib import Path


def put_process_file(path: Path, pid: int) -> None:
    """Write it, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.write_text(f"{pid} {start_time(pid)}\n")
    new.replace(path)


def start_time(pid: int) -> int:
    """Field 22 of ``/proc/PID/stat``, in clock ticks since the system's start; 0 if there is no such process."""
    fields = stat_of(pid)
    return int(fields[19]) if fields else 0


def stat_of(pid: int) -> list[str]:
    """The fields after the command, from the state (field 3) on; empty if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []

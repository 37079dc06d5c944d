"""Whether some process of this machine works on a campaign: it holds the lock of the folder. Nothing is locked to find out."""

from __future__ import annotations

from pathlib import Path

from tidemark.pipeline.folder.manifest import LOCK

LOCKS = Path("/proc/locks")


def begun_at(folder: Path) -> float | None:
    """When somebody last began to work on it, seconds since 1970; None if nobody ever did here."""
    try:
        return (folder / LOCK).stat().st_mtime
    except OSError:
        return None


def is_at_work(folder: Path, locks: Path = LOCKS) -> bool:
    """Whether the lock is held, by what the kernel says of its file (proc(5)). Where it does not say, nobody is seen.

    A try to get the lock would tell as well, and have a campaign that begins at that moment refused.
    """
    try:
        inode = (folder / LOCK).stat().st_ino
        lines = locks.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return False
    # 1: FLOCK  ADVISORY  WRITE 4711 08:01:131142 0 EOF; the device is not compared, which overlays call by another number
    held = (line.split() for line in lines if " FLOCK " in line and "->" not in line)
    return any(len(words) > 5 and words[5].rpartition(":")[2] == str(inode) for words in held)

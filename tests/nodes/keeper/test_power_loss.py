"""What a power loss leaves of real programs, which sync in every way there is."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.keeper.config import KeeperConfig
from tidemark.nodes.keeper.program import Program
from tidemark.nodes.keeper.sync_ledger import SyncLedger, UnsureError

PATIENCE_S = 20.0


def leave(
    tmp_path: Path, script: str, *, before: dict[str, bytes] | None = None, follow: bool = True
) -> SyncLedger | None:
    """Run a program in the directory `data` until its end; its ledger, if there is one."""
    data = tmp_path / "data"
    data.mkdir()
    for name, content in (before or {}).items():
        (data / name).write_bytes(content)
    place = tmp_path / "ledger" if follow else None
    ledger = SyncLedger(data, place) if place else None
    paths = (tmp_path / name for name in ("trace", "process", "output"))
    argv = (sys.executable, "-S", "-c", f"import os, mmap\n{script}\nos.kill(os.getpid(), 9)")
    config = KeeperConfig(1, 1, Address("127.0.0.1", 1), *paths, data, place, argv, {}, {}, "", 0)
    ended, codes = threading.Event(), []
    Program(config, ledger, lambda code: (codes.append(code), ended.set()))
    assert ended.wait(PATIENCE_S)
    assert codes == [-9], (tmp_path / "output").read_text()
    return ledger


def left(tmp_path: Path) -> dict[str, bytes]:
    """The files that are there."""
    data = tmp_path / "data"
    return {str(path.relative_to(data)): path.read_bytes() for path in sorted(data.rglob("*")) if path.is_file()}


CASES = {
    "synced, then more": (
        'f = open("log", "wb", 0); f.write(b"one"); os.fsync(f.fileno()); f.write(b"two")',
        {"log": b"one"},
    ),
    "fdatasync": (
        'f = open("log", "wb", 0); f.write(b"one"); os.fdatasync(f.fileno()); f.write(b"two")',
        {"log": b"one"},
    ),
    "never synced": ('open("log", "wb", 0).write(b"one")', {}),
    "the whole system is synced": ('open("log", "wb", 0).write(b"one"); os.sync()', {"log": b"one"}),
    "O_DSYNC": (
        'f = os.open("log", os.O_CREAT | os.O_WRONLY | os.O_DSYNC); os.write(f, b"one"); os.write(f, b"two")',
        {"log": b"onetwo"},
    ),
    "O_SYNC at an open of its own": (
        'open("log", "wb", 0).write(b"one"); f = os.open("log", os.O_APPEND | os.O_WRONLY | os.O_SYNC); os.write(f, b"two")',
        {"log": b"onetwo"},
    ),
    "O_SYNC, renamed at once, and something is synced": (
        (
            'f = os.open("new", os.O_CREAT | os.O_WRONLY | os.O_SYNC); os.write(f, b"new"); os.rename("new", "old"); '
            'os.fsync(os.open(".", os.O_RDONLY))'
        ),
        {"old": b"new", "other": b"..."},
    ),
    "an open with O_SYNC that fails": (
        (
            'f = open("log", "wb", 0); f.write(b"one"); os.fsync(f.fileno())\n'
            'try: os.open("none", os.O_WRONLY | os.O_SYNC)\nexcept OSError: pass'
        ),
        {"log": b"one"},
    ),
    "pwritev2 that syncs": (
        'f = os.open("log", os.O_CREAT | os.O_WRONLY); os.pwritev(f, [b"one"], 0, os.RWF_DSYNC)',
        {"log": b"one"},
    ),
    "a mapping that is synced": (
        'f = open("old", "r+b"); m = mmap.mmap(f.fileno(), 0); m[:3] = b"new"; m.flush(); m[3:6] = b"xyz"',
        {"old": b"new...", "other": b"..."},
    ),
    "a mapping that is not": (
        'f = open("old", "r+b"); m = mmap.mmap(f.fileno(), 0); m[:3] = b"new"',
        {"old": b"......", "other": b"..."},
    ),
    "an overwrite, a cut and a deletion after the last sync": (
        'f = open("old", "r+b", 0); os.fsync(f.fileno()); f.write(b"new"); f.truncate(2); os.unlink("other")',
        {"old": b"......", "other": b"..."},
    ),
    "a rename after which nothing is synced": (
        'f = open("new", "wb", 0); f.write(b"new"); os.fsync(f.fileno()); os.rename("new", "old")',
        {"new": b"new", "old": b"......", "other": b"..."},
    ),
    "a rename, and the directory is synced": (
        (
            'f = open("new", "wb", 0); f.write(b"new"); os.fsync(f.fileno()); os.rename("new", "old")'
            '; os.fsync(os.open(".", os.O_RDONLY))'
        ),
        {"old": b"new", "other": b"..."},
    ),
    "a name is synced, and its content is not": (
        'open("new", "wb", 0).write(b"new"); os.mkdir("d"); os.fsync(os.open(".", os.O_RDONLY))',
        {"new": b"", "old": b"......", "other": b"..."},
    ),
    "a child of the program syncs": (
        (
            'import subprocess, sys; subprocess.run([sys.executable, "-S", "-c", \'import os; f = open("log", "wb", 0); '
            'f.write(b"one"); os.fsync(f.fileno()); f.write(b"two")\'])'
        ),
        {"log": b"one"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_was_synced_is_left_and_nothing_else(case: str, tmp_path: Path) -> None:
    script, expected = CASES[case]
    before = {"old": b"......", "other": b"..."} if "old" in expected else {}
    ledger = leave(tmp_path, script, before=before)
    ledger.lose_power()
    assert left(tmp_path) == expected


def test_a_file_without_a_name_that_is_written_through_is_refused(tmp_path: Path) -> None:
    script = 'f = os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_DSYNC); os.write(f, b"one")'
    with pytest.raises(UnsureError, match="a file without a name was opened with O_SYNC"):
        leave(tmp_path, script).lose_power()


def test_a_ring_is_refused_so_that_nothing_is_synced_unseen(tmp_path: Path) -> None:
    script = (
        "import ctypes; c = ctypes.CDLL(None, use_errno=True); r = c.syscall(425, 8, ctypes.create_string_buffer(120)); "
        'f = open("said", "w"); f.write(f"{r} {ctypes.get_errno()}"); f.flush(); os.fsync(f.fileno())'
    )
    leave(tmp_path, script)
    assert left(tmp_path) == {"said": b"-1 38"}


def test_a_second_life_goes_on_with_the_ledger_of_the_first(tmp_path: Path) -> None:
    leave(tmp_path, 'f = open("log", "wb", 0); f.write(b"one"); os.fsync(f.fileno()); f.write(b"two")')
    SyncLedger(tmp_path / "data", tmp_path / "ledger").lose_power()
    assert left(tmp_path) == {"log": b"one"}


def test_a_file_that_was_allocated_and_not_written_takes_no_room_in_the_ledger(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    with (data / "log").open("wb") as log:
        os.posix_fallocate(log.fileno(), 0, 1 << 24)
        log.write(b"one")
        log.seek(1 << 23)
        log.write(b"two")
    ledger = SyncLedger(data, tmp_path / "ledger")
    before = left(tmp_path)

    (kept,) = (tmp_path / "ledger" / "contents").iterdir()
    assert kept.stat().st_blocks * 512 < 1 << 20
    (data / "log").write_bytes(b"three")
    ledger.lose_power()
    assert left(tmp_path) == before


@pytest.mark.parametrize(("follow", "mode"), [(True, b"2"), (False, b"0")])
def test_where_nobody_loses_power_the_program_runs_without_a_filter(tmp_path, follow, mode):
    leave(
        tmp_path,
        'f = open("seccomp", "wb", 0); f.write(open("/proc/self/status", "rb").read()); os.fsync(f.fileno())',
        follow=follow,
    )

    assert b"Seccomp:\t" + mode in left(tmp_path)["seccomp"]
    assert (tmp_path / "ledger").exists() is follow

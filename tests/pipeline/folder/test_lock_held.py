"""Who holds a campaign's lock is seen, and the lock is left alone."""

import fcntl
from pathlib import Path

from tidemark.pipeline.folder.lock_held import begun_at, is_at_work
from tidemark.pipeline.folder.manifest import locked


def test_a_campaign_is_at_work_while_its_lock_is_held(tmp_path: Path) -> None:
    assert not is_at_work(tmp_path)
    assert begun_at(tmp_path) is None
    with locked(tmp_path):
        assert is_at_work(tmp_path)
        begun = begun_at(tmp_path)
        assert begun is not None
    assert not is_at_work(tmp_path)
    assert begun_at(tmp_path) == begun


def test_only_a_lock_of_that_file_that_is_held_counts(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    inode = (tmp_path / ".lock").stat().st_ino
    table = tmp_path / "locks"
    for line, held in (
        (f"1: FLOCK  ADVISORY  WRITE 4711 08:01:{inode} 0 EOF", True),
        (f"1: FLOCK  ADVISORY  WRITE 4711 08:01:{inode}1 0 EOF", False),
        (f"1: POSIX  ADVISORY  WRITE 4711 08:01:{inode} 0 EOF", False),
        (f"1: -> FLOCK  ADVISORY  WRITE 4711 08:01:{inode} 0 EOF", False),  # somebody waits for it
    ):
        table.write_text(f"{line}\n")
        assert is_at_work(tmp_path, table) is held
    assert not is_at_work(tmp_path, tmp_path / "nothing")


def test_to_look_does_not_hold_the_lock(tmp_path: Path) -> None:
    with locked(tmp_path):
        pass
    is_at_work(tmp_path)
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

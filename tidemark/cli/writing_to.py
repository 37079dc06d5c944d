"""A folder or a file that does not take what a command writes there: one sentence."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

FULL: Final = (errno.ENOSPC, errno.EDQUOT)
REFUSED: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """What is inside writes to the folder.

    Raises:
        click.ClickException: It may not, or there is no room.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in FULL + REFUSED:
            raise
        do = "make room there" if error.errno in FULL else "name a copy of it where you may write"
        raise click.ClickException(
            f"{folder} cannot be written to ({error.strerror}): {do}, and give the command again"
        ) from None


@contextmanager
def writing_file(file: Path, instead: str = "") -> Iterator[None]:
    """What is inside writes the file; `instead` is what to do where it cannot.

    Raises:
        click.ClickException: It cannot.
    """
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {error.strerror}{instead}") from None

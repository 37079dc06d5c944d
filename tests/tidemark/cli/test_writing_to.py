"""A folder that does not take what is written there."""

from pathlib import Path

import click
import pytest

from tidemark.cli.writing_to import writing_to

FULL = r"there cannot be written to \(No space left on device\): make room there"
REFUSED = r"there cannot be written to \(.*\): name a copy of it where you may write"


def test_a_full_disk_is_told_with_what_to_do() -> None:
    with pytest.raises(click.ClickException, match=FULL), writing_to(Path("there")):
        Path("/dev/full").write_text("x")


def test_what_may_not_be_written_is_told_with_what_to_do() -> None:
    with pytest.raises(click.ClickException, match=REFUSED), writing_to(Path("there")):
        Path("/sys/kernel/tidemark").mkdir()  # which nobody may


def test_another_error_stays_what_it_is() -> None:
    with pytest.raises(FileNotFoundError), writing_to(Path("there")):
        Path("/none/such").mkdir()

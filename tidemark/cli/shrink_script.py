"""``tidemark shrink --script``: what is left as a script, which plays anywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from tidemark.cli.shrink_task import Task
from tidemark.harness.search.shrink import INTERRUPTED as STOPPED
from tidemark.harness.search.shrink import Shrunk

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status


@dataclass(frozen=True, slots=True)
class Scripted:
    """What became of the script, if one was asked for: in how many hard worlds it shows the anomaly, or why there is none."""

    file: Path | None = None
    shown: tuple[int, int] | None = None
    why_not: str = ""

    def to_json(self) -> dict[str, Any]:
        """Nothing, if nobody asked for it."""
        if self.file is None:
            return {}
        return {
            "script": str(self.file) if self.shown else None,
            "script_shown_in_hard_worlds": self.shown,
            "no_script": self.why_not or None,
        }

    def tell(self, console: Console) -> None:
        """In a line or two."""
        if self.shown is not None:
            words = f"  tidemark scenario {quote(str(self.file))}"
            shown, of = self.shown
            console.print(words, soft_wrap=True, highlight=False, markup=False)
            words = f"  shown by that script, and in {shown} of {of} simulated worlds with slow hands and messages"
            console.print(words, soft_wrap=True, highlight=False)
        elif self.why_not:
            console.print(f"  no script: {self.why_not}", soft_wrap=True, highlight=False, markup=False)


def scripted(found: Shrunk, task: Task, file: Path | None, status: Status) -> Scripted:
    """Write the script, if it is asked for. That there is none is no failure: the plan stays."""
    if file is None:
        return Scripted()
    if found.ended == STOPPED:
        return Scripted(file, None, "the search was ended by Ctrl-C")
    from tidemark.harness.search.script import NoScriptError, write_script

    name = _script_name(file.stem)
    try:
        written = write_script(
            found.after, task.variant, found.cause, contract=task.contract, name=name, tell=status.update
        )
    except NoScriptError as error:
        return Scripted(file, None, str(error))
    except KeyboardInterrupt:
        return Scripted(file, None, "it was ended by Ctrl-C")
    try:
        file.write_text(written.text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {error.strerror}; choose another with --script") from None
    return Scripted(file, (written.sturdy, written.of))


def _script_name(stem: str) -> str:
    """A name for a script from that of its file."""
    return re.sub(r"[^A-Za-z0-9.+_-]+", "-", stem) or "found-by-hunt"

"""Somebody's commands that break something and mend it, run in a process that outlives who orders them: what was broken is mended,
whatever ends the canary.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

_STRIKE: Final = "strike"
_ENDED: Final = "ended"


class CommandRunner:
    """The process, for who orders the commands.

    Args:
        strike: the shell command that breaks something.
        heal: the one that mends it, if any; it is run when this process ends, however it does, after a strike that was not mended.
        log: where the commands' own words go.
        patience_s: a command that takes longer is ended.

    Raises:
        OSError: the log cannot be written, or no process begun.
    """

    def __init__(self, strike: str, heal: str | None, log: Path, patience_s: float) -> None:
        with log.open("ab") as words:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, strike, heal or "", str(log), str(patience_s)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=words,
                text=True,
                start_new_session=True,
            )

    def run(self, what: Literal["strike", "heal"]) -> int | None:
        """Run one of the two to its end. Its exit code; None if it had to be ended.

        Raises:
            OSError: the process is gone.
        """
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if not answer:
            raise OSError("the process that runs them is gone")
        return None if answer == _ENDED else int(answer)

    def close(self) -> None:
        """Run no more; returns when what is broken is mended."""
        self._process.communicate()


def main(strike: str, heal: str, log: Path, patience_s: float) -> None:
    """Run what is ordered line by line; when nobody can order any more, mend what is broken."""
    is_broken = False
    for line in iter(sys.stdin.readline, ""):
        is_broken = line.strip() == _STRIKE
        code = _carry_out(strike if is_broken else heal, log, patience_s)
        with suppress(BrokenPipeError):
            os.write(sys.stdout.fileno(), f"{_ENDED if code is None else code}\n".encode())
    if is_broken and heal:
        _carry_out(heal, log, patience_s)


def _carry_out(command: str, log: Path, patience_s: float) -> int | None:
    """The exit code; None if it had to be ended."""
    with log.open("ab") as out:
        process = subprocess.Popen(  # noqa: S602 - it is the operator's own command
            command, shell=True, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        try:
            return process.wait(patience_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), float(sys.argv[4]))

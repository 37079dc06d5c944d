"""The command that leaves on a killed node's disk what a power loss would, as far as it is the same for every kind of node.

``--data DIR (--keep N | --seed S)``: exactly the first N batches of each log stay, or what stays is drawn. It prints one line,
``{"t-0": {"batches": {"kept": 2, "lost": 1}, "records": {"kept": 2, "lost": 3}, "torn_bytes": 0}}``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


class CannotKeepError(Exception):
    """A log cannot end where it was asked to."""


def check_keep(name: str, keep: int, *, safe: int, written: int, how_safe: str) -> None:
    """Can so many batches of a log stay?

    Args:
        name: of the partition.
        keep: how many are to stay.
        safe: how many are on disk for certain.
        written: how many there are.
        how_safe: what the safe ones are called.

    Raises:
        CannotKeepError: no.
    """
    if not safe <= keep <= written:
        raise CannotKeepError(
            f"{name} has {written} batches, {safe} of them {how_safe}, so it cannot keep {keep}: keep {safe} to {written}."
        )


class PowerLossCommand:
    """The command line; add to its ``parser`` what one kind of node needs besides.

    Args:
        data: what the directory is, such as ``the broker's data directory``.
        hint: where to find that, for the help.
    """

    def __init__(self, data: str, hint: str = "") -> None:
        """``--data``, and what is to stay."""
        self._data = data
        self.parser = argparse.ArgumentParser(prog="power_loss", description="Leave on disk what a power loss would.")
        self.parser.add_argument("--data", type=Path, required=True, help=f"{data}{hint}")
        fate = self.parser.add_mutually_exclusive_group(required=True)
        fate.add_argument("--keep", type=int, metavar="N", help="the first N batches of each log stay")
        fate.add_argument("--seed", type=int, metavar="S", help="draw what stays")

    def run(
        self,
        arguments: Sequence[str] | None,
        lose_power: Callable[[argparse.Namespace], Mapping[str, Any]],
        *refusals: type[Exception],
    ) -> int:
        """Carry it out.

        Args:
            arguments: of the command line.
            lose_power: does it to all logs, or to none; gives what to print.
            refusals: what it may raise when it will not, beside :class:`CannotKeepError` and ``OSError``.

        Returns:
            0, or 2 with a sentence on standard error.
        """
        given = self.parser.parse_args(arguments)
        refused: tuple[type[Exception], ...] = (CannotKeepError, OSError, *refusals)
        if not given.data.is_dir():
            return _refuse(f"There is no directory {given.data}: give {self._data}.")
        try:
            said = lose_power(given)
        except refused as problem:
            return _refuse(str(problem))
        sys.stdout.write(json.dumps(said) + "\n")
        return 0


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"power_loss: {sentence}\n")
    return 2

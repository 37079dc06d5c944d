"""What a power loss leaves of a program's files: ``python3 -m tidemark.nodes.keeper.power_loss --data FOLDER --ledger FOLDER``.

Prints how many files are otherwise than they were. For a program that is gone, and its keeper with it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tidemark.nodes.keeper.sync_ledger import SyncLedger, UnsureError


def main(arguments: list[str] | None = None) -> int:
    """Lose power; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python3 -m tidemark.nodes.keeper.power_loss", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--ledger", type=Path, required=True)
    asked = parser.parse_args(arguments)
    if not asked.ledger.exists():
        sys.exit("there is no ledger of what was synced")
    try:
        sys.stdout.write(f"{SyncLedger(asked.data, asked.ledger).lose_power()}\n")
    except UnsureError as error:
        sys.exit(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())

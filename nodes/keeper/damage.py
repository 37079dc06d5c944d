"""Damages the files of a program that was killed: ``python3 -m tidemark.nodes.keeper.damage --ledger DIR …``.

As :mod:`tidemark.nodes.admin.damage`. What was damaged lies on the disk, so it is durable as it is: a power loss that comes later
does not take the damage back.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tidemark.nodes.admin.damage import arguments_of, carry_out
from tidemark.nodes.keeper.sync_ledger import SyncLedger


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0, or 2 with a sentence on standard error."""
    parser = arguments_of("damage")
    parser.add_argument("--ledger", type=Path, required=True, help="of what was synced")
    return carry_out(parser, arguments, _durable)


def _durable(asked: argparse.Namespace, struck: Sequence[str]) -> None:
    ledger = SyncLedger(asked.data[0], asked.ledger)
    for name in struck:
        ledger.synced(asked.data[0] / name)


if __name__ == "__main__":
    sys.exit(main())

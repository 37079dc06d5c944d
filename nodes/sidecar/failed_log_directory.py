"""Has a log directory of a broker fail, mends it, or puts an empty one in its place (``python -m``).

The broker may run when it fails, and must not when it is mended: none takes a directory online again while it runs (KIP-112).

What a failed directory holds is put aside, and a file lies in its place: whatever the broker does there by name is an I/O error
(ENOTDIR), also when it starts. What it has open is up to :mod:`tidemark.nodes.sidecar.failing_writes`. Prints JSON: the
``directory``, and of an empty one the partitions whose logs were ``lost`` with the old.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tidemark.nodes.formats.log_directories import BOTH, EMPTY, FAIL, MEND, aside, held
from tidemark.nodes.formats.partition_files import is_partition


class NoneFailedError(Exception):
    """There is nothing to mend."""


def fail(data: Path, partition: str, *, other: bool) -> dict[str, Any]:
    """Have the directory fail in which a partition's log lies (without one, the first), or the other one. If one has failed
    already, that stays the only one.

    Args:
        data: the directory above the two.
        partition: such as ``t-0``.
        other: see above.

    Raises:
        OSError: it does not.
    """
    failed = _failed(data)
    if failed is None:
        home = next((one for one in BOTH if (data / one / partition).is_dir()), BOTH[0])
        failed = data / (BOTH[home == BOTH[0]] if other else home)
        failed.mkdir(parents=True, exist_ok=True)
        failed.rename(aside(failed))
        failed.touch()
    return {"directory": failed.name}


def mend(data: Path, *, emptied: bool) -> dict[str, Any]:
    """What it held is there again, or gone.

    Raises:
        NoneFailedError: none has failed.
        OSError: it cannot be mended.
    """
    failed = _failed(data)
    if failed is None:
        raise NoneFailedError(f"No log directory in {data} has failed.")
    failed.unlink()
    lost: list[str] = []
    if emptied:
        lost = sorted(one.name for one in held(failed).iterdir() if one.is_dir() and is_partition(one.name))
        shutil.rmtree(held(failed))
        failed.mkdir()
    else:
        held(failed).rename(failed)
    return {"directory": failed.name, "lost": lost}


def _failed(data: Path) -> Path | None:
    return next((data / one for one in BOTH if (data / one).is_file()), None)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0, or 2 with a sentence on standard error."""
    parser = argparse.ArgumentParser(prog="failed_log_directory", description=(__doc__ or "").partition(".")[0])
    parser.add_argument("--data", type=Path, required=True, help="the directory above the two log directories")
    parser.add_argument("order", choices=(FAIL, MEND, EMPTY), help="what to do")
    parser.add_argument("--partition", default="", help="one whose log lies in the directory that fails, such as t-0")
    parser.add_argument("--other", action="store_true", help="the other directory fails")
    given = parser.parse_args(arguments)
    try:
        if given.order == FAIL:
            told = fail(given.data, given.partition, other=given.other)
        else:
            told = mend(given.data, emptied=given.order == EMPTY)
    except (NoneFailedError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{json.dumps(told)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

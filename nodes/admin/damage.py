"""Damages the files of a node whose process was killed, before it starts again.

``python3 -m tidemark.nodes.admin.damage --data DIR [--data DIR] --files GLOB [--files GLOB] --how flip-bits|cut-tail --amount N
--which all|half|one --seed S``

Files are named by their path below a directory. Where two directories have one, as that of a page cache and that of a disk, one is
the beginning of the other: the same bits are flipped in both, and both end at the same place. What counts of a file ends with its
last byte that is not zero: many programs allocate more than they write, and a bit that is flipped there strikes nothing.

Everything is drawn from the seed: which files, in the order of their names; and of each the bits, as shares of its size.

Prints one line: ``[{"file": "t-0/00000000000000000000.log", "bytes": 4096, "bits": [77, 20000]}, {"file": …, "cut": 300}]``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tidemark.nodes.core.damage import CUT_TAIL, HOWS, WHICH, cut_at, draw_bits, draw_files

_CHUNK = 1 << 20
_MOST_TOLD = 20
"""So many bits of a file are told one by one."""


def damage(
    directories: Sequence[Path], globs: Sequence[str], how: str, amount: int, which: str, seed: str
) -> list[dict[str, Any]]:
    """Do it.

    Args:
        directories: of the node.
        globs: what its data files are called below them.
        how: what is done (:mod:`tidemark.nodes.core.damage`).
        amount: how much of it.
        which: to which of the files.
        seed: where draws come from.

    Returns:
        What was done to each file.

    Raises:
        OSError: a file could not be read or written.
    """
    sizes = _written(directories, globs)
    noise = Random(seed)
    told: list[dict[str, Any]] = []
    for name in draw_files(noise.random, sorted(sizes), which):
        size, copies = sizes[name], [there for one in directories if (there := one / name).is_file()]
        if how == CUT_TAIL:
            end = cut_at(size, amount)
            for copy in copies:
                os.truncate(copy, min(end, copy.stat().st_size))
            told.append({"file": name, "bytes": size, "cut": size - end})
        else:
            bits = draw_bits(noise.random, size, amount)
            for copy in copies:
                _flip(copy, bits)
            told.append({"file": name, "bytes": size, "bits": bits[:_MOST_TOLD], "flipped": len(bits)})
    return told


def _written(directories: Sequence[Path], globs: Sequence[str]) -> dict[str, int]:
    """File → so many bytes of it count; those of which none does are left out."""
    found: dict[str, int] = {}
    for directory in directories:
        for glob in globs:
            for path in directory.glob(glob):
                if path.is_file() and not path.is_symlink():
                    name = str(path.relative_to(directory))
                    found[name] = max(found.get(name, 0), _end(path))
    return {name: size for name, size in found.items() if size}


def _end(path: Path) -> int:
    """Behind the last byte that is not zero."""
    with path.open("rb") as file:
        at = file.seek(0, os.SEEK_END)
        while at:
            begin = max(at - _CHUNK, 0)
            file.seek(begin)
            rest = file.read(at - begin).rstrip(b"\0")
            if rest:
                return begin + len(rest)
            at = begin
    return 0


def _flip(path: Path, bits: Sequence[int]) -> None:
    """Flip these bits, as far as the file goes."""
    fd = os.open(path, os.O_RDWR)
    try:
        for bit in bits:
            byte = os.pread(fd, 1, bit // 8)
            if byte:
                os.pwrite(fd, bytes([byte[0] ^ 1 << bit % 8]), bit // 8)
    finally:
        os.close(fd)


def arguments_of(program: str) -> argparse.ArgumentParser:
    """What the command is told."""
    parser = argparse.ArgumentParser(prog=program, description="Damage the files of a node whose process was killed.")
    parser.add_argument("--data", type=Path, action="append", required=True, help="a directory of the node")
    parser.add_argument("--files", action="append", required=True, metavar="GLOB", help="its data files, below that")
    parser.add_argument("--how", choices=HOWS, required=True)
    parser.add_argument("--amount", type=int, required=True, help="bits in each file, or thousandths of each")
    parser.add_argument("--which", choices=WHICH, required=True, help="which of the files")
    parser.add_argument("--seed", required=True, help="where draws come from")
    return parser


def carry_out(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    then: Callable[[argparse.Namespace, Sequence[str]], None] = lambda _asked, _struck: None,
) -> int:
    """The command; 0, or 2 with a sentence on standard error.

    Args:
        parser: see :func:`arguments_of`.
        arguments: of the command line.
        then: told what was asked, and the files that were struck.
    """
    asked = parser.parse_args(arguments)
    try:
        told = damage(asked.data, asked.files, asked.how, asked.amount, asked.which, asked.seed)
        then(asked, [one["file"] for one in told])
    except OSError as problem:
        sys.stderr.write(f"{parser.prog}: {problem}\n")
        return 2
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(carry_out(arguments_of("damage"), None))

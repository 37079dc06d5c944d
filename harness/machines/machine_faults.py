"""Faults of a machine: a full disk, a slow one, a clock that jumps. Each is verified, and so is each healing."""

from __future__ import annotations

import time
from shlex import quote
from typing import TYPE_CHECKING

from tidemark.harness.machines.errors import NodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.harness.machines.node_control import NodeControl

BALLAST = ".ballast"
_PAGE = 4096
_ROUNDS = 10
CLOCK_S = 5.0
"""libfaketime looks at its file once a second."""
CLOCK_SLACK_US = 300_000
_LOOK_S = 0.05


def fill_disk(control: NodeControl) -> None:
    """Fill the file system of the node's logs with a file of ballast.

    What the logs' last pages still have room for can be written (up to 4 KB a file); then writes fail. A program that deletes a
    file meanwhile, as etcd does with one that it had made room for, makes room again, which is filled too.

    Raises:
        NodeError: it is no tmpfs (whose filling could hurt others), or it is not full afterwards.
    """
    volatile = quote(control.places.volatile)
    script = f"""
[ "$(stat -f -c %T {volatile})" = tmpfs ] || {{ echo "is not a tmpfs"; exit 0; }}
cd {volatile} || exit
fallocate -l "$(df --output=avail -B1 . | tail -n 1 | tr -d ' ')" {BALLAST} 2>/dev/null
for round in $(seq {_ROUNDS}); do
dd if=/dev/zero of={BALLAST} oflag=append conv=notrunc bs={_PAGE} 2>/dev/null
left="$(df --output=avail -B1 . | tail -n 1)"
[ "$left" -lt {_PAGE} ] && break
done
echo "$left"
"""
    said = control.run(script, to="fill the disk").strip()
    if not said.isdecimal() or int(said) >= _PAGE:
        left = f"still has {said} bytes of room" if said.isdecimal() else said
        raise NodeError(f"{control.name}: the disk cannot be filled: {control.places.volatile} {left}")


def free_disk(control: NodeControl) -> None:
    """Take the ballast away.

    Raises:
        NodeError: there is no room afterwards.
    """
    volatile = quote(control.places.volatile)
    script = f"rm -f {volatile}/{BALLAST} && df --output=avail -B1 {volatile} | tail -n 1"
    said = control.run(script, to="make room on the disk").strip()
    if not said.isdecimal() or int(said) < _PAGE:
        raise NodeError(f"{control.name}: {control.places.volatile} is still full without the ballast")


def slow_disk(control: NodeControl, delay_us: int) -> None:
    """Every write and sync of the process first takes so long; 0 heals.

    Raises:
        NodeError: the process does not say so afterwards.
    """
    control.admin.ask("slow-disk", delay_us=delay_us)
    now = control.status().get("slow_disk_us")
    if now != delay_us:
        raise NodeError(f"{control.name}: its disk is slow by {now} µs, and should be by {delay_us}")


def write_clock(control: NodeControl, offset_us: int) -> None:
    """Set the offset of the wall clock that a process under libfaketime sees, within a second.

    Raises:
        NodeError: the file cannot be written.
    """
    path = quote(control.places.faketime)
    wanted = clock_text(offset_us)
    if control.run(f"echo '{wanted}' >{path} && cat {path}", to="set the clock").strip() != wanted:
        raise NodeError(f"{control.name}: the offset of its clock cannot be set in {control.places.faketime}")


def clock_text(offset_us: int) -> str:
    """The offset as libfaketime has it: seconds with a sign, such as ``+1.5`` or ``-30``."""
    sign = "-" if offset_us < 0 else "+"
    seconds, rest = divmod(abs(offset_us), 1_000_000)
    return f"{sign}{seconds}" + (f".{rest:06}".rstrip("0") if rest else "")


def wall_ahead_us(control: NodeControl) -> int:
    """By how much the process's wall clock is ahead of its monotonic one.

    Raises:
        NodeError: the process does not answer.
    """
    status = control.status()
    return int(status["wall_us"]) - int(status["mono_us"])


def wait_for_clock(control: NodeControl, ahead_us: Callable[[], int]) -> None:
    """Wait until the process sees its wall clock so much ahead of its monotonic one.

    Raises:
        NodeError: it does not in time.
    """
    deadline = time.monotonic() + CLOCK_S
    while abs(off := wall_ahead_us(control) - ahead_us()) > CLOCK_SLACK_US:
        if time.monotonic() > deadline:
            raise NodeError(
                f"{control.name}: its clock is {off / 1e6:+.1f} s from where a clock fault should have put it"
            )
        time.sleep(_LOOK_S)

"""What dockerd adds to the host's network and leaves there when it ends: iptables chains, a forwarding policy, a bridge.

An engine that was started for a test session must leave nothing behind. Only what came with it, and bears Docker's name, is
taken out: rules that others made meanwhile stay.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

BRIDGE = "docker0"


class HostNetwork(NamedTuple):
    """The host's network as it was: table → lines of iptables-save, and whether Docker's bridge was there.

    Attributes:
        prefix: a command to run iptables and ip by, such as ``ip netns exec NAME``.
    """

    prefix: tuple[str, ...]
    tables: dict[str, list[str]]
    had_bridge: bool

    @staticmethod
    def remember(prefix: Sequence[str] = ()) -> HostNetwork:
        """Look at it now."""
        prefix = tuple(prefix)
        return HostNetwork(prefix, _tables(prefix), bool(_run(prefix, "ip", "link", "show", BRIDGE)))

    def restore(self) -> None:
        """Take out what has Docker's name and was not there."""
        for table, lines in _tables(self.prefix).items():
            before = self.tables.get(table, [])
            chains = [line.split()[0][1:] for line in lines if line.startswith(":DOCKER")]
            added = [chain for chain in chains if not any(line.split()[0] == f":{chain}" for line in before)]
            for line in lines:
                if line.startswith("-A") and line not in before and ("DOCKER" in line or BRIDGE in line):
                    _run(self.prefix, "iptables", "-w", "-t", table, "-D", *line.split()[1:])
            for chain in added:
                _run(self.prefix, "iptables", "-w", "-t", table, "-F", chain)
            for chain in added:
                _run(self.prefix, "iptables", "-w", "-t", table, "-X", chain)
            if table == "filter" and _policy(lines) != _policy(before):
                _run(self.prefix, "iptables", "-w", "-P", "FORWARD", _policy(before))
        if not self.had_bridge:
            _run(self.prefix, "ip", "link", "delete", BRIDGE)


def _policy(lines: list[str]) -> str:
    """Of the chain FORWARD, which dockerd sets to DROP."""
    return next((line.split()[1] for line in lines if line.startswith(":FORWARD ")), "ACCEPT")


def _tables(prefix: Sequence[str]) -> dict[str, list[str]]:
    tables: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in _run(prefix, "iptables-save").splitlines():
        if line.startswith("*"):
            lines = tables[line[1:]] = []
        elif line.startswith((":", "-A")):
            lines.append(line)
    return tables


def _run(prefix: Sequence[str], *command: str) -> str:
    """What a command prints; nothing if it fails or is not there: then there is nothing to take out either."""
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run([*prefix, *command], capture_output=True, text=True, timeout=30, check=False)
    return done.stdout if done.returncode == 0 else ""

"""The configuration of a keeper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tidemark.nodes.admin.config_file import Address, Entries, address

if TYPE_CHECKING:
    from collections.abc import Mapping


class KeeperConfig(NamedTuple):
    """What a keeper is told.

    Attributes:
        node: its id. incarnation: which start of the node it is, from 1.
        admin: where to listen. trace: JSON lines. process: file for the program's number and start time.
        output: file of what the program prints, to which it is appended.
        data, ledger: the directory that the program writes to, and where the ledger of what it synced is kept; None: nowhere.
        argv, env, files: the program: what to run, what is added to its environment, path → text to write before it starts.
        ready: when it is: a regular expression found in what it prints, or a port at which it listens; at once if neither.
    """

    node: int
    incarnation: int
    admin: Address
    trace: Path
    process: Path
    output: Path
    data: Path
    ledger: Path | None
    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]
    ready: str
    ready_port: int

    @classmethod
    def from_json(cls, data: object) -> KeeperConfig:
        """Check plain values.

        Raises:
            ConfigError: one of them cannot be.
        """
        entries = Entries(data)
        config = cls(
            entries.number("node", 1),
            entries.number("incarnation", 1),
            address(entries.text("admin"), "admin"),
            entries.path("trace"),
            entries.path("process"),
            entries.path("output"),
            entries.path("data"),
            entries.optional_path("ledger"),
            tuple(entries.texts("argv", empty=True)),
            entries.mapping("env", optional=True),
            entries.mapping("files", optional=True),
            "".join(entries.texts("ready")),
            entries.number("ready_port", 0, 0),
        )
        entries.nothing_left()
        return config

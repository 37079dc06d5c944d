"""Where a node's files are on its machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Places:
    """Paths on the machine of a node, all below ``root``.

    Attributes:
        data: what was fsynced. volatile: a tmpfs that stands for the page cache.
        trace: JSON lines. log: what the process prints.
    """

    root: str = "/"

    def _at(self, path: str) -> str:
        return str(PurePosixPath(self.root) / path)

    @property
    def config(self) -> str:
        """The process's configuration."""
        return self._at("etc/tidemark/node.json")

    @property
    def faketime(self) -> str:
        """The offset that libfaketime reads."""
        return self._at("run/tidemark/clock")

    @property
    def faketime_library(self) -> str:
        """What to preload for it."""
        return self._at("opt/tidemark/libfaketime.so.1")

    @property
    def data(self) -> str:
        """Directory."""
        return self._at("var/lib/tidemark/data")

    @property
    def volatile(self) -> str:
        """Directory."""
        return self._at("var/lib/tidemark/volatile")

    @property
    def more(self) -> tuple[str, ...]:
        """Further directories with what a run leaves."""
        return ()

    @property
    def trace(self) -> str:
        """File."""
        return self._at("var/log/tidemark/trace.jsonl")

    @property
    def log(self) -> str:
        """File."""
        return self._at("var/log/tidemark/node.log")

    @property
    def pid(self) -> str:
        """File with the process's number and its start time."""
        return self._at("run/tidemark/node.pid")

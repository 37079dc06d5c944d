"""What the process of a node needs before it can begin: its configuration, the addresses it listens at, and an event loop."""

from __future__ import annotations

import argparse
import asyncio
import logging
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.nodes.admin.config_file import Address


class CannotStartError(Exception):
    """Something the node needs cannot be had; the message says what."""


def configuration_file(arguments: list[str] | None, module: str, description: str, speaker: str = "") -> Path:
    """The file that the command line names with ``--config``; from here on what is logged goes to standard error.

    Args:
        arguments: of the command line; the process's own unless told.
        module: what is run.
        description: for ``--help``.
        speaker: stands before each line that is logged.
    """
    parser = argparse.ArgumentParser(prog=f"python3 -m {module}", description=description)
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="the node's configuration (JSON)")
    path: Path = parser.parse_args(arguments).config
    logging.basicConfig(format=f"%(asctime)s {speaker}%(message)s", level=logging.INFO, stream=sys.stderr)
    return path


def bind(address: Address) -> socket.socket:
    """A bound socket, before anything else is touched: a node that cannot listen must not use up its clean-shutdown mark.

    Raises:
        CannotStartError: the address cannot be had.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
    except OSError as e:
        bound.close()
        raise CannotStartError(f"cannot listen on {address}: {e.strerror}") from e
    return bound


def new_loop() -> asyncio.AbstractEventLoop:
    """That of uvloop, where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()

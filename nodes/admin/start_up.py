"""What the process of a node needs before it can begin: the addresses it listens at, and an event loop."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.nodes.admin.config_file import Address


class CannotStartError(Exception):
    """Something the node needs cannot be had; the message says what."""


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

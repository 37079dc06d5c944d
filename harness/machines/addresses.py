"""Addresses for a cluster: a subnet nobody uses here, and ports of this host that stay ours while a container is down."""

from __future__ import annotations

import os
import random
import socket
from ipaddress import IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

POOL = IPv4Network("10.77.0.0/16")
FIRST_HOST = 10
"""The controller's place in its subnet; broker n is n further on."""
PORTS = range(20_000, 32_768)
"""Below what Linux gives to outgoing connections (``ip_local_port_range``, from 32768): such a connection could take the
port of a container that is being killed and started again, and its advertised address would no longer be true."""

_choice = random.Random(f"{os.getpid()} {Path.cwd()}")  # parallel runs should not all try the same one first


def subnets() -> Iterator[IPv4Network]:
    """The subnets of the pool, each once, but for those the host has a route to."""
    routes = _routes()
    candidates = list(POOL.subnets(new_prefix=24))
    _choice.shuffle(candidates)
    for subnet in candidates:
        if not any(subnet.overlaps(route) for route in routes):
            yield subnet


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on now. Another process may take one before we do: be ready to ask again.

    Raises:
        OSError: there are not that many.
    """
    found: list[int] = []
    for port in _choice.sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise OSError(f"fewer than {count} free ports from {PORTS.start} to {PORTS.stop - 1}")


def _routes() -> list[IPv4Network]:
    """Subnets the host has routes to, but for the default one; none where there is no /proc."""
    try:
        lines = Path("/proc/net/route").read_text().splitlines()[1:]
    except OSError:
        return []
    routes = []
    for line in lines:
        fields = line.split()
        address, mask = (int.from_bytes(bytes.fromhex(fields[i]), "little") for i in (1, 7))
        if mask:
            routes.append(IPv4Network((address, mask.bit_count())))
    return routes

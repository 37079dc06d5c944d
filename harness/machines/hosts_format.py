"""Machines that exist already, from a hosts file: one line for each, the first of them the controller's.

::

    # name or address   what else there is to know, in any order
    ctl.lab             user=root port=22
    10.1.0.11           key=~/.ssh/lab inner=192.168.7.11
    10.1.0.12           key=~/.ssh/lab inner=192.168.7.12 advertise=127.0.0.1:40002

=============  =====================================  =========================================================
entry          means                                  without it
=============  =====================================  =========================================================
``user``       who logs in; must be root there        ``root``
``port``       of sshd                                22
``key``        file of the private key                the SSH agent's, and the usual ones in ``~/.ssh``
``inner``      IPv4 address that other nodes use      the name or address; a name is looked up on the controller
``advertise``  ``ADDRESS:PORT`` that clients here     the name or address, and port 19092
               dial; must lead to port 19092 there
``hostkey``    ``SHA256:…``, the fingerprint that its   a key of ``~/.ssh/known_hosts``; who is not in
               key must have, or ``unchecked``        there is refused
=============  =====================================  =========================================================
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tidemark.harness.machines.errors import HostsFileError
from tidemark.harness.machines.host_trust import UNCHECKED
from tidemark.harness.machines.machine import HOST_PORT

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRIES = ("user", "port", "key", "inner", "advertise", "hostkey")
_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}=?")
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class Host(NamedTuple):
    """A line of a hosts file; ``inner`` is empty where it must be looked up."""

    line: int
    name: str
    user: str = "root"
    port: int = 22
    key: str | None = None
    inner: str = ""
    advertised_host: str = ""
    advertised_port: int = HOST_PORT
    host_key: str = ""


def read_hosts(path: Path) -> list[Host]:
    """The machines in a file, in its order: controller, brokers 1, 2, 3 …

    Raises:
        HostsFileError: it cannot be read, or one of its lines; the message says which and why.
    """
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise HostsFileError(f"cannot read the hosts file {path}: {why}") from None
    hosts: list[Host] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            host = _host(number, words)
            _check_new(host, hosts)
        except ValueError as error:
            raise HostsFileError(f"{path}, line {number}: {error}") from None
        hosts.append(host)
    if len(hosts) < 2:
        raise HostsFileError(
            f"{path} names {len(hosts)} machines; a controller (first) and at least one broker are needed"
        )
    return hosts


def _host(line: int, words: list[str]) -> Host:
    name, *entries = words
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name or address (a line begins with one)")
    host = Host(line, name, inner=name if _is_address(name) else "", advertised_host=name)
    seen = set()
    for entry in entries:
        key, equals, value = entry.partition("=")
        if key not in ENTRIES or not equals:
            raise ValueError(f"{entry!r} is not understood; possible are {', '.join(f'{known}=' for known in ENTRIES)}")
        if not value or key in seen:
            raise ValueError(f"{key}= must have one value")
        seen.add(key)
        host = _READ[key](host, value)
    return host


def _user(host: Host, value: str) -> Host:
    if not _USER.fullmatch(value):
        raise ValueError(f"user={value} is no user's name")
    return host._replace(user=value)


def _port(host: Host, value: str) -> Host:
    return host._replace(port=_port_number(value))


def _key(host: Host, value: str) -> Host:
    path = Path(value).expanduser()
    if not path.is_file():
        raise ValueError(f"the key file {value} is not there")
    return host._replace(key=str(path))


def _inner(host: Host, value: str) -> Host:
    if not _is_address(value):
        raise ValueError(f"inner={value} is no IPv4 address")
    return host._replace(inner=value)


def _advertise(host: Host, value: str) -> Host:
    address, colon, port = value.rpartition(":")
    if not colon or not _NAME.fullmatch(address):
        raise ValueError(f"advertise={value} must be ADDRESS:PORT")
    return host._replace(advertised_host=address, advertised_port=_port_number(port))


def _host_key(host: Host, value: str) -> Host:
    if value != UNCHECKED and not _FINGERPRINT.fullmatch(value):
        raise ValueError(
            f"hostkey={value} must be SHA256:… as ssh-keygen -lf prints it, or {UNCHECKED}, which believes whoever answers there"
        )
    return host._replace(host_key=value.rstrip("="))


_READ: dict[str, Callable[[Host, str], Host]] = {
    "user": _user,
    "port": _port,
    "key": _key,
    "inner": _inner,
    "advertise": _advertise,
    "hostkey": _host_key,
}


def _port_number(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65_536:
        raise ValueError(f"{text} is no port")
    return int(text)


def _is_address(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def _check_new(host: Host, others: list[Host]) -> None:
    """Two nodes on one machine would share files and ports."""
    for other in others:
        if (other.name, other.port) == (host.name, host.port):
            raise ValueError(f"the machine of line {other.line} again; each node needs one of its own")
        if host.inner and other.inner == host.inner:
            raise ValueError(f"the inner address of line {other.line} again")
        if (other.advertised_host, other.advertised_port) == (host.advertised_host, host.advertised_port):
            raise ValueError(f"the advertised address of line {other.line} again")

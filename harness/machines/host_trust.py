"""By which key a machine is known, and what is done with one that shows another, or that nobody knows: nothing is sent there.

Commands of root follow, so a machine is believed only by a key that somebody vouched for: one of ``~/.ssh/known_hosts``, whatever
its kind, or the fingerprint that the hosts file names. ``hostkey=unchecked`` there gives that up for a machine.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import paramiko

from tidemark.harness.machines.errors import NodeError

UNCHECKED: Final = "unchecked"
"""In the hosts file: whoever answers at the address is believed, and gets what is sent there, commands of root included."""

_RSA: Final = ("rsa-sha2-512", "rsa-sha2-256", "ssh-rsa")
"""Ways to sign with a key of the kind ``ssh-rsa``."""


class HostTrust(NamedTuple):
    """For one machine: what is known of hosts, and what the hosts file says of its key (nothing, a fingerprint, ``unchecked``)."""

    known: paramiko.HostKeys
    host_key: str = ""

    def ask_for_known_kinds(self, transport: paramiko.Transport, place: str) -> None:
        """Have the machine show a key of a kind that it is known by, if it has one: ssh does the same."""
        kinds = self._kinds(place)
        options = transport.get_security_options()
        wanted = [name for name in options.key_types if name in kinds or (name in _RSA and "ssh-rsa" in kinds)]
        options.key_types = (*wanted, *(name for name in options.key_types if name not in wanted))

    def check(self, shown: paramiko.PKey, name: str, place: str) -> None:
        """Whether the key that a machine shows is one that it is known by.

        Args:
            shown: the key.
            name: what errors call the machine.
            place: how ``known_hosts`` calls it.

        Raises:
            NodeError: it is not; the message says what to do.
        """
        if self.host_key == UNCHECKED:
            return
        if self.host_key:
            if str(shown.fingerprint) != self.host_key:
                raise NodeError(
                    f"{name} shows an SSH host key with the fingerprint {shown.fingerprint}, and the hosts file says "
                    f"{self.host_key}"
                )
            return
        kinds = self._kinds(place)
        if not kinds:
            raise NodeError(
                f"{name} is not in ~/.ssh/known_hosts, and shows the key {shown.fingerprint}: if that is its key, connect to it "
                f"once with ssh, or write hostkey={shown.fingerprint} into its line of the hosts file"
            )
        if shown.get_name() not in kinds:
            raise NodeError(
                f"{name} shows an SSH host key of the kind {shown.get_name()}, and is known by {', '.join(sorted(kinds))} only: "
                f"if it has this key as well, write hostkey={shown.fingerprint} into its line of the hosts file"
            )
        if kinds[shown.get_name()] != shown:
            raise NodeError(
                f"{name} shows another SSH host key than the known one; if it was reinstalled, run: ssh-keygen -R '{place}'"
            )

    def _kinds(self, place: str) -> dict[str, paramiko.PKey]:
        found = self.known.lookup(place)
        return {} if found is None else {kind: found[kind] for kind in found.keys()}  # noqa: SIM118 - it has no __iter__ of kinds


def known_hosts() -> paramiko.HostKeys:
    """What the person's ssh knows of hosts; nothing if there is no such file, or one that cannot be read."""
    keys = paramiko.HostKeys()
    with suppress(OSError, paramiko.SSHException):
        keys.load(str(Path("~/.ssh/known_hosts").expanduser()))
    return keys

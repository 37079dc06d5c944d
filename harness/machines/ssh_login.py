"""The way to an SSH connection: socket, host key, authentication."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING, NamedTuple

import paramiko

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.host_trust import HostTrust
from tidemark.harness.machines.ssh_keys import keys_of_user, read_key

if TYPE_CHECKING:
    from collections.abc import Iterator

# Without a handler of its own paramiko's complaints, each with a traceback, would reach the terminal by logging's last
# resort. What matters of them is in the errors raised here.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

KEEPALIVE_S = 5
BROKEN = (paramiko.SSHException, OSError, EOFError)
"""What paramiko raises when a connection cannot be made, or is lost."""


class Login(NamedTuple):
    """Where to go and who to be; the fields are those of :class:`tidemark.harness.machines.ssh.Shell`."""

    host: str
    port: int
    user: str
    name: str
    pkey: paramiko.PKey | None
    key_filename: str | None
    trust: HostTrust | None

    def transport(self, timeout_s: float) -> paramiko.Transport:
        """A new, authenticated connection.

        Raises:
            NodeError: the key is refused, or the host does not show a key that it is known by.
            Exception: one of ``BROKEN``; worth another try.
        """
        sock = socket.create_connection((self.host, self.port), timeout=timeout_s)
        transport = None
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            transport = paramiko.Transport(sock)
            transport.daemon = True
            transport.banner_timeout = transport.auth_timeout = timeout_s
            place = self.host if self.port == paramiko.config.SSH_PORT else f"[{self.host}]:{self.port}"
            if self.trust is not None:
                self.trust.ask_for_known_kinds(transport, place)
            transport.start_client(timeout=timeout_s)
            if self.trust is not None:
                self.trust.check(transport.get_remote_server_key(), self.name, place)
            self._authenticate(transport)
            transport.set_keepalive(KEEPALIVE_S)
        except BaseException:
            if transport is not None:
                transport.close()
            sock.close()
            raise
        return transport

    def _authenticate(self, transport: paramiko.Transport) -> None:
        for key in self._keys():
            try:
                transport.auth_publickey(self.user, key)
                return
            except paramiko.AuthenticationException:
                continue
        raise NodeError(f"{self.name} lets user {self.user} in with none of the SSH keys tried")

    def _keys(self) -> Iterator[paramiko.PKey]:
        if self.pkey is not None:
            yield self.pkey
        elif self.key_filename is not None:
            yield read_key(self.key_filename)
        else:
            yield from keys_of_user()


def words(error: BaseException) -> str:
    """What went wrong, for the end of a sentence."""
    if isinstance(error, paramiko.ChannelException):
        return str(error.args[1] if len(error.args) > 1 else error)
    if isinstance(error, EOFError) or not str(error):
        return "the other end closed it"
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).rstrip(".")

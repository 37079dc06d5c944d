"""One SSH connection to a node: commands, small files, and channels to ports inside it.

Measured with a container on the same machine: a command takes 4 ms with TCP_NODELAY on the transport's socket, 49 ms
without (each request is several small packets, and Nagle's algorithm holds the later ones back).
"""

from __future__ import annotations

import shlex
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Self

import paramiko

from tidemark.harness.machines.errors import CommandFailed, CommandTimeout, NodeError, NodeUnreachable
from tidemark.harness.machines.host_trust import HostTrust
from tidemark.harness.machines.ssh_login import BROKEN, Login, words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

CONNECT_TIMEOUT_S = 15.0
COMMAND_TIMEOUT_S = 30.0
RETRY_PAUSE_S = 0.05
CHUNK = 1 << 16
SESSIONS = 8
"""Commands at the same time on one connection: sshd allows 10 (``MaxSessions``) unless it is told otherwise."""

_HERE = ("127.0.0.1", 0)  # where a forwarded connection says it comes from


class Result(NamedTuple):
    """What a command printed, decoded as UTF-8, and its exit code (-1: ended by a signal)."""

    code: int
    out: str
    err: str


class Shell:
    """An SSH connection that is made when first needed, and made again once when it turns out to be lost.

    Several threads may use one shell; their commands run side by side.
    """

    def __init__(
        self,
        host: str,
        port: int,
        user: str = "root",
        *,
        name: str = "",
        pkey: paramiko.PKey | None = None,
        key_filename: str | None = None,
        trust: HostTrust | None = None,
    ) -> None:
        """Remember where to go; nothing is sent yet.

        Args:
            host: name or address.
            port: of its sshd.
            user: to log in as.
            name: what errors call the node.
            pkey: private key, or
            key_filename: the file that holds it; without either, the SSH agent and the usual files in ``~/.ssh``.
            trust: which key the host must show; without it, any: for containers of our own, on this machine.
        """
        self.host = host
        self.port = port
        self.user = user
        self.name = name or f"{host}:{port}"
        self._login = Login(host, port, user, self.name, pkey, key_filename, trust)
        self._transport: paramiko.Transport | None = None
        self._lock = threading.Lock()
        self._sessions = threading.BoundedSemaphore(SESSIONS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------- connection

    def connect(self, timeout_s: float = CONNECT_TIMEOUT_S) -> None:
        """Make the connection if there is none, trying again until the time is over: a sshd may be just starting.

        Raises:
            NodeUnreachable: no connection within the time.
            NodeError: the host refuses the key, or shows another host key than the known one.
        """
        self._connected(timeout_s)

    def close(self) -> None:
        """End the connection; the next command makes a new one."""
        with self._lock:
            self._drop()

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection that is not known to be broken."""
        transport = self._transport
        return transport is not None and transport.is_active()

    def _connected(self, timeout_s: float = CONNECT_TIMEOUT_S) -> paramiko.Transport:
        with self._lock:
            if self._transport is not None and self._transport.is_active():
                return self._transport
            self._drop()
            deadline = time.monotonic() + timeout_s
            while True:
                try:
                    self._transport = self._login.transport(max(0.1, deadline - time.monotonic()))
                    return self._transport
                except BROKEN as error:
                    if time.monotonic() + RETRY_PAUSE_S >= deadline:
                        raise NodeUnreachable(
                            f"no SSH connection to {self.name} ({self.host}:{self.port}) within {timeout_s:g} s: {words(error)}"
                        ) from None
                time.sleep(RETRY_PAUSE_S)

    def _drop(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            sock = transport.sock
            transport.close()
            sock.close()

    def _lost(self, transport: paramiko.Transport) -> None:
        """Forget a connection that proved broken, unless another thread has replaced it."""
        with self._lock:
            if self._transport is transport:
                self._drop()

    # --------------------------------------------------------------------------------------------------- commands

    def run(
        self,
        command: str,
        *,
        timeout_s: float = COMMAND_TIMEOUT_S,
        check: bool = True,
        stdin: bytes | str | None = None,
    ) -> Result:
        """Run a command by the user's login shell and wait for its end.

        A command ends when everything that holds its output has: send a daemon's output elsewhere.

        Args:
            command: shell text.
            timeout_s: how long it may take.
            check: raise if it ends with another exit code than 0.
            stdin: what it reads; else end of file at once.

        Raises:
            NodeUnreachable: no connection, or it broke under way. CommandTimeout: too slow. CommandFailed: see ``check``.
        """
        code, out, err = self._execute(command, timeout_s, stdin.encode() if isinstance(stdin, str) else stdin)
        result = Result(code, out.decode(errors="replace"), err.decode(errors="replace"))
        if check and code:
            raise _failed(self.name, command, result)
        return result

    def put(self, path: str, content: bytes, mode: int = 0o644, *, timeout_s: float = COMMAND_TIMEOUT_S) -> None:
        """Write a file in one piece: a reader sees the old content or the new, never a part.

        Raises:
            NodeError: as :meth:`run`.
        """
        target, new = shlex.quote(path), shlex.quote(f"{path}.new")
        self.run(
            f"umask 077 && cat >{new} && chmod {mode:04o} {new} && mv -f {new} {target}",
            stdin=content,
            timeout_s=timeout_s,
        )

    def get(self, path: str, *, timeout_s: float = COMMAND_TIMEOUT_S) -> bytes:
        """A file's content.

        Raises:
            NodeError: as :meth:`run`; the file is not there.
        """
        command = f"cat {shlex.quote(path)}"
        code, out, err = self._execute(command, timeout_s, None)
        if code:
            raise _failed(self.name, command, Result(code, "", err.decode(errors="replace")))
        return out

    def lines(self, command: str) -> Iterator[str]:
        """Run a command that prints as it goes, such as ``tail -F``; gives lines until it ends or the caller stops.

        Raises:
            NodeUnreachable: no connection.
        """
        with self._session() as channel:
            channel.exec_command(command)
            rest = b""
            while data := channel.recv(CHUNK):
                *whole, rest = (rest + data).split(b"\n")
                for line in whole:
                    yield line.decode(errors="replace")
            if rest:
                yield rest.decode(errors="replace")

    def channel(self, host: str, port: int, *, timeout_s: float = CONNECT_TIMEOUT_S) -> paramiko.Channel:
        """A connection to a port as the node sees it (``direct-tcpip``); works like a socket, and the caller closes it.

        Raises:
            NodeUnreachable: no SSH connection. NodeError: nobody listens at that port.
        """
        try:
            return self._open("direct-tcpip", (host, port), timeout_s)
        except paramiko.ChannelException as error:
            raise NodeError(f"{self.name}: no connection to port {port} of {host} there: {words(error)}") from None

    @contextmanager
    def _session(self) -> Iterator[paramiko.Channel]:
        with self._sessions:
            try:
                channel = self._open("session", None, CONNECT_TIMEOUT_S)
            except paramiko.ChannelException as error:
                raise NodeUnreachable(f"{self.name} refuses another SSH session: {words(error)}") from None
            try:
                yield channel
            finally:
                channel.close()

    def _open(self, kind: str, destination: tuple[str, int] | None, timeout_s: float) -> paramiko.Channel:
        """Open a channel; a connection found to be lost is made anew once, as nothing was asked on it yet."""
        transport = self._connected()
        try:
            return transport.open_channel(kind, destination, _HERE, timeout=timeout_s)
        except paramiko.ChannelException:
            raise
        except BROKEN:
            self._lost(transport)
        transport = self._connected()
        try:
            return transport.open_channel(kind, destination, _HERE, timeout=timeout_s)
        except paramiko.ChannelException:
            raise
        except BROKEN as error:
            self._lost(transport)
            raise NodeUnreachable(f"the SSH connection to {self.name} broke: {words(error)}") from None

    def _execute(self, command: str, timeout_s: float, stdin: bytes | None) -> tuple[int, bytes, bytes]:
        with self._session() as channel:
            late = threading.Event()

            def give_up() -> None:
                late.set()
                channel.close()  # ends every wait below

            watchdog = threading.Timer(timeout_s, give_up)
            watchdog.daemon = True
            watchdog.start()
            try:
                out, err = _converse(channel, command, stdin)
            except BROKEN as error:
                if late.is_set():
                    raise _too_slow(self.name, command, timeout_s) from None
                raise NodeUnreachable(
                    f"the SSH connection to {self.name} broke during '{_short(command)}': {words(error)}"
                ) from None
            finally:
                watchdog.cancel()
            if late.is_set():
                raise _too_slow(self.name, command, timeout_s)
            if channel.exit_status == -1 and not self.is_connected:
                raise NodeUnreachable(f"the SSH connection to {self.name} broke during '{_short(command)}'")
            return channel.exit_status, out, err


def _converse(channel: paramiko.Channel, command: str, stdin: bytes | None) -> tuple[bytes, bytes]:
    """Everything a command prints; both of its outputs are read in turns, so that neither can fill up and block it."""
    channel.exec_command(command)
    out, err = bytearray(), bytearray()
    if stdin:
        channel.sendall(stdin)
    channel.shutdown_write()
    channel.settimeout(0.5)
    while True:
        try:
            data = channel.recv(CHUNK)
        except TimeoutError:
            data = None
        while channel.recv_stderr_ready():
            err += channel.recv_stderr(CHUNK)
        if data:
            out += data
        elif data is not None:
            break
    channel.settimeout(None)
    while data := channel.recv_stderr(CHUNK):
        err += data
    channel.status_event.wait()
    return bytes(out), bytes(err)


def _short(command: str) -> str:
    first = command.strip().split("\n")[0]
    return first if len(first) <= 80 else first[:77] + "…"


def _too_slow(name: str, command: str, timeout_s: float) -> CommandTimeout:
    return CommandTimeout(f"{name}: '{_short(command)}' took longer than {timeout_s:g} s")


def _failed(name: str, command: str, result: Result) -> CommandFailed:
    said = (result.err.strip() or result.out.strip() or "it said nothing").split("\n")[-1]
    message = f"{name}: '{_short(command)}' failed with exit code {result.code}: {said}"
    return CommandFailed(message, result.code, result.out, result.err)

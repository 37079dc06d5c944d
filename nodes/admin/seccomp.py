"""Being told of a process's system calls before they are carried out: seccomp's user notification (seccomp(2), Linux 5.5).

A filter that the process inherits over every exec has the kernel ask whoever holds its listener; the process waits in the call.
Static binaries are no exception, nobody needs privileges beyond `no_new_privs`, and calls that nobody asks for cost nothing.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import select
import socket
import struct
from typing import NamedTuple

_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_NO_NEW_PRIVS = 38
_SET_MODE_FILTER, _NEW_LISTENER = 1, 8
_RECV, _SEND, _ID_VALID = 0xC0502100, 0xC0182101, 0x40082102
_CONTINUE = 1
_REQUEST = struct.Struct("QIIiIQ6Q")
_ANSWER = struct.Struct("QqiI")

_LOAD, _JUMP_EQUAL, _JUMP_SET, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_NOTIFY, _ALLOW, _ERROR = 0x7FC00000, 0x7FFF0000, 0x00050000
_ARCHITECTURE, _NUMBER, _FIRST_ARGUMENT = 4, 0, 16
_OTHER_ABI = 0x40000000
"""From here on x86-64 has the calls of its ABI x32."""


class UnknownMachineError(Exception):
    """Nobody has written down the numbers of this machine's system calls."""


class Machine(NamedTuple):
    """A kind of machine: its number for the kernel's audit, and those of its system calls."""

    audit: int
    calls: dict[str, int]


MACHINES = {
    "x86_64": Machine(
        0xC000003E,
        {"fsync": 74, "fdatasync": 75, "sync": 162, "syncfs": 306, "msync": 26, "open": 2, "openat": 257}
        | {"rename": 82, "renameat": 264, "renameat2": 316, "unlink": 87, "unlinkat": 263}
        | {"openat2": 437, "pwritev2": 328, "seccomp": 317, "io_uring_setup": 425, "io_setup": 206},
    ),
    "aarch64": Machine(
        0xC00000B7,
        {"fsync": 82, "fdatasync": 83, "sync": 81, "syncfs": 267, "msync": 227, "openat": 56}
        | {"renameat": 38, "renameat2": 276, "unlinkat": 35}
        | {"openat2": 437, "pwritev2": 287, "seccomp": 277, "io_uring_setup": 425, "io_setup": 0},
    ),
}


class Call(NamedTuple):
    """A call that is about to be carried out.

    Attributes:
        number: of this call. thread: who makes it. name: ``fsync`` and the like. arguments: six numbers.
    """

    number: int
    thread: int
    name: str
    arguments: tuple[int, ...]


class Asked(NamedTuple):
    """A call that is asked about: always, or if one of its arguments has one of some bits."""

    name: str
    argument: int = 0
    bits: int = 0


def this_machine() -> Machine:
    """Its numbers.

    Raises:
        UnknownMachineError: nobody knows them.
    """
    found = MACHINES.get(platform.machine())
    if found is None:
        raise UnknownMachineError(f"the system calls of a {platform.machine()} are not known here")
    return found


def filter_of(machine: Machine, asked: tuple[Asked, ...], refused: tuple[str, ...]) -> bytes:
    """The filter as the kernel takes it: those `asked` about, and those that are answered with ENOSYS."""
    blocks = [
        _op(_LOAD, 0, 0, _ARCHITECTURE) + _op(_JUMP_EQUAL, 1, 0, machine.audit) + _op(_RETURN, 0, 0, _no_such_call()),
        _op(_LOAD, 0, 0, _NUMBER) + _op(_JUMP_AT_LEAST, 0, 1, _OTHER_ABI) + _op(_RETURN, 0, 0, _no_such_call()),
    ]
    blocks += [_op(_JUMP_EQUAL, 0, 1, machine.calls[name]) + _op(_RETURN, 0, 0, _no_such_call()) for name in refused]
    for one in asked:
        if one.name not in machine.calls:
            continue
        if not one.bits:
            blocks.append(_op(_JUMP_EQUAL, 0, 1, machine.calls[one.name]) + _op(_RETURN, 0, 0, _NOTIFY))
            continue
        looked_at = _FIRST_ARGUMENT + 8 * one.argument
        blocks.append(
            _op(_JUMP_EQUAL, 0, 4, machine.calls[one.name])
            + _op(_LOAD, 0, 0, looked_at)
            + _op(_JUMP_SET, 0, 1, one.bits)
            + _op(_RETURN, 0, 0, _NOTIFY)
            + _op(_RETURN, 0, 0, _ALLOW)
        )
    return b"".join(blocks) + _op(_RETURN, 0, 0, _ALLOW)


def _op(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _no_such_call() -> int:
    return _ERROR | errno.ENOSYS


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def put_under(program: bytes, number: int, to: socket.socket) -> None:
    """Put the calling process under a filter, and send the listener away; for a child, before it becomes its program.

    Args:
        program: see :func:`filter_of`.
        number: of the call `seccomp`.
        to: takes the listener.
    """
    text = ctypes.create_string_buffer(program)
    described = _Program(len(program) // 8, ctypes.addressof(text))
    listener = -1
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        listener = _libc.syscall(number, _SET_MODE_FILTER, _NEW_LISTENER, ctypes.byref(described))
    if listener < 0:
        to.send(b"%d" % ctypes.get_errno())
        os._exit(1)
    socket.send_fds(to, [b"0"], [listener])
    os.close(listener)


class Listener:
    """The other end: takes calls, one after the other, and lets them go on.

    Args:
        descriptor: as the child sent it; closed by :meth:`close`.
        machine: whose numbers calls have.
    """

    def __init__(self, descriptor: int, machine: Machine) -> None:
        self._descriptor = descriptor
        self._names = {number: name for name, number in machine.calls.items()}

    @classmethod
    def of_child(cls, end: socket.socket, machine: Machine) -> Listener:
        """The listener that a child has sent.

        Raises:
            OSError: the kernel refused the filter.
        """
        said, descriptors, _, _ = socket.recv_fds(end, 16, 1)
        if not descriptors:
            raise OSError(int(said or b"0"), "the kernel takes no filter of system calls")
        return cls(descriptors[0], machine)

    def next(self) -> Call | None:
        """The next call, waited for; None when all processes under the filter are gone."""
        while True:
            request = bytearray(_REQUEST.size)
            try:
                fcntl.ioctl(self._descriptor, _RECV, request)
            except InterruptedError:
                continue
            except OSError as error:
                if error.errno == errno.ENOENT and not self._is_over():
                    continue  # the call was given up before it could be read
                return None
            number, thread, _, call, _, _, *arguments = _REQUEST.unpack(request)
            return Call(number, thread, self._names.get(call, str(call)), tuple(arguments))

    def _is_over(self) -> bool:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return any(event & select.POLLHUP for _, event in poll.poll(0))

    def is_there(self, call: Call) -> bool:
        """Whether the call still waits: only then what was read of its process was that process's."""
        try:
            fcntl.ioctl(self._descriptor, _ID_VALID, struct.pack("Q", call.number))
        except OSError:
            return False
        return True

    def go_on(self, call: Call) -> None:
        """Let the kernel carry it out."""
        try:
            fcntl.ioctl(self._descriptor, _SEND, bytearray(_ANSWER.pack(call.number, 0, 0, _CONTINUE)))
        except OSError:
            return  # it was given up

    def close(self) -> None:
        """Let go of it; calls that are asked about fail from now on."""
        os.close(self._descriptor)

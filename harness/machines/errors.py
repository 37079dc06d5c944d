"""What goes wrong in the container world. Every message is one sentence that a person can act on."""

from __future__ import annotations


class ContainerWorldError(RuntimeError):
    """Something outside this program refused; the message says what, and what to do."""


class EngineError(ContainerWorldError):
    """There is no Docker engine to use, or it could not be started, stopped or asked."""


class ImageError(ContainerWorldError):
    """The node image could not be built."""


class ClusterError(ContainerWorldError):
    """Containers, network or volumes could not be made or removed."""


class HostsFileError(ContainerWorldError):
    """The hosts file cannot be used; the message names the line."""


class NodeError(ContainerWorldError):
    """An act upon a node could not be carried out or verified."""


class NodeUnreachable(NodeError):  # noqa: N818 - says what it is
    """There is no SSH connection to the node, or it broke; a command under way may or may not have been carried out."""


class NodeSilent(NodeError):  # noqa: N818 - as above
    """A node process was asked over its admin port, and did not answer; what it was asked for may or may not have been done."""


class CommandTimeout(NodeError):  # noqa: N818 - as above
    """A command on a node took longer than it was given; it may still be running there."""


class CommandFailed(NodeError):  # noqa: N818 - as above
    """A command on a node ended with another exit code than 0.

    Attributes:
        code: its exit code, -1 if a signal ended it. out, err: what it printed.
    """

    def __init__(self, message: str, code: int, out: str, err: str) -> None:
        super().__init__(message)
        self.code = code
        self.out = out
        self.err = err

"""SSH keys: a new pair for every cluster, and those of the person who runs this."""

from __future__ import annotations

import os
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import paramiko
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tidemark.harness.machines.errors import NodeError

if TYPE_CHECKING:
    from collections.abc import Iterator

USUAL_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")


class KeyPair(NamedTuple):
    """An ed25519 pair: as paramiko has it, as OpenSSH's files hold it, and as a line of ``authorized_keys``."""

    key: paramiko.PKey
    private: str
    authorised: str

    def save(self, path: Path) -> None:
        """Write the private key where only its owner can read it, as ssh demands."""
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(self.private)


def new_key_pair(comment: str) -> KeyPair:
    """A fresh pair; the comment ends the public line."""
    private = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
    key = paramiko.Ed25519Key.from_private_key(StringIO(private))
    return KeyPair(key, private, f"{key.get_name()} {key.get_base64()} {comment}")


def read_key(path: str | Path) -> paramiko.PKey:
    """The private key in a file.

    Raises:
        NodeError: it is not there, not a key, or has a passphrase (an SSH agent is the way then).
    """
    try:
        return paramiko.PKey.from_path(Path(path).expanduser())
    except (OSError, paramiko.SSHException, ValueError, TypeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "no key without a passphrase in it"
        raise NodeError(f"cannot use the SSH key {path}: {why}") from None


def keys_of_user() -> Iterator[paramiko.PKey]:
    """What ssh would try: the agent's keys, then the usual files that need no passphrase."""
    agent = paramiko.Agent()
    try:
        yield from agent.get_keys()
    finally:
        agent.close()
    for name in USUAL_KEYS:
        path = Path.home() / ".ssh" / name
        if path.exists():
            try:
                yield read_key(path)
            except NodeError:
                continue

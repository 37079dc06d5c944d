"""The id of a log directory, as Kafka writes it (``org.apache.kafka.common.Uuid``): 16 bytes in base 64 without padding."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from uuid import UUID

_LENGTH = 22


def directory_id(text: object) -> UUID:
    """The number that a text stands for.

    >>> directory_text(directory_id("dGlkZW1hcmsta2Fma2EtMQ"))
    'dGlkZW1hcmsta2Fma2EtMQ'

    Raises:
        ValueError: it is no such text.
    """
    if not isinstance(text, str) or len(text) != _LENGTH:
        raise ValueError(f"{text!r} is no id of a directory")
    return UUID(bytes=urlsafe_b64decode(f"{text}=="))


def directory_text(directory: UUID) -> str:
    """The reverse."""
    return urlsafe_b64encode(directory.bytes).decode().rstrip("=")

"""What a proxy must know of a protocol: frames with their length in front, and what a frame's first bytes say about it."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple, Protocol

from tidemark.nodes.core.messages import KINDS

PROXIED_KINDS = tuple(kind for kind in KINDS if kind != "acks")
"""The kinds that pass proxies. Acks go to clients, whose listener has none."""

MAX_FRAME_BYTES = 256 << 20
"""Longest frame. Kafka's requests end at 100 MiB; four characters of text, read as a length, are beyond 512 MiB."""

_LENGTH = Struct(">i")


@dataclass(slots=True)
class Message:
    """One frame.

    Attributes:
        kinds: what people call it (:data:`tidemark.nodes.core.messages.KINDS`); a frame may be of several kinds, or of none.
        overtakes: whether it may go ahead of others that wait.
    """

    kinds: tuple[str, ...] = ()
    overtakes: bool = False


RAW = Message()
"""Bytes that are no frame."""


class Speech(Protocol):
    """The protocol on one connection; it may remember requests until they are answered.

    Attributes:
        request_head: bytes after the length that must be there (if the frame has them) to say what a request is.
        response_head: the same for responses.
        lost: whether what came is not this protocol; from then on nothing is cut into frames.
    """

    request_head: int
    response_head: int
    lost: bool

    @property
    def unanswered(self) -> bool:
        """Whether a request has come that is not answered yet."""

    def request(self, head: memoryview, size: int) -> Message | None:
        """What a request of this size is; None if it is none."""

    def response(self, head: memoryview, size: int) -> Message | None:
        """The same for what the other side sends."""


class Piece(NamedTuple):
    """A stretch of a buffer that belongs to one frame: its beginning if there is a message, its end if it is the last."""

    message: Message | None
    begin: int
    end: int
    last: bool


class Cutter:
    """Cuts what arrives in one direction into pieces of frames; keeps nothing but the beginning of a head.

    Args:
        speech: the protocol.
        requests: whether this is the direction of requests.
    """

    def __init__(self, speech: Speech, *, requests: bool) -> None:
        self._speech = speech
        self._read = speech.request if requests else speech.response
        self._head = speech.request_head if requests else speech.response_head
        self._kept = b""
        self._left = 0
        """Bytes of the current frame that are still to come."""

    def feed(self, data: bytes) -> tuple[bytes, list[Piece]]:
        """A buffer and its pieces, in order, without gaps; what is behind the last piece comes again."""
        if self._kept:
            data, self._kept = self._kept + data, b""
        at, end = 0, len(data)
        pieces: list[Piece] = []
        if self._left:
            at = min(self._left, end)
            self._left -= at
            pieces.append(Piece(None, 0, at, not self._left))
        view = memoryview(data)
        while end - at >= 4 and not self._speech.lost:
            (size,) = _LENGTH.unpack_from(data, at)
            whole = 4 + size
            if 0 < size <= MAX_FRAME_BYTES:
                if end - at < 4 + min(size, self._head):
                    break
                message = self._read(view[at + 4 : at + 4 + min(size, self._head)], size)
            else:
                message = None
            if message is None:
                self._speech.lost = True
                break
            stop = min(at + whole, end)
            self._left = at + whole - stop
            pieces.append(Piece(message, at, stop, not self._left))
            at = stop
        if self._speech.lost and at < end:
            pieces.append(Piece(RAW, at, end, True))
        elif at < end:
            self._kept = data[at:]
        return data, pieces

    def rest(self) -> bytes:
        """The beginning of a head that nothing came behind."""
        kept, self._kept = self._kept, b""
        return kept

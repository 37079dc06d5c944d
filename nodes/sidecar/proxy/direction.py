"""One direction of a proxied connection: frames go on at once, wait in order, or vanish.

Kafka's clients take answers in the order of their requests and allow no gap, so a frame that waits holds up those behind it, and
a frame that vanished takes all later ones of its direction with it, until the connection is closed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from tidemark.nodes.admin.message_rules import Key, MessageRules
from tidemark.nodes.sidecar.proxy.speech import Cutter, Message, Speech

MAX_WAITING_BYTES = 16 << 20
"""With more than this waiting, the sender is not read. Longer than a replica's fetch response, 10 MiB."""

WRITE_BUFFER_BYTES = 1 << 20
"""With more than this unsent, the sender is not read."""


class _Fate(Enum):
    PASS = "pass"  # noqa: S105 (no password)
    VANISH = "vanish"


@dataclass(slots=True)
class _Waiting:
    """A frame, or as much of it as has come."""

    message: Message
    holder: Key | None
    due: float
    parts: list[bytes] = field(default_factory=list)


class Direction:
    """What one end sends to the other.

    Args:
        loop: the event loop.
        speech: the protocol; both directions of a connection share it.
        rules: what happens to messages.
        ends: the node that sends and the node that receives.
        requests: whether this is the direction of requests.
        on_end: called once everything before the sender's end of file has gone on.
        on_break: called when the connection must be closed, as a frame vanished from it; all before that frame has gone on.

    Attributes:
        sender: where frames come from.
        receiver: where they go; while it is None they wait.
        ended_late: whether frames still waited when the sender had sent all it would.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        speech: Speech,
        rules: MessageRules,
        ends: tuple[int, int],
        on_end: Callable[[], None],
        on_break: Callable[[], None],
        *,
        requests: bool,
    ) -> None:
        self.sender: asyncio.Transport | None = None
        self.receiver: asyncio.Transport | None = None
        self.ended_late = False
        self._loop = loop
        self._speech = speech
        self._rules = rules
        self._source, self._to = ends
        self._on_end = on_end
        self._on_break = on_break
        self._cutter = Cutter(speech, requests=requests)
        self._queue: deque[_Waiting] = deque()
        self._waiting_bytes = 0
        self._fate: _Fate | _Waiting = _Fate.PASS
        """Of the frame that arrives."""
        self._swallower: Key | None = None
        self._closed = False
        self._breaking = False
        self._ending = False
        self._blocked = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def swallowed(self) -> bool:
        """Whether a frame has vanished."""
        return self._swallower is not None

    @property
    def waiting(self) -> bool:
        """Whether frames wait."""
        return bool(self._queue)

    def feed(self, data: bytes) -> None:
        """Something has come."""
        buffer, pieces = self._cutter.feed(data)
        start = stop = 0
        for message, begin, end, _ in pieces:
            if self._closed:
                return
            if message is not None:
                self._fate = self._begin(message)
            fate = self._fate
            if isinstance(fate, _Waiting):
                fate.parts.append(buffer[begin:end])
                self._waiting_bytes += end - begin
            elif fate is _Fate.PASS:
                if begin != stop:
                    self._write(buffer, start, stop)
                    start = begin
                stop = end
        self._write(buffer, start, stop)
        if self._breaking:
            self._move()
        if self._waiting_bytes:
            self.breathe()

    def end(self) -> None:
        """The sender will send no more."""
        if not self._ending:
            if rest := self._cutter.rest():
                self._speech.lost = True
                self.feed(rest)
            self._ending = True
            self.ended_late = self.waiting
            self._move()

    def connected(self, receiver: asyncio.Transport) -> None:
        """There is somebody to send to now."""
        self.receiver = receiver
        receiver.set_write_buffer_limits(WRITE_BUFFER_BYTES)
        self._move()

    def block(self, blocked: bool) -> None:
        """The receiver takes no more, or takes more again."""
        self._blocked = blocked
        self.breathe()

    def breathe(self) -> None:
        """Read the sender, or leave it unread."""
        if self.sender is None or self.sender.is_closing():
            return
        full = self._blocked or self.receiver is None or self._waiting_bytes > MAX_WAITING_BYTES
        if full and not self._closed:
            self.sender.pause_reading()
        else:
            self.sender.resume_reading()

    def cleared(self, key: Key) -> None:
        """Rules have ended."""
        if self._closed:
            return
        if self._swallower == key:
            self._breaking = True
        for waiting in [waiting for waiting in self._queue if waiting.holder == key]:
            if waiting in self._queue:
                self._judge_again(waiting)
        self._move()

    def close(self) -> None:
        """Nothing goes on any more."""
        self._closed = True
        self._queue.clear()
        self._waiting_bytes = 0
        self._fate = _Fate.VANISH
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.breathe()

    def _begin(self, message: Message) -> _Fate | _Waiting:
        """What happens to the frame that begins."""
        if self.swallowed and not message.overtakes:
            return _Fate.VANISH
        verdict = self._rules.judge(message.kinds, self._source, self._to)
        if verdict.effect in ("drop", "lose"):
            self._swallow(verdict.effect, verdict.key)
            return _Fate.VANISH
        holder = verdict.key if verdict.effect == "hold" else None
        due = self._loop.time() + verdict.late_us / 1e6 if verdict.late_us else 0.0
        concerned = holder is not None or due > 0
        if not concerned and self.receiver is not None and (message.overtakes or not self._queue):
            return _Fate.PASS
        waiting = _Waiting(message, holder, due)
        self._queue.append(waiting)
        if len(self._queue) == 1 and holder is None:
            self._loop.call_soon(self._move)
        return waiting

    def _swallow(self, effect: str, key: Key) -> None:
        self._swallower = key if self._swallower is None else self._swallower
        if effect == "lose":
            self._breaking = True

    def _judge_again(self, waiting: _Waiting) -> None:
        """What held a frame has ended; something else may concern it."""
        verdict = self._rules.judge(waiting.message.kinds, self._source, self._to)
        waiting.holder = verdict.key if verdict.effect == "hold" else None
        if verdict.effect == "delay":
            waiting.due = self._loop.time() + verdict.late_us / 1e6
        elif verdict.effect in ("drop", "lose"):
            self._swallow(verdict.effect, verdict.key)
            at = self._queue.index(waiting)
            behind = list(self._queue)[at:]
            gone = [waiting, *(other for other in behind[1:] if not other.message.overtakes)]
            self._queue = deque(other for other in self._queue if not any(other is each for each in gone))
            self._waiting_bytes = sum(len(part) for other in self._queue for part in other.parts)
            if any(self._fate is each for each in gone):
                self._fate = _Fate.VANISH

    def _move(self) -> None:
        """Send on what need not wait any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._queue and self.receiver is not None:
            first = self._queue[0]
            if first.holder is not None:
                break
            wait = first.due - self._loop.time()
            if wait > 0:
                self._timer = self._loop.call_later(wait, self._move)
                break
            self._queue.popleft()
            whole = b"".join(first.parts)
            self._waiting_bytes -= len(whole)
            self._write(whole, 0, len(whole))
            if self._fate is first:
                self._fate = _Fate.PASS
        self.breathe()
        if self._queue or self._closed:
            return
        if self._breaking:
            self.close()
            self._on_break()
        elif self._ending and self.receiver is not None:
            self._on_end()

    def _write(self, buffer: bytes, start: int, stop: int) -> None:
        if start == stop or self.receiver is None or self.receiver.is_closing():
            return
        whole = stop - start == len(buffer)
        self.receiver.write(buffer if whole else memoryview(buffer)[start:stop])

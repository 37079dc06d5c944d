"""One proxied connection: an accepted end, an end that is connected to the broker behind, and a direction each way.

An end of file goes on as one, after whatever waits before it. A requester that has given up while its request was held is gone,
but its request is not: it still reaches the broker when it is let go, on a connection kept open for it, and the answer is thrown
away. That is what a slow network does to a fetch.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.admin.message_rules import Key, MessageRules
from tidemark.nodes.sidecar.proxy.direction import Direction

if TYPE_CHECKING:
    from tidemark.nodes.sidecar.proxy.speech import Speech

log = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 30
"""A broker that is stopped accepts no more connections once its backlog is full."""


class _End(asyncio.Protocol):
    """One socket: what comes from it goes its direction out; pressure goes back to its direction in."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, out: Direction, into: Direction, on_lost: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._out = out
        self._into = into
        self._on_lost = on_lost

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._out.sender = cast("asyncio.Transport", transport)
        self._into.connected(self._out.sender)
        # Python 3.11's asyncio begins to read after this, paused or not.
        self._loop.call_soon(self._out.breathe)

    def data_received(self, data: bytes) -> None:
        """Pass it on, unless a rule says otherwise."""
        self._out.feed(data)

    def eof_received(self) -> bool:
        """Nothing more comes, but it may still want to hear."""
        self._out.end()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._on_lost()

    def pause_writing(self) -> None:
        """It does not read fast enough."""
        self._into.block(True)

    def resume_writing(self) -> None:
        """It reads again."""
        self._into.block(False)


class _BrokersEnd(_End):
    """The socket to the broker."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        out: Direction,
        into: Direction,
        on_lost: Callable[[], None],
        on_answer: Callable[[], None],
    ) -> None:
        super().__init__(loop, out, into, on_lost)
        self._on_answer = on_answer

    def data_received(self, data: bytes) -> None:
        """Pass it on, unless a rule says otherwise; perhaps it was the last answer."""
        super().data_received(data)
        self._on_answer()


class ProxiedConnection:
    """Two sockets and what is between them.

    Args:
        loop: the event loop.
        to: where the broker listens.
        speech: the protocol.
        rules: what happens to messages.
        ends: the node that connected, and the node it connected to.
        on_over: called when both sockets are gone.

    Attributes:
        accepted: the protocol of the socket that was accepted.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        to: Address,
        speech: Speech,
        rules: MessageRules,
        ends: tuple[int, int],
        on_over: Callable[[ProxiedConnection], None],
    ) -> None:
        """Begin to connect to the broker."""
        self._loop = loop
        self._to = to
        self._speech = speech
        self._on_over = on_over
        back = (ends[1], ends[0])
        self._requests = Direction(loop, speech, rules, ends, self._requests_ended, self._close, requests=True)
        self._responses = Direction(loop, speech, rules, back, self._close, self._close, requests=False)
        self.accepted = _End(loop, self._requests, self._responses, self._requester_lost)
        self._requester_gone = False
        self._broker_gone = False
        self._over = False
        self._lingers = False
        """Whether only answers are waited for, to be thrown away."""
        self._connecting = loop.create_task(self._connect())
        self._connecting.add_done_callback(lambda _: self._see_if_over())

    def cleared(self, key: Key) -> None:
        """Rules have ended."""
        self._requests.cleared(key)
        self._responses.cleared(key)

    def abort(self) -> None:
        """End both sockets now, whatever is still unsent."""
        self._connecting.cancel()
        self._requests.close()
        self._responses.close()
        for transport in (self._requests.receiver, self._responses.receiver):
            if transport is not None:
                transport.abort()

    async def _connect(self) -> None:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await self._loop.create_connection(self._brokers_end, self._to.host, self._to.port)
        except (OSError, TimeoutError) as e:
            log.debug("nobody answers at %s: %s", self._to, e)
            self.abort()

    def _brokers_end(self) -> asyncio.Protocol:
        return _BrokersEnd(self._loop, self._responses, self._requests, self._broker_lost, self._answered)

    def _requests_ended(self) -> None:
        """The requester sends no more, and all it sent has gone on."""
        broker = self._requests.receiver
        if broker is None or broker.is_closing():
            return
        if self._requests.ended_late and self._speech.unanswered and not self._requests.swallowed:
            self._lingers = True
        elif self._requester_gone:
            broker.close()
        else:
            broker.write_eof()

    def _answered(self) -> None:
        if self._lingers and not self._speech.unanswered:
            self._close()

    def _requester_lost(self) -> None:
        self._requester_gone = True
        self._responses.close()
        self._requests.end()
        if not self._requests.waiting:
            if self._requests.receiver is None:
                self._connecting.cancel()
            self._requests_ended()
        self._see_if_over()

    def _broker_lost(self) -> None:
        self._broker_gone = True
        self._requests.close()
        self._responses.end()
        self._see_if_over()

    def _close(self) -> None:
        """End both sockets when what was written to them is sent."""
        self._requests.close()
        self._responses.close()
        for transport in (self._requests.receiver, self._responses.receiver):
            if transport is not None:
                transport.close()

    def _see_if_over(self) -> None:
        gone = self._broker_gone or self._requests.receiver is None
        if self._requester_gone and self._connecting.done() and gone and not self._over:
            self._over = True
            self._on_over(self)

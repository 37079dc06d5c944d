"""The proxy: a server that connects everybody who comes to the listener behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal, cast

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.admin.message_rules import Key, MessageRules
from tidemark.nodes.sidecar.proxy.connection import ProxiedConnection
from tidemark.nodes.sidecar.proxy.kafka_speech import KafkaSpeech
from tidemark.nodes.sidecar.proxy.speech import Speech
from tidemark.nodes.sidecar.proxy.zookeeper_speech import ZooKeeperSpeech

_BACKLOG = 128

Spoken = Literal["kafka", "zookeeper"]


class Proxy:
    """One listener, and one listener behind it.

    Args:
        listen: where others connect; port 0 takes a free one.
        to: where the broker, controller or ZooKeeper listens. While nobody does, connections are closed at once.
        speaks: the protocol.
        here: the node of this machine.
        peers: address → node. Whoever comes from any other address belongs to this machine.
        rules: what happens to messages.
        controller: whether a KRaft controller listens behind it: then its fetch responses are what tells brokers who leads.
    """

    def __init__(
        self,
        listen: Address,
        to: Address,
        *,
        speaks: Spoken,
        here: int,
        peers: Mapping[str, int],
        rules: MessageRules,
        controller: bool = False,
    ) -> None:
        self._listen = listen
        self._to = to
        self._speaks = speaks
        self._here = here
        self._peers = peers
        self._rules = rules
        self._controller = controller
        self._server: asyncio.Server | None = None
        self._connections: set[ProxiedConnection] = set()

    @property
    def connections(self) -> int:
        """How many are open, counting those whose requester has gone but whose requests are still to be delivered."""
        return len(self._connections)

    @property
    def port(self) -> int:
        """Where it listens; 0 before it does."""
        return 0 if self._server is None else int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        """Listen.

        Raises:
            OSError: the address cannot be had.
        """
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Newcomer(self), self._listen.host, self._listen.port, backlog=_BACKLOG
        )
        self._rules.on_clear(self._cleared)

    def close(self) -> None:
        """Listen no more, and end every connection, whatever is still unsent."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self._rules.off_clear(self._cleared)
        for connection in list(self._connections):
            connection.abort()

    def accept(self, transport: asyncio.Transport) -> None:
        """Connect a newcomer."""
        if self._server is None:
            transport.abort()
            return
        name = transport.get_extra_info("peername")
        source = self._peers.get(name[0], self._here) if name else self._here
        loop = asyncio.get_running_loop()
        connection = ProxiedConnection(
            loop, self._to, self._speech(source), self._rules, (source, self._here), self._connections.discard
        )
        self._connections.add(connection)
        transport.set_protocol(connection.accepted)
        connection.accepted.connection_made(transport)

    def _speech(self, source: int) -> Speech:
        if self._speaks == "zookeeper":
            return ZooKeeperSpeech(source, self._here)
        return KafkaSpeech(source, self._here, controller=self._controller)

    def _cleared(self, key: Key) -> None:
        for connection in list(self._connections):
            connection.cleared(key)


class _Newcomer(asyncio.Protocol):
    """Somebody has connected, and it is not known yet who."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See who it is."""
        self._proxy.accept(cast("asyncio.Transport", transport))

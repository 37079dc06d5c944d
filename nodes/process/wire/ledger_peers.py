"""What a node of BookKeeper's family, or the metadata store, says to others and hears from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.wire.names import MeaninglessError
from tidemark.nodes.formats.wire.own_entities import VERSION
from tidemark.nodes.process.wire import translate_ledgers as translate
from tidemark.nodes.process.wire.peer_sending import PeerSending, Versions, nothing

if TYPE_CHECKING:
    from tidemark.nodes.process.node_driver import NodeDriver
    from tidemark.nodes.process.wire.server import Connection, Handler, Request


class LedgerPeers:
    """The inter-node side of one process."""

    def __init__(self, driver: NodeDriver) -> None:
        """Know the messages: nodes hear each other and the store, the store hears nodes."""
        self._driver = driver
        self._sending = PeerSending(driver)
        self.senders: dict[type, Callable[[int, Any], None]] = dict.fromkeys(translate.MESSAGES, self._tell)
        is_store = driver.config.is_controller
        self._heard = translate.TO_STORE if is_store else (*translate.OF_STORE, *translate.BETWEEN_NODES)

    def add_to(self, versions: Versions, handlers: dict[int, Handler]) -> None:
        """Add the APIs between nodes."""
        for kind in self._heard:
            key = translate.KEYS[kind]
            versions[key] = (VERSION, VERSION)
            handlers[key] = partial(self._on_message, kind, key)

    def forget(self, connection: Connection) -> None:
        """Nothing waits for it."""

    def _on_message(self, kind: type, key: int, request: Request) -> None:
        try:
            message = translate.message(key, request.body)
            self._check(kind, message)
        except (MeaninglessError, BadBatchError) as e:
            request.connection.refuse(str(e))
            return
        self._driver.deliver(message)
        request.reply(translate.heard(key))

    def _check(self, kind: type, message: Any) -> None:  # noqa: ANN401 (one of MESSAGES)
        if kind in translate.OF_STORE:
            if message.source != CONTROLLER:
                raise MeaninglessError(f"node {message.source} is not the metadata store")
        else:
            self._sending.check_peer(message.source)
        named = getattr(message, "known", None) or (message.partition,)
        for partition in named:
            if partition not in self._driver.partitions:
                raise MeaninglessError(f"there is no partition {partition}")

    def _tell(self, to: int, m: object) -> None:
        """Send it; what a node says to its own bookie takes no wire."""
        if to == self._driver.config.node:
            self._driver.deliver(m)
            return
        self._sending.send(to, m, translate.KEYS[type(m)], VERSION, translate.request(m), nothing)

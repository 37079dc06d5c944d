"""What a broker says to other nodes and hears from them: fetches, epoch questions, the controller's states and its own reports."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.messages import (
    CONTROLLER,
    STALE_BROKER_EPOCH,
    AlterPartition,
    EpochRequest,
    EpochResponse,
    FetchRequest,
    FetchResponse,
    Heartbeat,
    LeaderAndIsr,
    Register,
)
from tidemark.nodes.formats.wire import codec
from tidemark.nodes.formats.wire.names import MeaninglessError
from tidemark.nodes.process.wire import translate_control, translate_epoch, translate_fetch
from tidemark.nodes.process.wire.peer_sending import PeerSending, Versions
from tidemark.nodes.process.wire.translate_fetch import FetchTranslation, fetch_version, replica_of

if TYPE_CHECKING:
    from tidemark.nodes.process.node_driver import NodeDriver
    from tidemark.nodes.process.wire.server import Connection, Handler, Request


class BrokerPeers:
    """The inter-node side of one broker.

    Args:
        driver: gets what is heard.
        took: whether the core took a state that it was given.
        hears: whether the core listens to the controller yet; what is not heard is not answered.
    """

    def __init__(self, driver: NodeDriver, took: Callable[[LeaderAndIsr], bool], hears: Callable[[], bool]) -> None:
        """Know the messages, and how each is sent."""
        self._driver = driver
        self._sending = PeerSending(driver)
        self._took = took
        self._hears = hears
        variant, node = driver.config.kafka, driver.config.node
        self._fetches = FetchTranslation(fetch_version(variant, node), driver.config.cluster.settings, driver.topics)
        self._epoch_version = translate_epoch.epoch_version(variant.rule_of(node))
        self._asked: dict[int, Request] = {}
        """Requests that wait for the core's answer, by the number that the core knows them by."""
        self._last_fetch: dict[tuple[int, str], int] = {}
        self._next = count(1)
        self._client_versions: Versions = {}
        self._client_handlers: dict[int, Handler] = {}
        self.senders: dict[type, Callable[[int, Any], None]] = {
            FetchRequest: self._send_fetch,
            FetchResponse: self._answer_fetch,
            EpochRequest: self._send_epoch_request,
            EpochResponse: self._answer_epoch_request,
            AlterPartition: self._send_alter,
            Register: self._send_register,
            Heartbeat: self._send_heartbeat,
        }
        """How each of the core's messages to a node is sent."""

    # Heard

    def add_to(self, versions: Versions, handlers: dict[int, Handler]) -> None:
        """Add the inter-node APIs to those of the clients. Fetch and OffsetForLeaderEpoch go to whom the asker is for.

        A leader answers each follower in the version that it asks in: the brokers of a cluster may speak different ones.
        """
        self._client_versions, self._client_handlers = dict(versions), dict(handlers)
        state = translate_control.STATE_VERSION
        for key, nodes, handler in (
            (codec.FETCH, translate_fetch.VERSIONS, self._on_fetch),
            (codec.OFFSET_FOR_LEADER_EPOCH, translate_epoch.VERSIONS, self._on_epoch_request),
            (codec.LEADER_AND_ISR, (state, state), self._on_state),
        ):
            clients = versions.get(key, nodes)
            versions[key] = min(clients[0], nodes[0]), max(clients[1], nodes[1])
            handlers[key] = handler

    def forget(self, connection: Connection) -> None:
        """The connection ended; nobody waits for answers on it."""
        for number in [n for n, request in self._asked.items() if request.connection is connection]:
            del self._asked[number]

    def _leave_to_clients(self, request: Request) -> None:
        low, high = self._client_versions.get(request.api_key, (0, -1))
        if low <= request.api_version <= high:
            self._client_handlers[request.api_key](request)
        else:
            request.connection.refuse(f"API {request.api_key} in version {request.api_version} is for nodes only")

    def _on_fetch(self, request: Request) -> None:
        version = request.api_version
        replica, _ = replica_of(request.body, version)
        if replica < 0:
            self._leave_to_clients(request)
            return
        try:
            self._sending.check_peer(replica)
            message = self._fetches.message(request.body, version, next(self._next))
        except MeaninglessError as e:
            request.connection.refuse(str(e))
            return
        before = self._asked.pop(self._last_fetch.get((replica, message.partition), 0), None)
        if before is not None:
            before.no_reply()  # the core answers a follower's latest fetch only
        self._last_fetch[replica, message.partition] = message.correlation
        self._take(request, message)

    def _on_epoch_request(self, request: Request) -> None:
        if request.api_version < translate_epoch.VERSIONS[0] or request.body.replica_id < 0:
            self._leave_to_clients(request)
            return
        try:
            self._sending.check_peer(request.body.replica_id)
            message = translate_epoch.message(request.body, request.api_version, next(self._next))
        except MeaninglessError as e:
            request.connection.refuse(str(e))
            return
        self._take(request, message)

    def _take(self, request: Request, message: FetchRequest | EpochRequest) -> None:
        self._asked[message.correlation] = request
        self._driver.deliver(message)

    def _on_state(self, request: Request) -> None:
        try:
            state = translate_control.state_message(request.body)
            self._check_state(state)
        except MeaninglessError as e:
            request.connection.refuse(str(e))
            return
        if not self._hears():
            request.no_reply()
            return
        self._driver.deliver(state)
        self._driver.perform(partial(self._acknowledge, request, state))

    def _check_state(self, state: LeaderAndIsr) -> None:
        """With ZooKeeper a leader or a member of the ISR need be no replica any more, for a moment."""
        brokers = self._driver.config.cluster.broker_ids()
        if (
            state.partition not in self._driver.partitions
            or not state.replicas
            or len(set(state.replicas)) < len(state.replicas)
            or not {*state.replicas, *state.isr, *state.eligible} <= set(brokers)
            or state.leader not in (-1, *brokers)
            or min(state.leader_epoch, state.partition_epoch) < 0
        ):
            raise MeaninglessError(f"no state of a partition of this cluster: {state}")

    def _acknowledge(self, request: Request, state: LeaderAndIsr, _now: int) -> None:
        """Say whether the core took the state: it leaves one for another incarnation alone (KIP-380)."""
        answer = translate_control.state_response(state, None if self._took(state) else STALE_BROKER_EPOCH)
        self._driver.reply(request, CONTROLLER, None, answer)

    # Said

    def _answer_fetch(self, to: int, m: FetchResponse) -> None:
        request = self._asked.pop(m.correlation, None)
        if request is not None:
            self._driver.reply(request, to, m, self._fetches.response(m, request.api_version))

    def _answer_epoch_request(self, to: int, m: EpochResponse) -> None:
        request = self._asked.pop(m.correlation, None)
        if request is not None:
            self._driver.reply(request, to, m, translate_epoch.response(m, request.api_version))

    def _send_fetch(self, to: int, m: FetchRequest) -> None:
        body = self._fetches.request(m)
        self._sending.send(to, m, codec.FETCH, self._fetches.version, body, partial(self._fetched, m, to), m.partition)

    def _fetched(self, m: FetchRequest, leader: int, entity: object) -> FetchResponse:
        answer = self._fetches.answer(entity, m, leader)
        if answer.diverging is not None and answer.error is None:
            self._driver.note("answer", m.partition, m.last_fetched_epoch, m.offset, *answer.diverging)
        return answer

    def _send_epoch_request(self, to: int, m: EpochRequest) -> None:
        version = self._epoch_version
        body = translate_epoch.request(m, version)
        read = partial(self._epoch_told, m, to)
        self._sending.send(to, m, codec.OFFSET_FOR_LEADER_EPOCH, version, body, read)

    def _epoch_told(self, m: EpochRequest, leader: int, entity: object) -> EpochResponse:
        answer = translate_epoch.answer(entity, m, leader)
        if answer.error is None:
            self._driver.note("answer", m.partition, m.epoch, None, *answer.answer)
        return answer

    def _send_alter(self, to: int, m: AlterPartition) -> None:
        body = translate_control.alter_request(m)
        read = partial(translate_control.alter_answer, asked=m)
        self._sending.send(to, m, codec.ALTER_PARTITION, translate_control.ALTER_VERSION, body, read)

    def _send_register(self, to: int, m: Register) -> None:
        body = translate_control.register_request(m)
        read = partial(translate_control.register_answer, asked=m)
        self._sending.send(to, m, codec.BROKER_REGISTRATION, translate_control.REGISTRATION_VERSION, body, read)

    def _send_heartbeat(self, to: int, m: Heartbeat) -> None:
        body = translate_control.heartbeat_request(m)
        read = translate_control.heartbeat_answer
        self._sending.send(to, m, codec.BROKER_HEARTBEAT, translate_control.HEARTBEAT_VERSION, body, read)

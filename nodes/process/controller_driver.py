"""The controller's process: a :class:`~tidemark.nodes.core.controller.Controller` with connections to the brokers. It has no disk.

Brokers' heartbeats do not say which states they know, as Kafka's do not. The driver learns it from the brokers' answers to
LeaderAndIsr, and tells the core with each heartbeat. What a broker knows counts for one broker epoch only: a restarted broker
knows nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial

from tidemark.nodes.admin.trace_file import Entry, Trace
from tidemark.nodes.core.controller import Controller, make_controller
from tidemark.nodes.core.messages import AlterPartitionResponse, HeartbeatReply, LeaderAndIsr, Registered, StateTaken
from tidemark.nodes.formats.wire import codec
from tidemark.nodes.formats.wire.names import MeaninglessError
from tidemark.nodes.process.config import NodeConfig
from tidemark.nodes.process.node_driver import NodeDriver
from tidemark.nodes.process.wire import translate_control
from tidemark.nodes.process.wire.server import Handler, Request

log = logging.getLogger(__name__)


class ControllerDriver(NodeDriver):
    """The controller's process."""

    core: Controller

    def __init__(self, config: NodeConfig, loop: asyncio.AbstractEventLoop, trace: Trace) -> None:
        """Make the core; nothing happens before :meth:`begin`."""
        super().__init__(config, loop, trace)
        cluster = config.cluster
        self.core = make_controller(
            cluster.broker_ids(), self.partitions, config.kafka, cluster.settings, config.first_leader_epoch
        )
        self._known: dict[int, tuple[int, dict[str, int]]] = {}
        """Broker → its broker epoch, and the newest partition epoch it acknowledged of each partition."""

    # Heard

    def served(self, listener: str) -> tuple[Mapping[int, tuple[int, int]], Mapping[int, Handler]]:
        """What brokers ask."""
        apis: dict[int, tuple[int, Callable[[Request], object]]] = {
            codec.BROKER_REGISTRATION: (translate_control.REGISTRATION_VERSION, self._registration),
            codec.BROKER_HEARTBEAT: (translate_control.HEARTBEAT_VERSION, self._heartbeat),
            codec.ALTER_PARTITION: (translate_control.ALTER_VERSION, self._proposal),
        }
        versions = {key: (version, version) for key, (version, _) in apis.items()}
        return versions, {key: partial(self._take, read) for key, (_, read) in apis.items()}

    def _take(self, read: Callable[[Request], object], request: Request) -> None:
        if request.body.broker_id not in self.core.sessions:
            request.connection.refuse(f"there is no broker {request.body.broker_id}")
            return
        try:
            message = read(request)
        except MeaninglessError as e:
            request.connection.refuse(str(e))
            return
        self.deliver(message, request)

    def _registration(self, request: Request) -> object:
        return translate_control.register_message(request.body)

    def _heartbeat(self, request: Request) -> object:
        epoch, known = self._known.get(request.body.broker_id, (-1, {}))
        return translate_control.heartbeat_message(request.body, known if epoch == request.body.broker_epoch else {})

    def _proposal(self, request: Request) -> object:
        message = translate_control.alter_message(request.body, self.topics, request.correlation_id)
        members = {b for b, _ in message.isr}
        known = message.partition in self.partitions and members <= set(self.core.sessions)
        if not members or len(members) < len(message.isr) or not known:
            raise MeaninglessError(f"no partition {message.partition} with these replicas")
        return message

    # Said

    def send(self, to: int, message: object) -> None:
        """Tell a broker a state, or answer the request of this step."""
        if isinstance(message, LeaderAndIsr):
            body = translate_control.state_request(message)
            answered = partial(self._acknowledged, to, message)
            version = translate_control.STATE_VERSION
            tell = partial(self.peers.send, to, "", codec.LEADER_AND_ISR, version, body, answered)
            self.faults.pass_on(to, message, tell, lambda: None)
            return
        request, self.request = self.request, None
        if request is None:
            raise TypeError(f"nobody asked for {message!r}")
        self.reply(request, to, message, self._entity(message))

    def _entity(self, message: object) -> object:
        match message:
            case Registered():
                log.info(
                    "registered a broker in incarnation %d, broker epoch %d", message.incarnation, message.broker_epoch
                )
                return translate_control.register_response(message)
            case HeartbeatReply():
                return translate_control.heartbeat_response(message)
            case AlterPartitionResponse():
                leader = self.core.partitions[message.partition].leader
                return translate_control.alter_response(message, leader)
            case _:
                raise TypeError(f"the controller does not say {message!r}")

    def stepped(self, entries: list[Entry]) -> None:
        """Refuse a registration that the core did not answer: another process of the broker is there.

        Anything else is not answered while there is no controller, and neither is the end of a session.
        """
        for entry in entries:
            if entry[2] in ("elect", "fence", "reassign"):
                log.info("%s", " ".join(str(part) for part in entry[2:] if part != ""))
        request, self.request = self.request, None
        if request is None:
            return
        if request.api_key == codec.BROKER_REGISTRATION:
            self.reply(request, request.body.broker_id, None, translate_control.register_refused())
        else:
            request.no_reply()

    def _acknowledged(self, broker: int, told: LeaderAndIsr, entity: object) -> None:
        if told.correlation and not self.over:
            self.deliver(StateTaken(broker, told.correlation))
        if not translate_control.state_taken(entity):
            return
        epoch, known = self._known.get(broker, (-1, {}))
        if told.broker_epoch < epoch:
            return
        if told.broker_epoch > epoch:
            known = {}
            self._known[broker] = told.broker_epoch, known
        known[told.partition] = max(known.get(told.partition, -1), told.partition_epoch)

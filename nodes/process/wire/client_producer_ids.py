"""InitProducerId: ids for idempotent producers (KIP-98). There are no transactions."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from tidemark.nodes.formats.wire.names import error_code
from tidemark.nodes.process.wire.client_entities import INIT_PRODUCER_ID, NO_THROTTLE, response_entity

if TYPE_CHECKING:
    from tidemark.nodes.process.config import NodeConfig
    from tidemark.nodes.process.wire.server import Request

TRANSACTIONAL_ID_AUTHORIZATION_FAILED = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"

_INCARNATION_SHIFT = 32
_NODE_SHIFT = 52
"""An id is 11 bits of node, 20 of incarnation, 32 of a counter."""


class ProducerIds:
    """Gives every producer an id that no other broker, and no earlier process of this one, gives.

    Kafka's brokers get blocks of ids from the controller; here the incarnation makes them unique without asking anybody.
    """

    def __init__(self, config: NodeConfig) -> None:
        first = (config.node << _NODE_SHIFT) | ((config.incarnation & 0xFFFFF) << _INCARNATION_SHIFT)
        self._ids = count(first)

    def handle(self, request: Request) -> None:
        """Answer with a new id in epoch 0, also a producer that names its old one (v3), as Kafka does without transactions."""
        version = request.api_version
        response = response_entity(INIT_PRODUCER_ID, version, "InitProducerIdResponse")
        error, given = None, {"producer_id": -1, "producer_epoch": -1}
        if request.body.transactional_id is not None:
            error = TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        else:
            given = {"producer_id": next(self._ids), "producer_epoch": 0}
        request.reply(response(throttle_time=NO_THROTTLE, error_code=error_code(error), **given))

"""Kafka's protocol as a proxy sees it: a request's header says what it is, a response's which request it answers."""

from __future__ import annotations

from struct import Struct

from tidemark.nodes.sidecar.proxy.speech import Message

FETCH, LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA, EPOCHS, ALTER_PARTITION = 1, 4, 5, 6, 23, 56
FETCH_SNAPSHOT, REGISTRATION, HEARTBEAT = 59, 62, 63

_LEADERSHIP, _LEADERSHIP_ANSWER = ("leadership",), ("leadership answers",)
_ISR, _ISR_ANSWER = ("ISR changes",), ("ISR answers",)
_BEATS, _BEAT_ANSWER = ("heartbeats",), ("heartbeat answers",)
_REGISTRATION, _REGISTRATION_ANSWER = ("heartbeats", "registrations"), ("heartbeat answers", "registration answers")
_NONE: tuple[str, ...] = ()
_ON_BROKERS = {
    FETCH: (("fetch requests",), ("fetch responses",)),
    EPOCHS: (("epoch requests",), ("epoch responses",)),
    LEADER_AND_ISR: (_LEADERSHIP, _LEADERSHIP_ANSWER),
    STOP_REPLICA: (_LEADERSHIP, _LEADERSHIP_ANSWER),
    UPDATE_METADATA: (_LEADERSHIP, _LEADERSHIP_ANSWER),
    ALTER_PARTITION: (_ISR, _ISR_ANSWER),
}
_ON_CONTROLLERS = {
    FETCH: (_NONE, _LEADERSHIP),
    FETCH_SNAPSHOT: (_NONE, _LEADERSHIP),
    HEARTBEAT: (_BEATS, _BEAT_ANSWER),
    REGISTRATION: (_REGISTRATION, _REGISTRATION_ANSWER),
    ALTER_PARTITION: (_ISR, _ISR_ANSWER),
}
"""API key → kinds of the request, kinds of its answer. A KRaft controller's metadata log is what tells brokers who leads."""

_OTHER = (_NONE, _NONE)
_HIGHEST_KEY = 1_000
_HIGHEST_VERSION = 100
_REQUEST = Struct(">hhi")
_CORRELATION = Struct(">i")


class KafkaSpeech:
    """Kafka's protocol on one connection.

    Args:
        source: the node that asks. Its own machine's requests have no kind: a fetch of another machine is a replica's.
        here: the node that is asked.
        controller: whether a KRaft controller listens, rather than a broker.
    """

    request_head = 8
    response_head = 4

    def __init__(self, source: int, here: int, *, controller: bool = False) -> None:
        self.lost = False
        self._source = source
        self._here = here
        self._table = _ON_CONTROLLERS if controller else _ON_BROKERS
        self._asked: dict[int, tuple[str, ...]] = {}
        """Request → the kinds of its answer."""

    @property
    def unanswered(self) -> bool:
        """Whether a request has come that is not answered yet."""
        return bool(self._asked)

    def request(self, head: memoryview, size: int) -> Message | None:
        """What a request is; None if it is none."""
        if size < _REQUEST.size:
            return None
        key, version, correlation = _REQUEST.unpack_from(head)
        if not (0 <= key <= _HIGHEST_KEY and 0 <= version <= _HIGHEST_VERSION):
            return None
        kinds, answer_kinds = _OTHER if self._source == self._here else self._table.get(key, _OTHER)
        self._asked[correlation] = answer_kinds
        return Message(kinds)

    def response(self, head: memoryview, size: int) -> Message | None:
        """What a response is; None if it is none. Kafka answers in order, so older requests will have no answer."""
        if size < _CORRELATION.size:
            return None
        (correlation,) = _CORRELATION.unpack_from(head)
        kinds = self._asked.get(correlation)
        if kinds is None:
            return Message()
        for older in list(self._asked):
            del self._asked[older]
            if older == correlation:
                break
        return Message(kinds)

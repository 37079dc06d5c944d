"""ZooKeeper's protocol as its proxy sees it.

A broker's session lives on its connection, so whatever a peer sends is a heartbeat. Brokers before 2.7 write the ISR themselves,
with ``setData`` on the partition's state. Pings and their answers may overtake: ZooKeeper's client takes them in any order, and
a held ISR change must not cost the session.
"""

from __future__ import annotations

import re
from struct import Struct

from tidemark.nodes.sidecar.proxy.speech import Message

_STATE = re.compile(rb"(?:/[^/]+)*/brokers/topics/[^/]+/partitions/[0-9]+/state")
"""Perhaps below a chroot, which clients put in front of every path."""

_SET_DATA, _PING = 5, 11
_PING_XID = -2
_REQUEST = Struct(">iii")
_XID = Struct(">i")
_LONGEST_PATH = 400

_BEAT = Message(("heartbeats",))
_PING_BEAT = Message(("heartbeats",), overtakes=True)
_ISR_CHANGE = Message(("heartbeats", "ISR changes"))
_PLAIN = Message()
_PING_PLAIN = Message(overtakes=True)


class ZooKeeperSpeech:
    """ZooKeeper's protocol on one connection.

    Args:
        source: the node that asks; its own machine's requests have no kind.
        here: the node that is asked.
    """

    request_head = _REQUEST.size + _LONGEST_PATH
    response_head = _XID.size
    unanswered = False
    """Answers are not counted: a session that ended is not waited for."""

    def __init__(self, source: int, here: int) -> None:
        self.lost = False
        self._peer = source != here
        self._connecting = True
        self._accepting = True

    def request(self, head: memoryview, size: int) -> Message | None:
        """What a request is; None if it is none."""
        plain, ping = (_BEAT, _PING_BEAT) if self._peer else (_PLAIN, _PING_PLAIN)
        if self._connecting:
            self._connecting = False
            return plain
        if size < 8:
            return None
        xid, operation = Struct(">ii").unpack_from(head)
        if xid == _PING_XID and operation == _PING:
            return ping
        if operation == _SET_DATA and self._peer and size > _REQUEST.size:
            (length,) = _XID.unpack_from(head, 8)
            if 0 < length <= _LONGEST_PATH and _STATE.fullmatch(head[12 : 12 + length]):
                return _ISR_CHANGE
        return plain

    def response(self, head: memoryview, size: int) -> Message | None:
        """What a response is; None if it is none."""
        if size < _XID.size:
            return None
        if self._accepting:
            self._accepting = False
            return _PLAIN
        return _PING_PLAIN if _XID.unpack_from(head) == (_PING_XID,) else _PLAIN

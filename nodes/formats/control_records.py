"""What a leader writes into its log of its own, as Kafka's control records (``ControlRecordType``), which clients pass over.

A leader's first record is a ``LeaderChangeMessage`` (KIP-595), and the members of a group are a ``VotersRecord`` (KIP-853), without
directories, endpoints and versions. To the protocol core each is a negative number: −1 less the leader epoch, with a bit for each
member above the epoch's 32.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING
from uuid import UUID

from tidemark.nodes.formats.bad_batch import BadBatchError

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEY = Struct(">hh")
_LEADER_CHANGE = Struct(">hiBBB")
_VOTERS = Struct(">hB")
_VOTER = Struct(">i16sBhhBB")
_NO_DIRECTORY = UUID(int=0).bytes
_EPOCH_BITS = 32
_MOST_VOTERS = 100

LEADER_CHANGE, VOTERS = _KEY.pack(0, 2), _KEY.pack(0, 6)
"""Keys of the records: version 0, and the type."""


def leader_change(leader: int) -> bytes:
    """The record's value; nobody's votes are in it.

    >>> len(leader_change(2))
    9
    """
    return _LEADER_CHANGE.pack(0, leader, 1, 1, 0)


def voters(members: Sequence[int]) -> bytes:
    """The record's value: an array of at most 100 servers, each with an empty directory id and no endpoints.

    >>> voters_of(voters((1, 2, 4)))
    (1, 2, 4)
    """
    each = b"".join(_VOTER.pack(member, _NO_DIRECTORY, 1, 0, 0, 0, 0) for member in members)
    return _VOTERS.pack(0, len(members) + 1) + each + b"\0"


def voters_of(value: bytes) -> tuple[int, ...]:
    """The servers that such a record names.

    Raises:
        BadBatchError: it is none that :func:`voters` made.
    """
    count = value[_VOTERS.size - 1] - 1 if len(value) >= _VOTERS.size else -1
    if not 0 <= count <= _MOST_VOTERS or len(value) != _VOTERS.size + count * _VOTER.size + 1:
        raise BadBatchError("INVALID_RECORD", "A record of voters is malformed.")
    servers = tuple(_VOTER.unpack_from(value, _VOTERS.size + at * _VOTER.size)[0] for at in range(count))
    if not all(0 <= server < _MOST_VOTERS for server in servers):
        raise BadBatchError("INVALID_RECORD", "A record of voters names a server that cannot be.")
    return servers


def number_of(key: bytes | None, value: bytes | None, epoch: int) -> int | None:
    """What the core has in place of a control record; None if it is another one.

    Raises:
        BadBatchError: as :func:`voters_of`.
    """
    if key == LEADER_CHANGE:
        return -1 - epoch
    if key == VOTERS:
        return -1 - ((sum(1 << server for server in voters_of(value or b"")) << _EPOCH_BITS) | epoch)
    return None

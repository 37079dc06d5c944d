"""Why a follower cut its log, in the words that the protocol core uses for its own replicas, where both know the case."""

from __future__ import annotations

LOCAL_HW = "to high watermark"
UNKNOWN_EPOCH = "leader does not know the epoch: to high watermark"
FULLY = "fully"
PROMOTED = "a future log took its place when the broker started"
NO_REASON = "the broker's log gives no reason"


def to_leaders_offset(offset: int) -> str:
    """KIP-101, or a leader whose answer has no epoch, or an epoch before all of ours."""
    return f"to the leader's offset {offset}"


def to_common_epoch(epoch: int) -> str:
    """KIP-279: both know the epoch of the answer."""
    return f"to the end of common epoch {epoch}"


def below_unknown_epoch(epoch: int) -> str:
    """KIP-279: the leader answered with an epoch that we do not have; it will be asked again."""
    return f"to the end of the last local epoch before {epoch}"


def out_of_range(offset: int) -> str:
    """The leader's log ends before ours."""
    return f"out of range: to the leader's log end {offset}"


def below_leaders_start(offset: int) -> str:
    """The leader's log begins after ours ends."""
    return f"out of range: to the leader's log start {offset}"

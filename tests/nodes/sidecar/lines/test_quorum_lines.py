"""What a node says of a quorum of controllers. The lines are those of 3.7, 3.9 and 4.3."""

import pytest

from tidemark.nodes.sidecar.line_events import MetadataCommitted, QuorumRole
from tidemark.nodes.sidecar.lines import LineReader

AT = "2026-11-28T17:00:00.000"
STATE, LEADER, FOLLOWER = (f"org.apache.kafka.raft.{name}" for name in ("QuorumState", "LeaderState", "FollowerState"))


@pytest.mark.parametrize(
    ("logger", "level", "words", "event"),
    [
        (
            STATE,
            "INFO",
            "Completed transition to Leader(localReplicaKey=ReplicaKey(id=1, directoryId=x), epoch=7, epochStartOffset=40, "
            "highWatermark=Optional.empty, voterStates={}) from CandidateState(localId=1, epoch=7)",
            QuorumRole(7, leads=True),
        ),
        (
            STATE,
            "INFO",
            "Completed transition to Leader(localId=0, epoch=1, epochStartOffset=0, highWatermark=Optional.empty, voterStates={})",
            QuorumRole(1, leads=True),
        ),
        (
            STATE,
            "INFO",
            "Completed transition to ResignedState(localId=1, epoch=7, voters=[0, 1, 2], electionTimeoutMs=1) from Leader(localId=1, "
            "epoch=7)",
            QuorumRole(7, leads=False),
        ),
        (
            STATE,
            "INFO",
            "Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=8, leader=0, leaderEndpoints=Endpoints(endpoints={}))",
            QuorumRole(8, leads=False),
        ),
        (STATE, "INFO", "Attempting durable transition to Leader(localId=0, epoch=9) from null", None),
        (
            LEADER,
            "INFO",
            "High watermark set to LogOffsetMetadata(offset=41, metadata=Optional.empty) for the first time for epoch 7 based on "
            "indexOfHw 1 and voters []",
            MetadataCommitted(41),
        ),
        (
            LEADER,
            "DEBUG",
            "High watermark set to LogOffsetMetadata(offset=43, metadata=Optional[(segmentBaseOffset=0,relativePositionInSegment=9)]) "
            "from LogOffsetMetadata(offset=41, metadata=Optional.empty) based on indexOfHw 1 and voters []",
            MetadataCommitted(43),
        ),
        (
            FOLLOWER,
            "TRACE",
            "High watermark set to Optional[LogOffsetMetadata(offset=44, metadata=Optional.empty)] from "
            "LogOffsetMetadata(offset=43, metadata=Optional.empty) for epoch 8",
            MetadataCommitted(44),
        ),
    ],
)
def test_lines(logger, level, words, event):
    line = f"{AT} {level} {logger} - [RaftManager id=1] {words}"

    assert LineReader(quorum=True).read(line) == ([] if event is None else [event])
    assert LineReader().read(line) == []

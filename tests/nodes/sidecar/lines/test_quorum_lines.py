"""What a node says of a quorum of controllers. The lines are those of 3.7, 3.9 and 4.3."""

import pytest

from tidemark.nodes.sidecar.line_events import MetadataCommitted, QuorumRole, VotersRead
from tidemark.nodes.sidecar.lines import LineReader

STATE, LEADER, FOLLOWER = (f"org.apache.kafka.raft.{name}" for name in ("QuorumState", "LeaderState", "FollowerState"))
VOTERS = "org.apache.kafka.raft.internals.KRaftControlRecordStateMachine"
VOTER = (
    "{}=VoterNode(voterKey=ReplicaKey(id={}, directoryId=Optional[KdRhPcHnTW6Kl8sYtVZx0A]), listeners=Endpoints(endpoints="
    "{{ListenerName(CONTROLLER)=/127.0.0.1:29100}}), supportedKRaftVersion=SupportedVersionRange[min_version:0, max_version:1])"
)
LATEST = f"Latest set of voters is VoterSet(voters={{{VOTER.format(0, 0)}, {VOTER.format(12, 12)}}}) at offset "
OFFSET = "LogOffsetMetadata(offset={}, metadata=Optional[(segmentBaseOffset=0,relativePositionInSegment=9)])"
LED = "Leader(localId=1, epoch=7, epochStartOffset=40, voterStates={})"
LED_SINCE_3_9 = "Leader(localReplicaKey=ReplicaKey(id=1, directoryId=x), epoch=7, epochStartOffset=40)"
FIRST = f"High watermark set to {OFFSET.format(41)} for the first time for epoch 7 based on indexOfHw 1 and voters []"
NEXT = f"High watermark set to {OFFSET.format(43)} from {OFFSET.format(41)} based on indexOfHw 1 and voters []"
HEARD = f"High watermark set to Optional[{OFFSET.format(44)}] from {OFFSET.format(43)} for epoch 8"


@pytest.mark.parametrize(
    ("logger", "level", "words", "events"),
    [
        (STATE, "INFO", f"Completed transition to {LED} from Candidate(epoch=7)", [QuorumRole(7, leads=True)]),
        (STATE, "INFO", f"Completed transition to {LED_SINCE_3_9} from null", [QuorumRole(7, leads=True)]),
        (STATE, "INFO", f"Completed transition to ResignedState(epoch=7) from {LED}", [QuorumRole(7, leads=False)]),
        (
            STATE,
            "INFO",
            f"Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=8, leader=0) from {LED}",
            [QuorumRole(8, leads=False)],
        ),
        (STATE, "INFO", f"Attempting durable transition to {LED} from null", []),
        (LEADER, "INFO", FIRST, [MetadataCommitted(41)]),
        (LEADER, "DEBUG", NEXT, [MetadataCommitted(43)]),
        (FOLLOWER, "TRACE", HEARD, [MetadataCommitted(44)]),
        (VOTERS, "INFO", LATEST + "312", [VotersRead(312, (0, 12))]),
        (VOTERS, "INFO", LATEST + "-1", [VotersRead(-1, (0, 12))]),
        (VOTERS, "INFO", "Latest kraft.version is KRAFT_VERSION_1 at offset 1", []),
    ],
)
def test_lines(logger, level, words, events):
    line = f"2026-11-28T17:00:00.000 {level} {logger} - [RaftManager id=1] {words}"

    assert LineReader(quorum=True).read(line) == events
    assert LineReader().read(line) == []

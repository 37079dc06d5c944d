"""Lines that the recordings do not hold: worded as the classes of 2.8.2, 3.9.1, 4.1.1 and 4.2.1 word them."""

from __future__ import annotations

import pytest

from tidemark.nodes.sidecar.line_events import (
    Answered,
    Asked,
    Fatal,
    Follows,
    IsrView,
    Leads,
    Loaded,
    LogStart,
    Refused,
    ShutDown,
    ShuttingDown,
    Truncated,
)
from tidemark.nodes.sidecar.lines import LineReader

T = "t-0"
FETCHER = "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] "
LOG = "[Log partition=t-0, dir=/d] "
FOLLOWS = (
    "INFO state.change.logger - [Broker id=2] Follower t-0 starts at leader epoch 4 from offset 9 with partition epoch 5 "
    "and high watermark 7. Current leader is 1. Previous leader Some(3) and previous leader epoch was 3."
)
LEADS = (
    "INFO state.change.logger - [Broker id=2] Leader t-0 with topic id Some(abc) starts at leader epoch 4 from offset 9 with "
    "partition epoch 5, high watermark 7, ISR [1,2], adding replicas [] and removing replicas [] . Previous leader None and "
    "previous leader epoch was -1."
)


def stamped(lines):
    return [line if line.startswith(("\t", "java", "org")) else f"2026-11-21T15:00:00.000 {line}" for line in lines]


def read(*lines):
    reader = LineReader()
    return [event for line in stamped(lines) for event in reader.read(line)] + reader.end()


def asked(answer, current=4):
    return [
        (
            f"DEBUG org.apache.kafka.clients.NetworkClient - {FETCHER}Sending OFFSET_FOR_LEADER_EPOCH request with header H and "
            "timeout 30000 to node 1: OffsetForLeaderEpochRequestData(replicaId=2, topics=[OffsetForLeaderTopic(topic='t', "
            f"partitions=[OffsetForLeaderPartition(partition=0, currentLeaderEpoch={current}, leaderEpoch=3)])])"
        ),
        (
            f"DEBUG org.apache.kafka.clients.NetworkClient - {FETCHER}Received OFFSET_FOR_LEADER_EPOCH response from node 1 for "
            "request with header H: OffsetForLeaderEpochResponseData(throttleTimeMs=0, topics=[OffsetForLeaderTopicResult("
            f"topic='t', partitions=[EpochEndOffset({answer})])])"
        ),
    ]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            (
                f"WARN kafka.server.ReplicaFetcherThread - {FETCHER}Based on replica's leader epoch, leader replied with an "
                "unknown offset in t-0. The initial fetch offset 7 will be used for truncation."
            ),
            "leader does not know the epoch: to high watermark",
        ),
        (
            (
                f"INFO kafka.server.ReplicaFetcherThread - {FETCHER}Based on replica's leader epoch, leader replied with epoch 2 "
                "unknown to the replica for t-0. Will truncate to 5 and send another leader epoch request to the leader."
            ),
            "to the end of the last local epoch before 2",
        ),
        (
            (
                f"WARN kafka.server.ReplicaFetcherThread - {FETCHER}Based on replica's leader epoch, leader replied with epoch 1 "
                "below any replica's tracked epochs for t-0. The leader's offset only 5 will be used for truncation."
            ),
            "to the leader's offset 5",
        ),
        (
            (
                f"WARN kafka.server.ReplicaFetcherThread - {FETCHER}Reset fetch offset for partition t-0 from 9 to current "
                "leader's latest offset 5"
            ),
            "out of range: to the leader's log end 5",
        ),
    ],
)
def test_why_a_log_is_cut(words, reason):
    cut = f"INFO kafka.log.Log - {LOG}Truncating to offset 5"
    assert read(FOLLOWS, words, cut)[-1] == Truncated(T, 5, reason, 4)


def test_a_reason_does_not_outlive_a_cut_that_has_no_effect():
    hw = f"INFO kafka.server.ReplicaFetcherThread - {FETCHER}Truncating partition t-0 to local high watermark 9"
    nothing = f"INFO kafka.log.Log - {LOG}Truncating to 9 has no effect as the largest offset in the log is 8"
    cut = f"INFO kafka.log.Log - {LOG}Truncating to offset 5"
    assert read(FOLLOWS, hw, nothing, cut)[1:] == [Truncated(T, 5, "the broker's log gives no reason", 4)]


def test_an_answer():
    answer = asked("errorCode=0, partition=0, leaderEpoch=2, endOffset=6")
    assert read(FOLLOWS, *answer)[1:] == [Asked(T, 1, 3), Answered(T, 3, None, 2, 6)]


def test_an_answer_that_is_an_error():
    answer = asked("errorCode=75, partition=0, leaderEpoch=-1, endOffset=-1")
    words = "leader 1 refused to tell the end of epoch 3: UNKNOWN_LEADER_EPOCH"
    assert read(FOLLOWS, *answer)[1:] == [Asked(T, 1, 3), Refused(T, words)]


@pytest.mark.parametrize("role", [LEADS, FOLLOWS.replace("leader epoch 4 from", "leader epoch 5 from")])
def test_an_answer_that_came_too_late_is_void(role):
    question, answer = asked("errorCode=0, partition=0, leaderEpoch=2, endOffset=6")
    assert not [event for event in read(FOLLOWS, question, role, answer) if isinstance(event, Answered)]


def test_an_unknown_error_has_a_number():
    answer = asked("errorCode=17, partition=0, leaderEpoch=-1, endOffset=-1")
    assert read(FOLLOWS, *answer)[-1] == Refused(T, "leader 1 refused to tell the end of epoch 3: error 17")


def test_a_follower_without_a_leader_keeps_what_was_known_of_its_log():
    announced = (
        "TRACE state.change.logger - [Broker id=2] Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='t', "
        "partitionIndex=0, controllerEpoch=1, leader=-1, leaderEpoch=6, isr=[1], zkVersion=6, replicas=[1, 2], "
        "addingReplicas=[], removingReplicas=[], isNew=false) correlation id 2 from controller 0 epoch 1"
    )
    unavailable = (
        "ERROR state.change.logger - [Broker id=2] Received LeaderAndIsrRequest with correlation id 2 from controller 0 epoch 1 "
        "for partition t-0 (last update controller epoch 1) but cannot become follower since the new leader -1 is unavailable."
    )
    cut = f"INFO kafka.log.Log - {LOG}Truncate and start at offset 3"
    assert read(FOLLOWS, cut, announced, unavailable)[-1] == Follows(T, 6, -1, 3, -1)
    assert read(FOLLOWS, announced, unavailable, unavailable)[-1:] == [Follows(T, 6, -1, 0, -1)]


@pytest.mark.parametrize(
    "committed",
    [
        "CommittedPartitionState(isr=Set(1, 2), leaderRecoveryState=RECOVERED)",
        "CommittedPartitionState[isr=[1, 2], leaderRecoveryState=RECOVERED]",
    ],
    ids=["4.1", "4.2"],
)
def test_a_rejected_isr_change_is_taken_back(committed):
    sending = (
        "DEBUG org.apache.kafka.clients.NetworkClient - [NodeToControllerChannelManager id=2 name=alter-partition] Sending "
        "ALTER_PARTITION request with header H and timeout 30000 to node 0: AlterPartitionRequestData(brokerId=2, "
        "brokerEpoch=61, topics=[TopicData(topicId=abc, partitions=[PartitionData(partitionIndex=0, leaderEpoch=4, newIsr=[], "
        "newIsrWithEpochs=[BrokerState(brokerId=2, brokerEpoch=28), BrokerState(brokerId=3, brokerEpoch=61), "
        "BrokerState(brokerId=1, brokerEpoch=9)], leaderRecoveryState=0, partitionEpoch=5)])])"
    )
    rejected = (
        "INFO kafka.cluster.Partition - [Partition t-0 broker=2] Failed to alter partition to PendingExpandIsr(newInSyncReplicaId"
        f"=3, sentLeaderAndIsr=X, lastCommittedState={committed}) since the controller rejected the request with "
        f"INELIGIBLE_REPLICA. Partition state has been reset to the latest committed state {committed}."
    )
    found = read(LEADS, sending, rejected)
    assert found == [Leads(T, 4, 9, 7, (1, 2)), IsrView(T, (1, 2), (1, 2, 3), 5), IsrView(T, (1, 2), (1, 2), 5)]


STILL_LEADS = (
    "INFO state.change.logger - [Broker id=2] Skipped the become-leader state change for t-0 with topic id Some(abc)%s since it is "
    "already the leader with leader epoch 4. Current high watermark 7, ISR [1,2,3], adding replicas [] and removing replicas []."
)


@pytest.mark.parametrize(
    "state",
    [
        (
            " and partition state LeaderAndIsrPartitionState(topicName='t', partitionIndex=0, controllerEpoch=-1, leader=2, "
            "leaderEpoch=4, isr=[1, 2, 3], partitionEpoch=6, replicas=[1, 2, 3], addingReplicas=[], removingReplicas=[], "
            "isNew=false, leaderRecoveryState=0)"
        ),
        (
            ", partition registration PartitionRegistration(replicas=[1, 2, 3], directories=[a, b, c], isr=[1, 2, 3], "
            "removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=2, leaderRecoveryState=RECOVERED, "
            "leaderEpoch=4, partitionEpoch=6) and isNew=false"
        ),
    ],
    ids=["4.1", "4.2"],
)
def test_an_isr_change_of_which_the_leader_hears_from_the_metadata_first(state):
    """The answer to its own request comes later, and is passed over without a word."""
    assert read(LEADS, STILL_LEADS % state)[1:] == [IsrView(T, (1, 2, 3), (1, 2, 3), 6)]


def test_the_isr_in_zookeeper():
    writing = (
        "DEBUG kafka.server.ZkIsrManager - Writing new ISR List(1, 2, 3) to ZooKeeper with version 5 for partition t-0"
    )
    updated = "INFO kafka.cluster.Partition - [Partition t-0 broker=2] ISR updated to 1,2,3 and version updated to [6]"
    assert read(LEADS, writing, updated)[1:] == [IsrView(T, (1, 2), (1, 2, 3), 5), IsrView(T, (1, 2, 3), (1, 2, 3), 6)]


def test_a_view_that_did_not_change_is_not_told_again():
    updated = "INFO kafka.cluster.Partition - [Partition t-0 broker=2] ISR updated to 1,2,3 and version updated to [6]"
    assert len(read(LEADS, updated, updated)) == 2


@pytest.mark.parametrize("name", ["t-0", "my-topic-12", "a.b_c-3"])
def test_topics_may_have_dashes(name):
    topic, _, number = name.rpartition("-")
    line = (
        f"INFO kafka.log.LogManager - Completed load of Log(dir=/d/{name}, topic={topic}, partition={number}, "
        "highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=14) with 1 segments in 9ms"
    )
    assert read(line) == [Loaded(name, 14)]
    assert read(line.replace("logStartOffset=0", "logStartOffset=9")) == [Loaded(name, 14, 9)]


@pytest.mark.parametrize(
    "log",
    [
        "kafka.log.Log - [Log partition=t-0, dir=/d]",
        "kafka.log.UnifiedLog - [UnifiedLog partition=t-0, dir=/d]",
        "org.apache.kafka.storage.internals.log.UnifiedLog - [UnifiedLog partition=t-0, dir=/d]",
    ],
)
def test_a_log_start_moves_for_three_reasons(log):
    lines = [
        f"INFO {log} Incremented log start offset to {offset} due to {why}"
        for offset, why in [
            (3, "client delete records request"),
            (5, "leader offset increment"),
            (7, "segment deletion"),
            (9, "snapshot generated"),
        ]
    ]

    assert read(*lines) == [LogStart(T, 3, "delete-records"), LogStart(T, 5, "leader"), LogStart(T, 7, "retention")]
    assert read(lines[0].removesuffix(" due to client delete records request")) == []


def test_a_failure_is_told_with_its_cause_and_without_its_stack():
    found = read(
        f"ERROR kafka.server.ReplicaFetcherThread - {FETCHER}Unexpected error occurred while processing data for partition t-0 "
        "at offset 11",
        "org.apache.kafka.common.errors.OffsetOutOfRangeException: First offset 9 is less than the next offset 11.",
        "\tat kafka.log.Log.append(Log.scala:1)",
        f"WARN kafka.server.ReplicaFetcherThread - {FETCHER}Partition t-0 marked as failed",
        FOLLOWS,
    )
    cause = "org.apache.kafka.common.errors.OffsetOutOfRangeException: First offset 9 is less than the next offset 11."
    assert found[:2] == [
        Refused(T, f"Unexpected error occurred while processing data for partition t-0 at offset 11: {cause}"),
        Refused(T, "Partition t-0 marked as failed"),
    ]


def test_a_failure_whose_cause_is_not_told():
    line = f"WARN kafka.server.ReplicaFetcherThread - {FETCHER}Partition t-0 marked as failed"
    assert read(line, FOLLOWS)[0] == read(line)[0] == Refused(T, "Partition t-0 marked as failed")


@pytest.mark.parametrize(
    "words",
    [
        "ERROR kafka.server.KafkaServer - [KafkaServer id=1] Fatal error during KafkaServer startup. Prepare to shutdown",
        "ERROR kafka.Kafka$ - Exiting Kafka due to fatal exception during startup.",
        "ERROR kafka.log.LogManager - Shutdown broker because all log dirs in /d have failed",
        "ERROR kafka.server.ReplicaManager$LogDirFailureHandler - [LogDirFailureHandler]: Halting broker because dir /d is offline",
        "ERROR org.apache.kafka.server.fault.ProcessTerminatingFaultHandler - Encountered fatal fault: Error starting LogManager",
    ],
)
def test_a_broker_that_gives_up_does_not_shut_down_in_good_order(words):
    found = read(
        words,
        "java.lang.IllegalStateException: why",
        "\tat kafka.Kafka.main(Kafka.scala)",
        "INFO kafka.server.KafkaServer - [KafkaServer id=1] shutting down",
        "INFO kafka.server.KafkaServer - [KafkaServer id=1] shut down completed",
    )
    said = words.partition(" - ")[2].rstrip(".")
    assert found == [Fatal(f"{said}: java.lang.IllegalStateException: why")]


def test_what_the_disk_refused_is_told_with_the_end_that_it_brings():
    found = read(
        "ERROR kafka.server.LogDirFailureChannel - Error while appending records to t-0 in dir /d",
        "java.io.IOException: No space left on device",
        "\tat java.base/sun.nio.ch.FileDispatcherImpl.write0(Native Method)",
        "ERROR kafka.log.LogManager - Shutdown broker because all log dirs in /d have failed",
    )
    refused = "Error while appending records to t-0 in dir /d: java.io.IOException: No space left on device"
    assert found == [Fatal(f"Shutdown broker because all log dirs in /d have failed ({refused})")]


@pytest.mark.parametrize(
    "line",
    [
        "Terminating due to java.lang.OutOfMemoryError: Java heap space",
        "# There is insufficient memory for the Java Runtime Environment to continue.",
        "Error: Could not find or load main class kafka.Kafka",
        'Exception in thread "main" java.lang.reflect.InvocationTargetException',
    ],
)
def test_the_jvm_gives_up(line):
    assert LineReader().read(line) == [Fatal(line)]


@pytest.mark.parametrize("system", ["KafkaServer", "BrokerServer"])
def test_an_orderly_end(system):
    lines = [f"INFO kafka.server.{system} - [{system} id=1] shutting down"]
    lines += [f"INFO kafka.server.{system} - [{system} id=1] shut down completed"]
    assert read(*lines) == [ShuttingDown(), ShutDown()]


def test_the_orderly_end_of_a_controller():
    last = "INFO org.apache.kafka.common.utils.AppInfoParser - App info kafka.server for 0 unregistered"
    shutting_down = "INFO kafka.server.ControllerServer - [ControllerServer id=0] shutting down"
    assert read(last, shutting_down, last, last) == [ShuttingDown(), ShutDown()]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\tat kafka.utils.ShutdownableThread.run(ShutdownableThread.scala:96)",
        "KafkaConfig values: ",
        (
            "2026-11-21T15:00:00.000 TRACE kafka.log.UnifiedLog - [UnifiedLog partition=__cluster_metadata-0, dir=/d] Appended "
            "message set with last offset: 3, first offset: 3, next offset: 4, and messages: M"
        ),
        "2026-11-21T15:00:00.000 TRACE kafka.log.Log - [Log partition=t-0, dir=/d] Reading maximum 10 bytes at offset 0",
        "2026-11-21T15:00:00.000 INFO kafka.some.Other - Truncating to offset 5",
        "2026-11-21T15:00:00.000 TRACE kafka.log.Log - [Log partition=t-0, dir=/d] Appended message set with last offset: 9, fir",
    ],
)
def test_lines_that_say_nothing(line):
    assert not LineReader().read(line)

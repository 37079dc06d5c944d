"""Differences between the model and real Apache Kafka that were looked into; docs/real-kafka.md tells the longer stories.

Whatever differs and is not in this list is unexplained, and makes ``tidemark conform`` exit with 1. What is in this list and does
not show any more is reported as stale.
"""

from __future__ import annotations

from tidemark.harness.conform.known_difference import KnownDifference

_NOBODY_TO_READ_FROM = (
    "nobody leads in the end, so nobody can be read; a consumer of the model says so, one of Kafka finds no offset to "
    "begin at"
)

KNOWN_DIFFERENCES: tuple[KnownDifference, ...] = (
    KnownDifference(
        why="a leader that is deposed answers NOT_LEADER_OR_FOLLOWER to producers that still wait for its followers; ours lets "
        "them time out, so that nobody takes the answer for a refusal",
        source="docs/protocol.md, differences from Kafka; DelayedProduce in Apache Kafka",
        scenario="*",
        system="kafka:*",
        aspect="send of *",
        model="REQUEST_TIMED_OUT",
        seen="NOT_LEADER_OR_FOLLOWER",
        always=False,
    ),
    KnownDifference(
        why="whether a follower hears of the last high watermark before its leader fails is a matter of time, and so is whether "
        "consumers see it move back",
        source="KIP-207",
        scenario="*",
        system="kafka:*",
        aspect="anomaly: permitted hw-regression*",
        always=False,
    ),
    KnownDifference(
        why="a KRaft broker that starts again may take itself for the leader of its old epoch until it has read the metadata on; "
        "it notes that epoch in its cache, and its leader sets it right with a diverging answer",
        source="seen on Apache Kafka 4.1.1",
        scenario="last-replica-standing-*",
        system="kafka:[34].*",
        aspect="questions of *",
        always=False,
    ),
    KnownDifference(
        why="a KRaft broker that starts again takes itself for the leader of its old epoch until it has read the metadata on, and "
        "notes that epoch in its cache; nobody leads afterwards who would set it right",
        source="seen on Apache Kafka 4.3.1: A's state.change.logger tells of leader epoch 1 before and after the crash",
        scenario="eligible-but-no-replica",
        system="kafka:4.*",
        aspect="epochs of A",
        model="0@0",
        seen="0@0 1@2",
        always=False,
    ),
    KnownDifference(
        why="an election that somebody asks for is made by a new order of the replicas, which costs a leader epoch of its own "
        "with ZooKeeper; a follower that cuts to its high watermark cuts then, too, and fetches again what it had",
        source="KafkaController.updateCurrentReassignment, Kafka 2.8; the model asks for nothing but the election",
        scenario="kafka-7786-late-answer",
        system="kafka:2.8.2@0.10.2",
        aspect="truncations of C",
        always=False,
    ),
    KnownDifference(
        why="records of message format 1 carry no leader epoch; theirs is told by the epoch of the follower that appended them, "
        "and this one had missed two",
        source="KIP-98, message format 2; the model's records have an epoch under every protocol",
        scenario="kafka-6880-zombie-follower",
        system="kafka:2.8.2@0.10.2",
        aspect="log of 2",
        model="0:a0..a49 2:b50..b59 3:c60",
        seen="0:a0..a49 0:b50..b59 3:c60",
    ),
    KnownDifference(
        why="a fetcher thread does one thing at a time: while it waits for the answer to a fetch, which is withheld here, it "
        "asks that leader nothing",
        source="AbstractFetcherThread.doWork, ReplicaFetcherBlockingSend; the model's followers have no connections that wait",
        scenario="kafka-6880-zombie-follower",
        system="kafka:2.8.2@*",
        aspect="questions of 3",
        model="*, 50); *",
        always=False,
    ),
    KnownDifference(
        why="an answer that comes too late is thrown away unread, which the broker says nothing of; the model notes that it came",
        source="KAFKA-7786, repaired in Kafka 2.1.1; AbstractFetcherThread.maybeTruncateToEpochEndOffsets",
        scenario="kafka-7786-late-answer",
        system="kafka:2.8.2@*",
        aspect="questions of *",
        always=False,
    ),
    KnownDifference(
        why="with ZooKeeper a reassignment of 2.8 goes through leader epochs in which the leader stays; a follower asks in each",
        source="KafkaController.onPartitionReassignment, Kafka 2.8",
        scenario="kafka-15665-leader-moved",
        system="kafka:2.8.2@*",
        aspect="questions of *",
        always=False,
    ),
    KnownDifference(
        why="an election that somebody asks for is made by a new order of the replicas, and goes back to the old one after it, in "
        "a leader epoch of its own with ZooKeeper; a follower asks in each",
        source="KafkaController.updateCurrentReassignment, Kafka 2.8; the model asks for nothing but the election",
        scenario="kafka-6880-zombie-follower",
        system="kafka:2.8.2@*",
        aspect="questions of 1",
        always=False,
    ),
    KnownDifference(
        why="broker 2 is killed as soon as it leads: whether broker 3 has asked it by then is a matter of time",
        source="the script, step 2",
        scenario="last-replica-standing-killed",
        system="kafka:*",
        aspect="questions of 3",
        always=False,
    ),
    KnownDifference(
        why="an election that somebody asks for costs a second leader epoch with ZooKeeper; where the answer to a fetch of the "
        "first one arrives in the second, the broker cuts, and says nothing of why",
        source="seen on Apache Kafka 2.8.2: AbstractFetcherThread.processFetchRequest does not look at the epoch",
        scenario="*",
        system="kafka:2.8.2@2.8",
        aspect="questions of *",
        seen="none",
        always=False,
    ),
    KnownDifference(
        why=_NOBODY_TO_READ_FROM,
        source="the script, step 6",
        scenario="kafka-14424-taken-back",
        system="kafka:2.8.2@*",
        aspect="reads",
        model="in the end REQUEST_TIMED_OUT",
        seen="none",
        always=False,
    ),
    *(
        KnownDifference(
            why=_NOBODY_TO_READ_FROM,
            source="the script, step 4",
            scenario=scenario,
            system="kafka:4.*",
            aspect="reads",
            model="in the end REQUEST_TIMED_OUT",
            seen="none",
            always=False,
        )
        for scenario in ("eligibility-forgotten", "eligible-but-no-replica", "elr-switched-off", "elr-switched-on")
    ),
    KnownDifference(
        why="a controller elects nobody whose replica was in a log directory that the broker does not have any more, so the broker "
        "that comes back with an empty disk does not lead, though it is the last known leader, unless it is unfenced after it has "
        "told where its new log is; the model has no log directories",
        source="KIP-858; ReplicationControlManager.LeaderAcceptor in Apache Kafka 3.9 and 4.3.1",
        scenario="sole-isr-member-comes-back-empty",
        system="kafka:[34].*",
        aspect="played",
        always=False,
    ),
    KnownDifference(
        why="records of message format 1 that are not compressed have no batch around them: the follower appends what lies beyond "
        "its log end, and differs below it",
        source="KIP-98, message format 2; the model's batches are whole under every protocol",
        scenario="kip-101-batch-midpoint",
        system="kafka:2.8.2@0.10.2",
        aspect="* of A",
    ),
    KnownDifference(
        why="records of message format 1 that are not compressed have no batch around them: so the follower is not stuck",
        source="KIP-98, message format 2; the model's batches are whole under every protocol",
        scenario="kip-101-batch-midpoint",
        system="kafka:2.8.2@0.10.2",
        aspect="anomaly: violation stuck",
        seen="–",
    ),
    KnownDifference(
        why="answers that were withheld come when the asker leads, and are thrown away; the model notes that they came, and a "
        "broker has given up the connection to who is dead",
        source="the script, step 4; NetworkClient, request.timeout.ms",
        scenario="kip-279-error-to-high-watermark",
        system="kafka:*",
        aspect="questions of 3",
        seen="none",
        always=False,
    ),
    KnownDifference(
        why="with ZooKeeper a shrinking ISR costs a leader epoch, and the record that follows is of the new one only if its leader "
        "has heard of it by then, which is a matter of time: followers ask about the one or the other",
        source="the script, step 1; KafkaController.onBrokerFailure, Kafka 2.8",
        scenario="who-is-first-to-come-back",
        system="kafka:2.8.2@*",
        aspect="questions of *",
        always=False,
    ),
    KnownDifference(
        why="the new order of the replicas, by which an election is asked for, costs the old leader a leader epoch of its own with "
        "ZooKeeper, in which nothing is written; its next leader has never heard of that epoch, and says so, and nothing is cut",
        source="KafkaController.updateCurrentReassignment, Kafka 2.8; the model asks for nothing but the election",
        scenario="kip-279-two-rounds",
        system="kafka:2.8.2@2.8",
        aspect="questions of B",
        seen="fetch 1 after epoch 0 -> (0, 1); *",
        always=False,
    ),
)

"""What one life tells, event by event, in each version."""

from __future__ import annotations

import pytest

from tidemark.nodes.sidecar.line_events import (
    Answered,
    Appended,
    Asked,
    Fatal,
    Fetched,
    Follows,
    HighWatermark,
    IsrView,
    Leads,
    Loaded,
    Refused,
    Registered,
    ShutDown,
    ShuttingDown,
    Started,
    Truncated,
    TruncatedFully,
)

T = "t-0"


@pytest.mark.parametrize(
    ("recording", "epoch", "common"),
    [("2.8.2-at-2.8", 7, 4), ("3.9.1", 3, 2), ("4.0.0", 3, 2), ("4.1.1", 3, 2), ("4.2.1", 3, 2), ("4.3.1", 3, 2)],
)
def test_truncation_on_fetch_after_an_unclean_election(life, recording, epoch, common):
    found = life(recording, "1.3", Registered, Started)
    roles = [event for event in found if not isinstance(event, HighWatermark | Fetched)]
    assert roles == [
        Loaded(T, 23),
        Follows(T, epoch, 3, 23, 20),
        Answered(T, epoch - 2 if recording == "2.8.2-at-2.8" else 2, 23, common, 20),
        Truncated(T, 20, f"to the end of common epoch {common}", epoch),
        Appended(T, 20, 22),
        Appended(T, 22, 23),
    ]
    assert isinstance(found[found.index(Appended(T, 20, 22)) - 1], Fetched)


def test_the_high_watermark_that_2_8_takes_from_a_diverging_answer(life):
    """KAFKA-14704: it rises before the log is cut, and falls with the cut."""
    assert [event.hw for event in life("2.8.2-at-2.8", "1.3") if isinstance(event, HighWatermark)] == [20, 22, 20, 22]
    assert [event.hw for event in life("3.9.1", "1.3") if isinstance(event, HighWatermark)] == [20, 22]


def test_the_model_asks_once_and_kip_101_cuts_where_the_leader_says(life):
    assert life("2.8.2-at-1.1-kip-279", "2.3", Registered, Started, HighWatermark)[:7] == [
        Loaded(T, 31),
        Follows(T, 3, 1, 31, 0),
        Asked(T, 1, 2),
        Answered(T, 2, None, -1, 21),
        Truncated(T, 21, "to the leader's offset 21", 3),
        Fetched(T, 1, 161),
        Appended(T, 21, 31),
    ]


def test_kip_279_cuts_to_the_end_of_the_common_epoch(life):
    assert life("2.8.2-at-2.0-kip-279", "2.3", Registered, Started, HighWatermark)[:7] == [
        Loaded(T, 31),
        Follows(T, 3, 1, 31, 0),
        Asked(T, 1, 2),
        Answered(T, 2, None, 1, 21),
        Truncated(T, 11, "to the end of common epoch 1", 3),
        Fetched(T, 1, 322),
        Appended(T, 11, 31),
    ]


def test_0_10_cuts_to_its_high_watermark_and_its_appends_name_no_first_offset(life):
    found = life("2.8.2-at-0.10.2-acked-loss", "1.2", Registered, Started, HighWatermark, Fetched)
    assert found == [
        Loaded(T, 3),
        Follows(T, 2, 3, 3, 0),
        Truncated(T, 0, "to high watermark", 2),
        Appended(T, 0, 3),
        Appended(T, 3, 4),
    ]


@pytest.mark.parametrize(
    "recording", ["2.8.2-at-2.8-no-leader", "3.9.1-no-leader", "4.1.1-no-leader", "4.2.1-no-leader", "4.3.1-no-leader"]
)
def test_a_replica_that_has_no_leader_follows_nobody(life, recording):
    leaders = [event.leader for event in life(recording, "2.2") if isinstance(event, Follows)]
    assert leaders == [-1, 1]


@pytest.mark.parametrize(
    "recording", ["2.8.2-at-2.8-no-leader", "3.9.1-no-leader", "4.1.1-no-leader", "4.2.1-no-leader", "4.3.1-no-leader"]
)
def test_a_log_whose_end_is_below_the_leaders_start_is_dropped(life, recording):
    found = [e for e in life(recording, "2.3") if isinstance(e, Refused | TruncatedFully | Appended)]
    refused = [event for event in found if isinstance(event, Refused) and "OUT_OF_RANGE" in event.words]
    assert refused[:1] == [Refused(T, "leader 1 refused a fetch from offset 5: OFFSET_OUT_OF_RANGE")]
    after = found[found.index(refused[0]) + 1 :]
    reason = "out of range: to the leader's log start 12"
    assert after[:2] == [TruncatedFully(T, 12, reason), Appended(T, 12, 15)]


@pytest.mark.parametrize("recording", ["3.7.2", "3.9.1", "4.1.1", "4.2.1", "4.3.1"])
def test_the_isr_as_a_kraft_leader_sees_it(life, recording):
    found = [event for event in life(recording, "1.2") if isinstance(event, Leads | IsrView)]
    assert found[0] == Leads(T, 2, 17, 17, (1, 2, 3))
    assert [(event.isr, event.maximal) for event in found[1:]] == [
        ((1, 2), (1, 2)),
        ((1, 2), (1, 2, 3)),
        ((1, 2, 3), (1, 2, 3)),
        ((1, 3), (1, 3)),
        ((1, 3), (1, 2, 3)),
        ((1, 2, 3), (1, 2, 3)),
        ((1, 2), (1, 2)),
    ]
    assert [event.partition_epoch for event in found[1:]] == [4, 4, 5, 6, 6, 7, 8]


def test_the_isr_as_a_leader_with_zookeeper_sees_it(life):
    """The controller's changes come with a new leader epoch."""
    found = [event for event in life("2.8.2-at-2.8", "1.2") if isinstance(event, Leads | IsrView)]
    assert found == [
        Leads(T, 2, 17, 17, (1, 2, 3)),
        Leads(T, 3, 18, 18, (1, 2)),
        Leads(T, 4, 19, 19, (1,)),
        IsrView(T, (1,), (1, 3), 5),
        IsrView(T, (1, 3), (1, 3), 6),
        IsrView(T, (1, 3), (1, 2, 3), 6),
        IsrView(T, (1, 2, 3), (1, 2, 3), 7),
        Leads(T, 5, 20, 20, (1, 2)),
    ]


@pytest.mark.parametrize("recording", ["2.8.2-at-2.8", "3.7.2", "3.9.1", "4.0.0", "4.1.1", "4.2.1", "4.3.1"])
def test_an_orderly_life(life, recording):
    kinds = (Registered, Started, ShuttingDown, ShutDown)
    found = [event for event in life(recording, "2.1") if isinstance(event, kinds)]
    assert [type(event) for event in found] == list(kinds)
    assert isinstance(found[0], Registered)
    assert found[0].broker_epoch > 0


def test_a_broker_whose_session_ended_registers_again(life):
    epochs = [event.broker_epoch for event in life("2.8.2-at-2.8", "3.1") if isinstance(event, Registered)]
    assert len(epochs) == 3
    assert epochs == sorted(set(epochs))


@pytest.mark.parametrize("recording", ["2.8.2-at-2.8", "3.9.1", "4.1.1", "4.2.1", "4.3.1"])
def test_a_killed_life_ends_without_a_word(life, recording):
    assert not [event for event in life(recording, "1.2") if isinstance(event, ShuttingDown | ShutDown)]


@pytest.mark.parametrize("recording", ["4.1.1-disk-full", "4.2.1-disk-full", "4.3.1-disk-full"])
def test_a_broker_whose_disk_is_full(life, recording):
    found = [event for event in life(recording, "2.1") if isinstance(event, Fatal | ShutDown)]
    assert [event.words for event in found] == [
        (
            "Shutdown broker because all log dirs in /var/lib/tidemark/data have failed (Error while appending records to t-0 in "
            "dir /var/lib/tidemark/data: java.io.IOException: No space left on device)"
        )
    ]
    assert life("2.8.2-at-2.8-disk-full", "2.1")[-1] == found[0]


@pytest.mark.parametrize("recording", ["4.1.1-disk-full", "4.2.1-disk-full", "4.3.1-disk-full"])
def test_a_broker_that_starts_on_a_full_disk_gives_up_before_it_is_known(life, recording):
    """A JVM that touches a page of a mapped file which has no room on the disk throws an error of its own."""
    found = life(recording, "2.2")
    assert {type(event) for event in found} == {Fatal}
    assert found[0].words.startswith(
        "[BrokerServer id=2] Fatal error during broker startup. Prepare to shutdown: java.lang."
    )


def test_a_broker_that_comes_back_before_its_session_in_zookeeper_is_over(life):
    found = [
        event for event in life("2.8.2-at-1.1-session-not-over", "1.4") if isinstance(event, Fatal | ShutDown | Started)
    ]
    assert [event.words for event in found] == [
        (
            "[KafkaServer id=1] Fatal error during KafkaServer startup. Prepare to shutdown: "
            "org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists"
        ),
        "Exiting Kafka.",
    ]


@pytest.mark.parametrize(
    ("recording", "name", "leader", "size"),
    [("4.1.1-kip-279", "2.3", 1, 322), ("4.2.1-kip-279", "1.2", 2, 151), ("4.3.1-kip-279", "1.2", 2, 151)],
)
def test_truncation_on_fetch_does_what_kip_279_does(life, recording, name, leader, size):
    assert life(recording, name, Registered, Started, HighWatermark)[:5] == [
        Loaded(T, 31),
        Follows(T, 3, leader, 31, 0),
        Answered(T, 2, 31, 1, 21),
        Truncated(T, 11, "to the end of common epoch 1", 3),
        Fetched(T, leader, size),
    ]

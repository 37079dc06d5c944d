"""`coordinator-divergence`: which differences of two copies count, in runs of logs and of groups' offsets alike."""

import pytest

from tidemark.checkers import History, check

SAME = ((0, 2, 4, 111), (2, 3, 4, 222))


def log(node, *entries, hw=9, start=0, partition="__transaction_state-1"):
    end = entries[-1][1] if entries else start
    return (90, node, "coordinator-log", partition, start, min(hw, end), entries, ())


def found(*trace, **meta):
    return [
        (one.name, one.partition, one.evidence["nodes"]) for one in check(History.of(**meta, trace=[*trace])).anomalies
    ]


@pytest.mark.parametrize(
    "meta", [{}, {"model": "key-value", "contract": "durable", "faults": 0}], ids=["logs", "groups"]
)
def test_another_epoch_or_checksum_or_end_at_one_offset_is_found(meta):
    for other in ((2, 3, 5, 222), (2, 3, 4, 223), (2, 4, 4, 222)):
        trace = (log(1, *SAME), log(2, *SAME), log(3, SAME[0], other))
        assert found(*trace, **meta) == [
            ("coordinator-divergence", "__transaction_state-1", [1, 3]),
            ("coordinator-divergence", "__transaction_state-1", [2, 3]),
        ]


def test_a_hole_is_a_difference():
    assert found(log(1, *SAME, (3, 4, 4, 333)), log(2, SAME[0], (3, 4, 4, 333)))


def test_above_either_high_watermark_nothing_counts():
    assert found(log(1, *SAME), log(2, SAME[0], (2, 3, 5, 9), hw=2)) == []


def test_a_copy_that_is_shorter_or_begins_later_is_none():
    assert found(log(1, *SAME), log(2, SAME[0]), log(3, SAME[1], start=2), log(4)) == []


def test_copies_of_two_partitions_are_not_held_against_each_other():
    assert found(log(1, *SAME), log(2, (0, 2, 5, 1), partition="__transaction_state-2")) == []

"""Elected with a high watermark below the log start (KAFKA-9491)."""

import pytest
from at_a_log_start import got

from tidemark.nodes.core.messages import ConsumeRequest, ConsumeResponse, FetchResponse

T = "t-0"


@pytest.fixture(scope="session")
def elected_anew(broker):
    """Broker 2 began anew at offset 4, and was elected before it heard of a high watermark."""

    def start(variant):
        two = broker(variant, node=2)
        two.told(0, 1, 5)
        got(two, 1, error="OFFSET_OUT_OF_RANGE", leo=4, start=4)
        two.lead(2, 6, isr=(2, 3))
        return two

    return start


def test_it_leads_with_the_log_start_as_its_high_watermark(elected_anew):
    two = elected_anew("kafka-2.7")
    assert two.traced("lead") == [(6, 4, 4, (2, 3))]

    two.produced(3, 74)
    two.fetched_by(4, 3, 5, 6, last=6)
    assert two.traced("hw") == [(5, 6, True)]


def test_with_the_bug_it_can_never_commit(elected_anew):
    two = elected_anew("kafka-2.7+KAFKA-9491")
    assert two.traced("lead") == [(6, 4, 0, (2, 3))]

    two.produced(3, 74)
    two.fetched_by(4, 3, 5, 6, last=6)
    assert two.traced("hw") == []
    assert [m.error for m in two.sent(FetchResponse, to=3)] == ["OFFSET_OUT_OF_RANGE"]


def test_with_the_bug_nobody_can_read(elected_anew):
    two = elected_anew("kafka-2.7+KAFKA-9491")
    two.step(3, ConsumeRequest(200, T, 4, 1))

    assert [m.error for m in two.sent(ConsumeResponse)] == ["OFFSET_OUT_OF_RANGE"]


def test_with_the_bug_followers_still_get_records(elected_anew):
    two = elected_anew("kafka-2.7+KAFKA-9491")
    two.produced(3, 74)
    two.fetched_by(4, 3, 4, 6)

    assert [len(m.batches) for m in two.sent(FetchResponse, to=3)] == [1]

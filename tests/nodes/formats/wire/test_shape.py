"""No body that claims more than it has reaches kio; every body that kio writes does."""

import random
from datetime import timedelta
from io import BytesIO

import pytest
from kio.schema.fetch.v12.request import FetchPartition, FetchRequest, FetchTopic
from kio.schema.metadata.v4.request import MetadataRequest, MetadataRequestTopic

from tidemark.nodes.formats.wire.codec import UNREADABLE, codec
from tidemark.nodes.formats.wire.shape import skip_tags, varint

APIS = [
    *((0, v) for v in range(3, 9)),
    *((1, v) for v in range(4, 16)),
    *((2, v) for v in range(1, 6)),
    *((3, v) for v in range(4, 9)),
    (4, 4),
    *((18, v) for v in range(4)),
    *((22, v) for v in range(4)),
    *((23, v) for v in (2, 3)),
    (56, 3),
    (62, 3),
    (63, 0),
    (76, 1),
    (78, 1),
    (79, 1),
]


@pytest.mark.parametrize(
    ("key", "version", "body"),
    [
        (3, 4, b"\x7f\xff\xff\xff\0"),  # an array of two thousand million topics
        (3, 4, b"\xff\xff\xff\xfe\0"),  # of minus two
        (3, 4, b"\0\0\0\x01\x7f\xff"),  # a name that does not end
        (3, 4, b"\0\x0f\x42\x40" + bytes(4_000_000)),  # a million names, all there
        (4, 4, bytes(16) + b"\xff\xff\xff\xff\x7f"),
        (18, 3, b"\xff\xff\xff\xff\x7f"),
        (1, 12, bytes(25) + b"\xff\xff\xff\xff\x0f"),
        (62, 3, b""),
    ],
)
def test_a_length_beyond_what_is_there_is_refused(key, version, body):
    with pytest.raises(UNREADABLE):
        codec(key, version).read_request(body, 0)


@pytest.mark.parametrize(
    ("key", "version", "body"),
    [
        (1, 8, bytes(21) + b"\xff\xff\xff\xff" + bytes(4)),  # Fetch: topics
        (4, 4, bytes(21) + b"\0\x01\0"),  # LeaderAndIsr: topic states
        (23, 3, bytes(4) + b"\xff\xff\xff\xff"),  # OffsetForLeaderEpoch: topics
    ],
)
def test_a_null_array_is_refused_where_there_can_be_none(key, version, body):
    with pytest.raises(UNREADABLE):
        codec(key, version).read_request(body, 0)


def test_a_null_array_is_read_where_there_can_be_one():
    """Metadata: null topics are all topics."""
    assert codec(3, 4).read_request(b"\xff\xff\xff\xff\0", 0).topics is None


@pytest.mark.parametrize(("key", "version"), APIS)
@pytest.mark.parametrize("which", ["request", "response"])
def test_noise_is_refused_or_read_and_nothing_else_happens(key, version, which):
    how = codec(key, version)
    read, write = (
        (how.read_request, how.write_request) if which == "request" else (how.read_response, how.write_response)
    )
    noise = random.Random(f"{key}/{version}")
    for _ in range(200):
        data = bytes(
            noise.choice((0, 0, 0, 0, 1, 1, 2, 255, noise.randrange(256))) for _ in range(noise.randrange(120))
        )
        try:
            entity = read(data, 0)
        except UNREADABLE:
            continue
        out = BytesIO()
        write(out, entity)
        assert read(out.getvalue(), 0) == entity


def test_what_is_left_over_is_refused(body_bytes):
    body = body_bytes(3, 4, MetadataRequest(topics=(MetadataRequestTopic(name="t"),), allow_auto_topic_creation=False))
    assert codec(3, 4).read_request(body, 0).topics[0].name == "t"
    with pytest.raises(ValueError, match="1 bytes are left over"):
        codec(3, 4).read_request(body + b"\0", 0)


def test_every_cut_of_a_body_is_refused(body_bytes):
    part = FetchPartition(partition=0, fetch_offset=5, partition_max_bytes=1)
    body = body_bytes(
        1,
        12,
        FetchRequest(
            cluster_id="c",
            replica_id=1,
            max_wait=timedelta(seconds=1),
            min_bytes=1,
            topics=(FetchTopic(topic="t", partitions=(part, part)),),
            forgotten_topics_data=(),
        ),
    )
    assert codec(1, 12).read_request(b"before" + body, 6).topics[0].partitions == (part, part)
    for end in range(len(body)):
        with pytest.raises(UNREADABLE):
            codec(1, 12).read_request(body[:end], 0)


def test_a_tag_that_is_not_as_long_as_it_says_is_refused():
    with pytest.raises(ValueError, match="tagged field 0 is not 3 bytes long"):
        codec(1, 12).read_request(bytes(25) + b"\x01\x01\x01" + b"\x01\0\x03\x02cc", 0)


def test_numbers_of_variable_length():
    assert varint(b"\0", 0) == (0, 1)
    assert varint(b"\xac\x02", 0) == (300, 2)
    assert varint(b"..\xff\xff\xff\xff\x0f", 2) == (2**32 - 1, 7)
    with pytest.raises(ValueError, match="does not end"):
        varint(b"\xff" * 5, 0)
    with pytest.raises(IndexError):
        varint(b"\xff", 0)


def test_unknown_tags_of_a_header_are_skipped():
    assert skip_tags(b"\0rest", 0) == 1
    assert skip_tags(b"\x02\x05\x01a\x07\x02bcrest", 0) == 8
    with pytest.raises(ValueError, match="too early"):
        skip_tags(b"\x01\x05\x09a", 0)

"""Frames are cut out of whatever pieces arrive, and refused by their length alone."""

import pytest

from tidemark.nodes.formats.wire.codec import codec
from tidemark.nodes.formats.wire.frames import FrameError, FrameReader, finish, request_frame, response_frame


def frame(body):
    return len(body).to_bytes(4, "big") + body


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 7, 100])
def test_frames_come_out_whole_however_they_arrive(step):
    bodies = [b"", b"a", b"bc" * 10, b"", b"d" * 5]
    stream = b"".join(map(frame, bodies))
    reader = FrameReader(100)
    found = [f for at in range(0, len(stream), step) for f in reader.feed(stream[at : at + step])]
    assert found == bodies


@pytest.mark.parametrize("length", [b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\x65", b"\x7f\xff\xff\xff"])
def test_a_length_that_is_not_taken_is_refused_before_the_body(length):
    with pytest.raises(FrameError, match="0 to 100 are taken"):
        FrameReader(100).feed(length)


def test_the_longest_frame_is_taken():
    assert FrameReader(100).feed(frame(bytes(100))) == [bytes(100)]


def test_a_bad_length_behind_a_good_frame_is_refused_too():
    with pytest.raises(FrameError):
        FrameReader(100).feed(frame(b"good") + b"\xff\xff\xff\xff")


def test_what_is_kept_of_an_unfinished_frame_is_no_more_than_came():
    reader = FrameReader(1 << 20)
    assert reader.feed((1 << 20).to_bytes(4, "big") + bytes(10)) == []
    assert len(reader._kept) == 14


def test_a_response_begins_with_its_length_and_correlation(body_bytes):
    from kio.schema.broker_heartbeat.v0.response import BrokerHeartbeatResponse
    from kio.schema.errors import ErrorCode

    body = BrokerHeartbeatResponse(throttle_time=_zero(), error_code=ErrorCode.none, should_shut_down=False)
    written = response_frame(7, 1, codec(63, 0).write_response, body)
    assert written == frame(b"\0\0\0\x07\0" + body_bytes(63, 0, body, "response"))


def test_a_request_begins_with_its_header():
    out = request_frame(63, 0, 9, b"me", flexible=True)
    out.write(b"body")
    assert finish(out) == frame(b"\0\x3f\0\0\0\0\0\x09\0\x02me\0body")


def _zero():
    from datetime import timedelta

    return timedelta(0)

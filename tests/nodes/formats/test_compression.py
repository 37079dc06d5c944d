"""Codecs that need a package: found where it is, asked for where it is not."""

import struct
import sys
from types import SimpleNamespace

import pytest

from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.compression import decompress

SNAPPY, LZ4, ZSTD = 2, 3, 4
XERIAL = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)


class FakeDecompressionError(Exception):
    """As cramjam's."""


def _unpack(data):
    if not data.startswith(b"z"):
        raise FakeDecompressionError
    return bytearray(data[1:])


@pytest.fixture
def cramjam(monkeypatch):
    """A package that packs by putting a z in front."""
    codec = SimpleNamespace(decompress=_unpack, decompress_raw=_unpack)
    fake = SimpleNamespace(snappy=codec, lz4=codec, zstd=codec, DecompressionError=FakeDecompressionError)
    monkeypatch.setitem(sys.modules, "cramjam", fake)


@pytest.fixture
def no_cramjam(monkeypatch):
    monkeypatch.setitem(sys.modules, "cramjam", None)


def error_of(codec, section):
    with pytest.raises(BadBatchError) as caught:
        decompress(codec, section)
    return caught.value


def test_no_codec_changes_nothing():
    assert decompress(0, b"abc") == b"abc"


@pytest.mark.parametrize("codec", [SNAPPY, LZ4, ZSTD])
def test_a_codec_that_is_not_installed_is_asked_for(no_cramjam, codec):
    problem = error_of(codec, b"zabc")

    assert problem.error == "UNSUPPORTED_COMPRESSION_TYPE"
    assert "install the package cramjam" in str(problem)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_that_nobody_knows_is_refused(cramjam, codec):
    assert error_of(codec, b"zabc").error == "UNSUPPORTED_COMPRESSION_TYPE"


@pytest.mark.parametrize("codec", [SNAPPY, LZ4, ZSTD])
def test_an_installed_codec_is_used(cramjam, codec):
    assert decompress(codec, b"zabc") == b"abc"


@pytest.mark.parametrize("codec", [SNAPPY, LZ4, ZSTD])
def test_what_does_not_unpack_is_corrupt(cramjam, codec):
    assert error_of(codec, b"abc").error == "CORRUPT_MESSAGE"


def test_javas_snappy_is_a_stream_of_blocks(cramjam):
    stream = XERIAL + b"".join(struct.pack(">i", len(block)) + block for block in (b"zab", b"zc"))

    assert decompress(SNAPPY, stream) == b"abc"
    assert decompress(SNAPPY, XERIAL) == b""


@pytest.mark.parametrize("rest", [b"\0\0", b"\0\0\0\x09zab", b"\xff\xff\xff\xffzab"])
def test_a_block_must_be_whole(cramjam, rest):
    assert error_of(SNAPPY, XERIAL + rest).error == "CORRUPT_MESSAGE"

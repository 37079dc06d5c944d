"""What Kafka's schema forbids ends the connection, and nothing else."""

from struct import pack
from types import SimpleNamespace

import pytest

from tidemark.nodes.formats.wire.codec import UNREADABLE, codec

TOPIC_WITHOUT_PARTITIONS = pack(">ih1si", 1, 1, b"t", -1)


@pytest.mark.parametrize(
    ("key", "version", "raw"),
    [
        (0, 3, pack(">hhii", -1, -1, 100, -1)),
        (0, 3, pack(">hhi", -1, -1, 100) + TOPIC_WITHOUT_PARTITIONS),
        (0, 3, pack(">hhii", -1, 0, 100, -1)),
        (1, 4, pack(">iiiibi", -1, 100, 1, 100, 0, -1)),
        (1, 4, pack(">iiiib", -1, 100, 1, 100, 0) + TOPIC_WITHOUT_PARTITIONS),
        (2, 1, pack(">ii", -1, -1)),
        (2, 1, pack(">i", -1) + TOPIC_WITHOUT_PARTITIONS),
        (23, 2, pack(">i", -1)),
        (23, 2, TOPIC_WITHOUT_PARTITIONS),
    ],
)
def test_null_arrays(key, version, raw):
    with pytest.raises(UNREADABLE):
        codec(key, version).read_request(raw, 0)


def test_versions_of_nodes_are_not_for_clients(node, connection):
    client = connection("internal")
    request = SimpleNamespace(connection=client, api_key=1, api_version=12, body=None)
    node().apis.handlers[1](request)

    assert client.refused == "API 1 in version 12 is not for clients"

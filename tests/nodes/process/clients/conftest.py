"""What the proofs with foreign programs share."""

from datetime import timedelta

import pytest
from kio.index import load_payload_module
from kio.static.constants import EntityType

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import parse_variant
from tidemark.nodes.formats.record_batch import build
from tidemark.nodes.process.wire.client_versions import client_versions


@pytest.fixture
def three_nodes(local_cluster):
    """A cluster that has come to rest: ``with three_nodes("kafka-2.7") as cluster``. Its times are a loaded machine's."""

    def make(variant="kafka-2.7", partitions=1, **settings):
        spec = ClusterSpec(partitions=partitions, settings=Settings(**settings).scaled(2))
        return Settled(local_cluster(variant, spec))

    return make


class Settled:
    """A cluster, entered when all its partitions have their full ISR."""

    def __init__(self, cluster):
        self.cluster = cluster

    def __enter__(self):
        self.cluster.__enter__()
        try:
            for partition in self.cluster.cluster.assignment():
                self.cluster.settled(partition)
        except BaseException:
            self.cluster.__exit__()
            raise
        return self.cluster

    def __exit__(self, *_):
        self.cluster.__exit__()


@pytest.fixture(scope="session")
def every_request():
    """A valid request of every API in every version that a variant offers: ``every_request("kafka-2.7")``.

    Gives (API key, version, entity). None changes anything but Produce, which appends; fetches do not wait for more than 50 ms.
    """

    def make(variant):
        versions = client_versions(parse_variant(variant))
        return [
            (key, v, BODIES[key](_Kinds(key, v))) for key, (low, high) in versions.items() for v in range(low, high + 1)
        ]

    return make


class _Kinds:
    """The request entities of one version of one API, made from the fields that they have: ``kinds("FetchTopic", …)``."""

    def __init__(self, key, version):
        self._module = load_payload_module(key, version, EntityType.request)
        self.version = version

    def __call__(self, name, /, **fields):
        kind = getattr(self._module, name)
        return kind(**{field: value for field, value in fields.items() if field in kind.__dataclass_fields__})


WAIT = timedelta(milliseconds=50)


def _produce(make):
    part = make("PartitionProduceData", index=0, records=build([1, 2, 3]))
    topic = make("TopicProduceData", name="t", partition_data=(part,))
    return make("ProduceRequest", acks=-1 if make.version % 2 else 1, timeout=WAIT, topic_data=(topic,))


def _fetch(make):
    part = make("FetchPartition", partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topic = make("FetchTopic", topic="t", partitions=(part,))
    return make(
        "FetchRequest",
        max_wait=WAIT,
        min_bytes=1,
        max_bytes=1 << 20,
        topics=(topic,),
        forgotten_topics_data=(),
        rack_id="",
    )


def _list_offsets(make):
    parts = tuple(make("ListOffsetsPartition", partition_index=0, timestamp=timestamp) for timestamp in (-2, -1, 0))
    topic = make("ListOffsetsTopic", name="t", partitions=parts)
    return make("ListOffsetsRequest", replica_id=-1, isolation_level=1, topics=(topic,))


def _metadata(make):
    topics = tuple(make("MetadataRequestTopic", name=name) for name in ("t", "absent"))
    return make(
        "MetadataRequest",
        topics=topics,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )


def _api_versions(make):
    return make("ApiVersionsRequest", client_software_name="test", client_software_version="1.0")


def _delete_records(make):
    """Up to offset 0: nothing."""
    part = make("DeleteRecordsPartition", partition_index=0, offset=0)
    topic = make("DeleteRecordsTopic", name="t", partitions=(part,))
    return make("DeleteRecordsRequest", topics=(topic,), timeout=WAIT)


def _init_producer_id(make):
    return make("InitProducerIdRequest", transactional_id=None, transaction_timeout=WAIT)


def _epoch_end(make):
    part = make("OffsetForLeaderPartition", partition=0, current_leader_epoch=-1, leader_epoch=0)
    topic = make("OffsetForLeaderTopic", topic="t", partitions=(part,))
    return make("OffsetForLeaderEpochRequest", replica_id=-1, topics=(topic,))


BODIES = {
    0: _produce,
    1: _fetch,
    2: _list_offsets,
    3: _metadata,
    18: _api_versions,
    21: _delete_records,
    22: _init_producer_id,
    23: _epoch_end,
}

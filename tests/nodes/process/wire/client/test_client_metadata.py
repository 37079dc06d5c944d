"""ApiVersions and Metadata: what a client learns first."""

import pytest
from kio.index import load_payload_module
from kio.schema.errors import ErrorCode
from kio.static.constants import EntityType

from tidemark.nodes.core.variant import PRESETS


def versions(broker, version=0):
    m = load_payload_module(18, version, EntityType.request)
    named = {"client_software_name": "x", "client_software_version": "1"} if version >= 3 else {}
    answer = broker.ask(18, version, m.ApiVersionsRequest(**named)).answer
    assert answer.error_code == ErrorCode.none
    return {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys}


def metadata(broker, topics=None, version=7, connection=None):
    m = load_payload_module(3, version, EntityType.request)
    named = None if topics is None else tuple(m.MetadataRequestTopic(name=name) for name in topics)
    more = {}
    if version >= 8:
        more = {"include_cluster_authorized_operations": False, "include_topic_authorized_operations": False}
    return broker.ask(3, version, m.MetadataRequest(topics=named, **more), connection).answer


@pytest.mark.parametrize("version", range(4))
def test_a_fenced_variant_offers_leader_epochs(node, version):
    assert versions(node("kafka-2.1"), version) == {
        0: (3, 8),
        1: (4, 11),
        2: (1, 5),
        3: (4, 9),
        18: (0, 3),
        21: (0, 2),
        22: (0, 3),
        23: (2, 3),
    }


def test_before_kip_320_there_are_none(node):
    older = {0: (3, 8), 1: (4, 8), 2: (1, 3), 3: (4, 6), 18: (0, 3), 22: (0, 3)}

    assert versions(node("kafka-2.0")) == older | {21: (0, 1)}
    assert versions(node("kafka-0.10")) == older


@pytest.mark.parametrize("variant", PRESETS)
def test_what_is_offered_is_served(node, variant):
    broker = node(variant)

    assert set(broker.apis.handlers) == set(broker.apis.versions) == set(versions(broker))


@pytest.mark.parametrize("version", range(4, 10))
def test_all_topics(node, version):
    broker = node()
    broker.told(2, 4, isr=(1, 2))
    broker.told(-1, 5, isr=(3,), partition="t-1")
    answer = metadata(broker, version=version)
    (topic,) = answer.topics
    first, second = topic.partitions

    assert (topic.name, topic.error_code, answer.cluster_id) == ("t", ErrorCode.none, "tidemark")
    assert (first.partition_index, first.error_code, first.leader_id) == (0, ErrorCode.none, 2)
    assert (first.replica_nodes, first.isr_nodes) == ((1, 2, 3), (1, 2))
    assert (second.partition_index, second.error_code, second.leader_id) == (1, ErrorCode.leader_not_available, -1)
    if version >= 7:
        assert (first.leader_epoch, second.leader_epoch) == (4, 5)


def test_addresses_are_those_of_the_listener(node, connection):
    broker = node()

    def addresses(name):
        answer = metadata(broker, (), connection=connection(name))
        assert answer.topics == ()
        return {one.node_id: (one.host, one.port) for one in answer.brokers}

    assert addresses("host") == {1: ("127.0.0.1", 40_001), 2: ("127.0.0.1", 40_002), 3: ("127.0.0.1", 40_003)}
    assert addresses("internal") == {1: ("10.77.0.11", 9092), 2: ("10.77.0.12", 9092), 3: ("10.77.0.13", 9092)}


def test_before_the_controller_has_spoken_there_is_no_leader(node):
    (topic,) = metadata(node()).topics

    assert [(p.error_code, p.leader_id, p.replica_nodes) for p in topic.partitions] == [
        (ErrorCode.leader_not_available, -1, (1, 2, 3)),
        (ErrorCode.leader_not_available, -1, (2, 3, 1)),
    ]


def test_topics_are_not_created(node):
    (topic,) = metadata(node(), ("new",)).topics

    assert (topic.name, topic.error_code, topic.partitions) == ("new", ErrorCode.unknown_topic_or_partition, ())


def test_a_topic_asked_for_twice_is_told_once(node):
    assert [topic.name for topic in metadata(node(), ("t", "u", "t")).topics] == ["t", "u"]

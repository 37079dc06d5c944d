import pytest
from kio.schema.errors import ErrorCode

from tidemark.nodes.core import messages
from tidemark.nodes.formats.wire.names import (
    MeaninglessError,
    error_code,
    error_name,
    only_partition,
    partition_name,
    topic_and_index,
    topic_id,
    topics_by_id,
)


@pytest.mark.parametrize(("name", "topic", "index"), [("t-0", "t", 0), ("my-topic-12", "my-topic", 12)])
def test_partitions(name, topic, index):
    assert topic_and_index(name) == (topic, index)
    assert partition_name(topic, index) == name


def test_every_error_of_the_core_has_kafkas_number():
    errors = [
        value for name, value in vars(messages).items() if name.isupper() and isinstance(value, str) and name != "ALL"
    ]
    assert len(errors) == 12
    for error in errors:
        assert error_name(error_code(error)) == error
    assert error_code("NOT_LEADER_OR_FOLLOWER") == 6
    assert error_code(None) is ErrorCode.none
    assert error_name(ErrorCode.none) is None


def test_topic_ids_are_the_same_on_every_node():
    assert str(topic_id("t")) == "c31d2c09-09ef-53d9-92bc-7d3ea4138c2c"
    assert topics_by_id(["t-0", "t-1", "u-0"]) == {topic_id("t"): "t", topic_id("u"): "u"}


class _Topic:
    def __init__(self, *partitions):
        self.partitions = partitions


@pytest.mark.parametrize("topics", [(), (_Topic(),), (_Topic(1, 2),), (_Topic(1), _Topic(2))])
def test_nodes_speak_about_one_partition_at_a_time(topics):
    with pytest.raises(MeaninglessError, match="one partition"):
        only_partition(topics)
    assert only_partition((one := _Topic(1),)) == (one, 1)

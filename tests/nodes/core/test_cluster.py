"""The shape of a cluster: what lies where, and which clusters cannot be."""

import json

import pytest

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import ClusterSpecError, Settings


def test_three_brokers_hold_one_partition_unless_told_otherwise():
    assert ClusterSpec().broker_ids() == (1, 2, 3)
    assert ClusterSpec().assignment() == {"t-0": (1, 2, 3)}


def test_preferred_leaders_go_round():
    assert ClusterSpec(brokers=4, replication_factor=3, partitions=5).assignment() == {
        "t-0": (1, 2, 3),
        "t-1": (2, 3, 4),
        "t-2": (3, 4, 1),
        "t-3": (4, 1, 2),
        "t-4": (1, 2, 3),
    }


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"brokers": 0}, "must each be at least 1"),
        ({"partitions": 0}, "must each be at least 1"),
        ({"replication_factor": 0}, "must each be at least 1"),
        ({"brokers": 2}, "replication factor 3 is larger than the number of brokers 2"),
        ({"settings": Settings(min_isr=4)}, "min ISR 4 must lie between 1 and the replication factor 3"),
        ({"settings": Settings(min_isr=0)}, "min ISR 0 must lie between 1 and the replication factor 3"),
        (
            {"settings": Settings(fetch_wait_us=2_000_000, request_timeout_us=9_000_000)},
            "Kafka refuses a replica.fetch.wait.max.ms",
        ),
        ({"settings": Settings(request_timeout_us=349_999)}, "must be at least fetch_wait_us . tick_us = 350000"),
        ({"settings": Settings(heartbeat_us=1_000_000)}, "heartbeat_us 1000000 must be below session_us 1000000"),
        ({"settings": Settings(tick_us=0)}, "tick_us must be at least 1000 .1 ms., and is 0"),
        ({"settings": Settings(max_fetch_batches=0)}, "max_fetch_batches must be at least 1, and is 0"),
        ({"acks": "-1"}, "acks '-1' must be one of all, 1, 0"),
    ],
)
def test_an_impossible_cluster_is_refused(kwargs, words):
    with pytest.raises(ClusterSpecError, match=words):
        ClusterSpec(**kwargs)


@pytest.mark.parametrize(
    "spec",
    [
        ClusterSpec(),
        ClusterSpec(5, 3, 4, "1", Settings(min_isr=1, unclean_election=True, lag_time_us=700_000)),
    ],
)
def test_it_survives_json(spec):
    assert ClusterSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def test_what_is_left_out_has_its_default():
    assert ClusterSpec.from_json({}) == ClusterSpec()
    assert ClusterSpec.from_json({"settings": {"min_isr": 1}}) == ClusterSpec(settings=Settings(min_isr=1))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"broker": 3}, "cluster: unknown entry 'broker'"),
        ({"brokers": "3"}, "cluster.brokers must be int, not '3'"),
        ({"acks": 1}, "cluster.acks must be str, not 1"),
        ({"settings": {"isr": 1}}, "settings: unknown entry 'isr'"),
        ({"settings": {"min_isr": True}}, "settings.min_isr must be int, not True"),
        ({"settings": {"unclean_election": 1}}, "settings.unclean_election must be bool, not 1"),
        ({"settings": []}, "settings must be an object"),
        ({"brokers": 1}, "replication factor 3 is larger"),
    ],
)
def test_what_a_file_gets_wrong_is_named(data, words):
    with pytest.raises(ClusterSpecError, match=words):
        ClusterSpec.from_json(data)


def test_what_was_read_is_left_as_it_was():
    data = {"settings": {"min_isr": 1}}
    ClusterSpec.from_json(data)

    assert data == {"settings": {"min_isr": 1}}

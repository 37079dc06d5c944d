from __future__ import annotations

import pytest

from tidemark.nodes.sidecar.lines import dialect


@pytest.mark.parametrize(
    ("version", "logger"),
    [
        ("2.8.2", "kafka.log.Log"),
        ("2.8.0", "kafka.log.Log"),
        ("3.7.2", "kafka.log.UnifiedLog"),
        ("3.9.1", "kafka.log.UnifiedLog"),
        ("4.0.0", "kafka.log.UnifiedLog"),
        ("4.1.1", "org.apache.kafka.storage.internals.log.UnifiedLog"),
        ("4.2.0", "org.apache.kafka.storage.internals.log.UnifiedLog"),
        ("4.3.1", "org.apache.kafka.storage.internals.log.UnifiedLog"),
    ],
)
def test_a_verified_series(version, logger):
    found = dialect(version)
    assert found.understood
    assert not found.why
    assert found.levels[logger] == "trace"
    assert found.levels["org.apache.kafka.clients.NetworkClient"] == "debug"


@pytest.mark.parametrize(
    ("version", "like"),
    [
        ("2.3.1", "2.8.2"),
        ("0.11.0", "2.8.2"),
        ("3.5.2", "3.7.2"),
        ("3.10.0", "3.9.1"),
        ("4.9.0", "4.3.1"),
        ("5.0", "4.3.1"),
    ],
)
def test_another_series_is_read_like_the_nearest_but_not_understood(version, like):
    found = dialect(version)
    assert found.levels == dialect(like).levels
    assert not found.understood
    assert found.why.startswith(f"The log lines of Kafka {version} have not been verified (those of {like} have")


@pytest.mark.parametrize("version", ["", "trunk", "3", "v3.9.1"])
def test_no_version(version):
    with pytest.raises(ValueError, match=r"looks like 2\.8\.2"):
        dialect(version)


def test_a_dialect_does_not_change_with_its_copies():
    dialect("2.8.2").levels.clear()
    assert dialect("2.8.2").levels


def test_readers_share_nothing():
    found = dialect("3.9.1")
    head = "2026-11-21T15:10:31.000 TRACE kafka.log.UnifiedLog - [UnifiedLog partition=t-0, dir=/d]"
    line = f"{head} Setting high watermark (offset=3, segment=[0:9])"
    assert len(found.reader().read(line)) == len(found.reader().read(line)) == 1

from __future__ import annotations

from datetime import datetime

import pytest

from tidemark.nodes.sidecar.lines import wall_us
from tidemark.nodes.sidecar.lines.stamp import Head, split

LINE = "2026-11-21T14:48:36.393 INFO kafka.log.LogManager - Loading logs from log dirs ArraySeq(/d) - done"


def test_a_line():
    assert split(LINE) == Head("INFO", "kafka.log.LogManager", "Loading logs from log dirs ArraySeq(/d) - done")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\tat kafka.Kafka.main(Kafka.scala)",
        "java.lang.OutOfMemoryError: Java heap space",
        "	log.flush.start.offset.checkpoint.interval.ms = 60000",
        "2026-11-21T14:48:36.393 INFO kafka.log.LogManager",
        "2026-11-21T14:48:36.393",
        "2026-11-21 14:48:36,393 INFO kafka.log.LogManager - Loading",
    ],
)
def test_a_line_that_has_no_head(line):
    assert split(line) is None
    assert wall_us(line) is None


def test_the_wall_clock_is_local_time():
    at = datetime(2026, 11, 21, 14, 48, 36, 393000).astimezone()
    assert wall_us(LINE) == round(at.timestamp() * 1e6)


def test_a_date_that_is_none():
    assert wall_us(LINE.replace("2026-11", "2026-13")) is None

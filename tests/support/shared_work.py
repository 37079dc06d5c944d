"""Which tests one process is given, and in which order, of those that share the work.

A file is one process' work. All files that start Spark are together: a JVM is started and warmed up once.
"""

from functools import cache
from pathlib import PurePath

from xdist.scheduler import LoadFileScheduling

FIRST = (
    "test_kafka_in_containers.py",
    "test_kraft_in_containers.py",
    "test_campaign.py",
    "test_kafka_image_in_engine.py",
    "test_bars_in_containers.py",
    "test_fixed_primary.py",
    "test_clients_dissected.py",
)
"""The files that take longest: begun last, one of them would run while the others have nothing left to do."""
THEN = ("docker", "kafka", "spark", "slow")


class TogetherWithSpark(LoadFileScheduling):
    """As ``--dist loadfile``, of pytest-xdist, but for Spark."""

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        return "spark" if _starts_spark(self.config.rootpath / file) else file


@cache
def _starts_spark(file):
    return "mark.spark" in file.read_text(encoding="utf-8")


def put_in_order(items):
    """Sort the tests by their files' turns."""
    turns = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        turns[file] = min(_turn(file, item), turns.get(file, len(FIRST) + 1))
    items.sort(key=lambda item: turns[item.nodeid.partition("::")[0]])


def _turn(file, item):
    name = PurePath(file).name
    if name in FIRST:
        return FIRST.index(name)
    return len(FIRST) + (not any(item.get_closest_marker(marker) for marker in THEN))

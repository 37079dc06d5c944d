"""The order in which files of tests are handed to the processes that share the work (``--dist loadfile``)."""

from pathlib import PurePath

FIRST = (
    "test_kafka_in_containers.py",
    "test_kraft_in_containers.py",
    "test_campaign.py",
    "test_kafka_image_in_engine.py",
    "test_bars_in_containers.py",
    "test_fixed_primary.py",
    "test_client_fuzz.py",
    "test_clients_dissected.py",
)
"""The files that take longest: begun last, one of them would run while the others have nothing left to do."""
THEN = ("docker", "kafka", "spark", "slow")


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

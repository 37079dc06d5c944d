"""How tests are shared among processes: what shares a cluster stays together, and what takes long begins first."""

from pathlib import PurePath

import pytest

FIRST = (
    "test_kafka_in_containers.py",
    "test_campaign.py",
    "test_kafka_image_in_engine.py",
    "test_bars_in_containers.py",
    "test_fixed_primary.py",
    "test_client_fuzz.py",
    "test_clients_dissected.py",
)
"""The files that take longest: begun last, one of them would run while the others have nothing left to do."""
THEN = ("docker", "kafka", "spark", "slow")


def share(items):
    """Sort the tests, and say of each to which group it belongs (for ``--dist loadgroup``): a file's stay together."""
    turns = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        turns[file] = min(_turn(file, item), turns.get(file, len(FIRST) + 1))
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(file))
    items.sort(key=lambda item: turns[item.nodeid.partition("::")[0]])


def _turn(file, item):
    name = PurePath(file).name
    if name in FIRST:
        return FIRST.index(name)
    return len(FIRST) + (not any(item.get_closest_marker(marker) for marker in THEN))

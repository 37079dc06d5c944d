from contextlib import ExitStack

import pytest
from sidecar_process import STARTED, Node


@pytest.fixture
def node(tmp_path):
    with ExitStack() as kept:
        found = Node(tmp_path, kept)
        yield found
        found.end()


@pytest.fixture
def serve(node):
    """The steps of a broker that gets ready."""
    return [["serve", f"127.0.0.1:{node.kafka}"], ["print", STARTED]]

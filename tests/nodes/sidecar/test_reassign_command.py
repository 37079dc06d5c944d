import asyncio
from types import SimpleNamespace

import pytest

from tidemark.nodes.admin.port import CommandError
from tidemark.nodes.sidecar.admin_commands import SidecarCommands


def asked_for(replicas):
    """What the controller is asked for by the command ``reassign`` with these replicas."""
    asked = []

    async def reassign(partition, replicas, *, wait):
        asked.append((partition, replicas, wait))
        return {}

    sidecar = SimpleNamespace(
        config=SimpleNamespace(partitions={"t-0": [1, 2, 3]}), controller=SimpleNamespace(reassign=reassign)
    )
    command = SidecarCommands(sidecar).by_name()["reassign"]
    asyncio.run(command({"do": "reassign", "partition": "t-0", "replicas": replicas, "wait": False}))
    return asked


def test_no_replicas_take_back_what_is_under_way():
    assert asked_for([]) == [("t-0", [], False)]
    assert asked_for([2, 3]) == [("t-0", [2, 3], False)]


@pytest.mark.parametrize("replicas", [None, "", [0], ["1"], 1])
def test_replicas_are_brokers(replicas):
    with pytest.raises(CommandError, match="replicas must be a list of brokers"):
        asked_for(replicas)

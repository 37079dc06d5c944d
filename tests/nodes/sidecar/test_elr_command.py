import asyncio
from types import SimpleNamespace

import pytest

from tidemark.nodes.admin.port import CommandError
from tidemark.nodes.sidecar.admin_commands import SidecarCommands


def asked_for(**command):
    """What the controller is asked for by the command ``elr``."""
    asked = []

    async def switch_elr(*, on):
        asked.append(on)
        return {}

    sidecar = SimpleNamespace(controller=SimpleNamespace(switch_elr=switch_elr))
    asyncio.run(SidecarCommands(sidecar).by_name()["elr"]({"do": "elr", **command}))
    return asked


def test_the_controller_is_asked():
    assert asked_for(on=True) == [True]


@pytest.mark.parametrize("on", [None, 1, "on"])
def test_it_is_on_or_off(on):
    with pytest.raises(CommandError, match="on must be true or false"):
        asked_for(on=on)


def test_a_broker_switches_nothing():
    command = SidecarCommands(SimpleNamespace(controller=None)).by_name()["elr"]
    with pytest.raises(CommandError, match="only the controller switches ELR"):
        asyncio.run(command({"do": "elr", "on": True}))

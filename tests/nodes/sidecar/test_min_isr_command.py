import asyncio
from types import SimpleNamespace

import pytest

from tidemark.nodes.admin.port import CommandError
from tidemark.nodes.sidecar.admin_commands import SidecarCommands


def asked_for(**command):
    """What the controller is asked for by the command ``min-isr``."""
    asked = []

    async def set_min_isr(topics, min_isr):
        asked.append((topics, min_isr))
        return {}

    sidecar = SimpleNamespace(controller=SimpleNamespace(set_min_isr=set_min_isr))
    asyncio.run(SidecarCommands(sidecar).by_name()["min-isr"]({"do": "min-isr", **command}))
    return asked


def test_the_controller_is_asked():
    assert asked_for(topics=["t"], min_isr=2) == [(["t"], 2)]


@pytest.mark.parametrize("topics", [None, [], "t", [1]])
def test_topics_are_names(topics):
    with pytest.raises(CommandError, match="topics must be a list of names"):
        asked_for(topics=topics, min_isr=2)


@pytest.mark.parametrize("min_isr", [None, 0, "2", True])
def test_min_isr_is_a_number(min_isr):
    with pytest.raises(CommandError, match="min_isr must be a whole number"):
        asked_for(topics=["t"], min_isr=min_isr)


def test_a_broker_sets_nothing():
    command = SidecarCommands(SimpleNamespace(controller=None)).by_name()["min-isr"]
    with pytest.raises(CommandError, match="only the controller sets"):
        asyncio.run(command({"do": "min-isr", "topics": ["t"], "min_isr": 2}))

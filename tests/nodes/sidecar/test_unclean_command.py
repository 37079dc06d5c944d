import asyncio
from types import SimpleNamespace

import pytest

from tidemark.nodes.admin.port import CommandError
from tidemark.nodes.sidecar.admin_commands import SidecarCommands


def asked_for(**command):
    """What the controller is asked for by the command ``unclean``."""
    asked = []

    async def allow_unclean(topics, *, on):
        asked.append((topics, on))
        return {}

    sidecar = SimpleNamespace(controller=SimpleNamespace(allow_unclean=allow_unclean))
    asyncio.run(SidecarCommands(sidecar).by_name()["unclean"]({"do": "unclean", **command}))
    return asked


def test_the_controller_is_asked():
    assert asked_for(topics=["t"], on=True) == [(["t"], True)]


@pytest.mark.parametrize("on", [None, 1, "true"])
def test_they_are_allowed_or_forbidden(on):
    with pytest.raises(CommandError, match="on must be true or false"):
        asked_for(topics=["t"], on=on)


@pytest.mark.parametrize("topics", [None, [], "t", [1]])
def test_topics_are_names(topics):
    with pytest.raises(CommandError, match="topics must be a list of names"):
        asked_for(topics=topics, on=True)


def test_a_broker_allows_nothing():
    command = SidecarCommands(SimpleNamespace(controller=None)).by_name()["unclean"]
    with pytest.raises(CommandError, match="only the controller sets what holds for topics"):
        asyncio.run(command({"do": "unclean", "topics": ["t"], "on": True}))

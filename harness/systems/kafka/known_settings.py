"""The settings that a Kafka knows, asked of its own jars: brokers take any other without a word."""

from __future__ import annotations

import html
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.run_once import OUT, run_once

if TYPE_CHECKING:
    from collections.abc import Iterable

    from docker import DockerClient

TELLS_ALL: Final = 'java -XX:TieredStopAtLevel=1 -Xmx256m -cp "$(cat /opt/kafka/classpath)" kafka.server.KafkaConfig'
"""Prints a page about all settings of brokers."""
OF_A_LISTENER: Final = "listener.name."
"""Settings for one listener have its name in theirs."""
_PAGE: Final = "settings.html"
_SETTING: Final = re.compile(r'<h4><a id="([^"]+)".*?<th>Default:</th>\s*<td>(.*?)</td>', re.DOTALL)


def defaults_in(page: str) -> dict[str, str]:
    """Setting → what it is unless somebody sets it, by what :data:`TELLS_ALL` prints."""
    return {name: html.unescape(value).partition(" (")[0] for name, value in _SETTING.findall(page)}


def refuse_unknown(client: DockerClient, image: str, version: str, settings: Iterable[str]) -> None:
    """Refuse what is no setting of this Kafka's brokers. It takes a second or two, and none without settings.

    Args:
        client: of the engine.
        image: that brokers run from.
        version: of Kafka.
        settings: names.

    Raises:
        ContainerWorldError: one is unknown, and the sentence names the nearest that there is; or the image cannot be asked.
    """
    asked = [name for name in settings if not name.startswith(OF_A_LISTENER)]
    if not asked:
        return
    told = run_once(client, image, f"{TELLS_ALL} >{OUT}/{_PAGE}", {})[_PAGE]
    known = defaults_in(told.decode(errors="replace"))
    for name in asked:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ContainerWorldError(f"Kafka {version} has no setting of brokers called {name}{hint}")

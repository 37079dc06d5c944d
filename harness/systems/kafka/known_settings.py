"""The settings that a Kafka knows, asked of its own jars: brokers take any other without a word."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.kafka_image import LIBS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from docker import DockerClient

OF_A_LISTENER = "listener.name."
"""Settings for one listener have its name in theirs."""
_TELLS_ALL = ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{LIBS}/*", "kafka.server.KafkaConfig"]
_NAME = re.compile(r'<a id="(?:brokerconfigs_)?([^"]+)"')


def refuse_unknown(client: DockerClient, image: str, version: str, settings: Iterable[str]) -> None:
    """Refuse what is no setting of this Kafka's brokers. It takes a second or two, and none without settings.

    Args:
        client: of the engine.
        image: that brokers run from.
        version: of Kafka.
        settings: names.

    Raises:
        ContainerWorldError: one is unknown; the sentence names the nearest that there is.
        docker.errors.DockerException: the engine failed.
    """
    asked = [name for name in settings if not name.startswith(OF_A_LISTENER)]
    if not asked:
        return
    told = client.containers.run(image, _TELLS_ALL, entrypoint="", network_mode="none", remove=True)
    known = set(_NAME.findall(told.decode()))
    for name in asked:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ContainerWorldError(f"Kafka {version} has no setting of brokers called {name}{hint}")

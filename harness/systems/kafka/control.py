"""Controls the broker of one machine, through its keeper (``nodes.kafka``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.containers.node_control import NodeControl
from harness.systems.kafka.places import KafkaPlaces
from harness.systems.kafka.scripts import KafkaScripts

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.containers.node_control import NodeMachine


class KafkaControl(NodeControl):
    """As for Tidemark's own nodes: the keeper's admin port speaks the same language, and goes on while the broker is paused."""

    answers_while_paused = True
    scripts = KafkaScripts

    def __init__(self, machine: NodeMachine, on_lost: Callable[[], None] | None = None) -> None:
        """Nothing is done yet."""
        super().__init__(machine, KafkaPlaces(), on_lost)

"""Controls the broker of one machine, through its sidecar (``tidemark.nodes.sidecar``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.harness.machines.node_control import TAIL_LINES, NodeControl
from tidemark.harness.systems.kafka.places import KafkaPlaces
from tidemark.harness.systems.kafka.scripts import KafkaScripts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.harness.machines.node_control import NodeMachine

LAST_WORDS = "sidecar: gave up: "
"""In the last line of a sidecar whose node did not end in order."""


class KafkaControl(NodeControl):
    """As for Tidemark's own nodes: the sidecar's admin port speaks the same language, and goes on while the broker is paused."""

    answers_while_paused = True
    start_s = 200.0
    scripts = KafkaScripts

    def __init__(self, machine: NodeMachine, on_lost: Callable[[], None] | None = None) -> None:
        super().__init__(machine, KafkaPlaces(), on_lost)

    def log_tail(self, lines: int = TAIL_LINES) -> str:
        """The sidecar's last words, which tell the broker's lines that say what went wrong; without any, the last lines."""
        tail = super().log_tail(lines)
        last = tail.rpartition("\n")[2]
        return last if LAST_WORDS in last else tail

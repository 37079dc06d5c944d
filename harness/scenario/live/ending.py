"""The last phases of a script on machines, and the evidence that is left of it."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tidemark.harness.clients.wire_client import NoAnswerError, RefusedError
from tidemark.harness.evidence.collect import fetch_all
from tidemark.harness.evidence.partition_disk import Batches
from tidemark.harness.evidence.whole_trace import WholeTrace, whole_trace
from tidemark.harness.live.run_loop import monotonic_us
from tidemark.harness.runs.at_rest import PartitionView
from tidemark.harness.scenario.live.cluster_view import ClusterView
from tidemark.harness.scenario.live.nodes import Nodes
from tidemark.harness.scenario.target import PARTITION
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.formats.record_batch import build

LOOK_S = 0.02
"""Between two looks at a process."""


class Chronicle:
    """The time of a script's run, and what the harness adds to its trace.

    Attributes:
        began_us, ended_us: CLOCK_MONOTONIC at time 0, and when the evidence was collected, 0 before.
        given: broker → the log it began with. noted: the harness's events.
    """

    def __init__(self) -> None:
        self.began_us = monotonic_us()
        self.ended_us = 0
        self.given: dict[int, Batches] = {}
        self.noted: list[tuple[Any, ...]] = []

    def partitions(self) -> tuple[str, ...]:
        """All partition names."""
        return (PARTITION,)

    def now_us(self) -> int:
        """Since the machines were ready, until the evidence was collected."""
        return (self.ended_us or monotonic_us()) - self.began_us

    def run_until(self, until_us: int) -> None:
        """Let time pass."""
        time.sleep(max(until_us - self.now_us(), 0) / 1e6)

    def trace_event(self, node: int, event: str, partition: str, *fields: object) -> None:
        """Add an event of the harness to the trace."""
        self.noted.append((self.now_us(), node, event, partition, *fields))

    def told_deaths(self, nodes: Nodes) -> list[dict[str, Any]]:
        """Processes that ended though nobody asked them to. Those who gave no account of their end have not traced it either."""
        began = self.began_us
        self.noted += [(at - began, node, "stop", "", "crash") for at, node in nodes.silent if node != CONTROLLER]
        return [{**death, "time": death["time"] - began} for death in nodes.died]

    def whole_trace(self, nodes: Nodes, held: dict[int, dict[str, Batches]], down: frozenset[int]) -> WholeTrace:
        """What the nodes have traced, and what it comes to, given what brokers' files held, and who had no process then.

        Raises:
            NodeError: a trace file cannot be fetched. RunError: it is damaged.
        """
        traced = {}
        for node, control in nodes.controls.items():
            began = self.began_us + nodes.clocks_us.get(node, 0)
            before = [
                [began, node, "append", PARTITION, base, epoch, b64encode(build(values, base, epoch))]
                for base, epoch, values in self.given.get(node, ())
            ]
            text = control.read(control.places.trace).decode(errors="replace")
            traced[node] = [*before, *nodes.events_of(text, control.name)]
        began_us, look = self.began_us, nodes.interpret
        return whole_trace(traced, nodes.clocks_us, began_us, noted=self.noted, logs=held, down=down, interpret=look)


class LiveEnding:
    """See :class:`tidemark.harness.runs.phases.Ending`.

    Args:
        chronicle, nodes, sight: of the run.
        read: reads everything back from whoever serves it; raises if that is refused, and is false while nobody serves it.
        give_up: lets what has no answer yet stay unknown.
        remember: called at the end of all, while processes still run.
        folder: of the run: an archive of each node's files is kept there.

    Attributes:
        collected: the whole trace, once it is there. died: processes that ended though nobody asked them to.
    """

    def __init__(
        self,
        chronicle: Chronicle,
        nodes: Nodes,
        sight: ClusterView,
        *,
        read: Callable[[], bool],
        give_up: Callable[[], None],
        remember: Callable[[], None],
        folder: Path | None = None,
    ) -> None:
        self.world = chronicle
        self.collected: WholeTrace | None = None
        self.died: list[dict[str, Any]] = []
        self._nodes = nodes
        self._sight = sight
        self._read = read
        self._give_up = give_up
        self._remember = remember
        self._folder = folder

    def views(self, partitions: Iterable[str], *, with_reasons: bool = True) -> dict[str, PartitionView]:
        """How the partition stands."""
        return dict.fromkeys(partitions, self._nodes.observation.view())

    def all_answer(self) -> None:
        """Who runs and does not answer a look has already ended the run."""

    def read_back(self, within_us: int) -> bool:
        """Read the partition from the start, as a consumer; whether that came to an end in time."""
        self._give_up()
        deadline = self.world.now_us() + within_us
        while self.world.now_us() < deadline:
            try:
                if self._read():
                    return True
            except (RefusedError, NoAnswerError):
                pass
            time.sleep(LOOK_S)
        return False

    def collect(self) -> None:
        """Every running replica's final state, and what the nodes have traced; ends their processes."""
        nodes, sight = self._nodes, self._sight
        brokers = nodes.brokers()
        for broker in brokers:
            fields = sight.final(broker)
            if fields is not None:
                self.world.trace_event(broker, "final", PARTITION, *fields)
        self._remember()
        down = frozenset(broker for broker in brokers if nodes.gone(broker))
        self.died = self.world.told_deaths(nodes)
        held = {broker: sight.held(broker) for broker in brokers}
        nodes.all_at_once(nodes.kill, nodes.ids)
        if self._folder is not None:
            fetch_all(nodes.controls, self._folder)
        self.collected = self.world.whole_trace(nodes, held, down)

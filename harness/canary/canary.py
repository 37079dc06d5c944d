"""A canary's run: its clients work on its topic until it is time, or somebody says stop; then all is read back."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.checkers.history.history import History
from tidemark.harness.canary.fault_commands import FaultCommands, FaultOrder
from tidemark.harness.canary.meter import Interval, Meter
from tidemark.harness.clients.kafka_workload import KafkaWorkload
from tidemark.harness.clients.libraries import CONFLUENT, available
from tidemark.harness.clients.script import VALUES_PER_PRODUCER
from tidemark.harness.live.recorder import Recorder
from tidemark.nemesis.plan import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tidemark.checkers.history.history import Op

MINUTE_S: Final = 60.0
CLIENT_LOG: Final = "clients.log"
COMMAND_LOG: Final = "commands.log"
READ_BACK_S: Final = 120.0
"""So long the last read may take, and a second more for each of so many records: Kafka reads far more."""
RECORDS_A_SECOND: Final = 2_000
REQUEST_US: Final = 2_000_000
MOST_VALUES: Final = VALUES_PER_PRODUCER - 10_000
"""A producer's values are its own up to here; the canary ends when one has sent so many."""


@dataclass(frozen=True, slots=True)
class CanaryOrder:
    """What to do.

    Attributes:
        bootstrap: ``host:port,host:port``. security: librdkafka's settings for TLS and SASL.
        topic: its name. partitions, replication_factor, min_isr: its shape.
        producers, batch: how many, and the most records in a batch. interval_us: the mean pause between two batches of one.
        timeout_us: how long a producer tries to have a batch acknowledged.
        seconds: how long to work; None: until it is interrupted.
        faults: commands to run, if any.
    """

    bootstrap: str
    security: Mapping[str, str]
    topic: str
    partitions: int
    replication_factor: int
    min_isr: int
    producers: int
    interval_us: int
    timeout_us: int
    batch: int = 3
    seconds: float | None = None
    faults: FaultOrder | None = None

    def cluster(self) -> ClusterSpec:
        """As the clients want to know it."""
        settings = Settings(min_isr=self.min_isr, produce_timeout_us=self.timeout_us, request_timeout_us=REQUEST_US)
        return ClusterSpec(self.replication_factor, self.replication_factor, self.partitions, settings=settings)

    def meta(self) -> dict[str, Any]:
        """What the history's first line says of the run."""
        library = next(one.version for one in available() if one.name == CONFLUENT)
        return {
            "world": "canary",
            "contract": "durable",
            "acks": "all",
            "min_isr": self.min_isr,
            "patience_us": self.timeout_us,
            "clients": library,
            "topic": self.topic,
            "replication_factor": self.replication_factor,
        }


def work(
    order: CanaryOrder, folder: Path, *, tell: Callable[[str], None], minute: Callable[[int, Interval], None]
) -> History:
    """Write and read for as long as was ordered, or until KeyboardInterrupt; then read everything back. The topic is there.

    Args:
        order: what to do.
        folder: takes the history while it grows, and the clients' own words.
        tell: says what happens to a person.
        minute: takes what came in each minute, by its number.

    Returns:
        The whole history; ``read_back`` says whether the last read came to its end.

    Raises:
        ClientsError: a client broke, so the history is not whole.
        KeyboardInterrupt: the second one, which does not wait for the end.
    """
    began = time.monotonic_ns()

    def clock() -> int:
        return (time.monotonic_ns() - began) // 1000

    meter, full = Meter(), threading.Event()
    with Recorder(order.meta(), folder) as recorder:

        def record(op: Op) -> None:
            recorder.op(op)
            meter.note(op)
            if op.f == "send" and op.type == "invoke" and _counter(op.value[-1][2]) >= MOST_VALUES:
                full.set()

        clients = KafkaWorkload(
            order.bootstrap,
            order.cluster(),
            WorkloadSpec(producers=order.producers, interval_us=order.interval_us, batch=order.batch),
            clock=clock,
            record=record,
            noise_seed=1,
            log=folder / CLIENT_LOG,
            topic=order.topic,
            security=order.security,
        )
        faults = None
        if order.faults is not None:
            faults = FaultCommands(
                order.faults, clock=clock, record=recorder.nemesis_op, tell=tell, log=folder / COMMAND_LOG
            )
        clients.start()
        try:
            if faults is not None:
                faults.start()
            _wait(order, clock, full, lambda number: minute(number, meter.take(clock())))
        except KeyboardInterrupt:
            tell("stopping; everything is read back first (Ctrl-C again: at once, without a verdict)")
        finally:
            if faults is not None:
                faults.stop()
        faults_end_us = clock()
        clients.stop()
        tell("reading everything back")
        patience_s = READ_BACK_S + clients.counters.invoked / RECORDS_A_SECOND
        read_back = clients.final_read(clock() + int(patience_s * 1e6))
        told = {"faults_end_us": faults_end_us, "end_us": clock(), "read_back": read_back}
        history = History(order.meta() | told, recorder.ops, recorder.nemesis, [])
        recorder.replace(history)
    return history


def _wait(order: CanaryOrder, clock: Callable[[], int], full: threading.Event, minute: Callable[[int], None]) -> None:
    """Until it is time, a minute at a time; a producer that has no numbers left ends it as well."""
    number = 0
    while not full.is_set():
        number += 1
        until_s = number * MINUTE_S
        ends = order.seconds is not None and order.seconds <= until_s
        if order.seconds is not None:
            until_s = min(until_s, order.seconds)
        full.wait(max(until_s - clock() / 1e6, 0))
        minute(number)
        if ends:
            return


def _counter(value: int) -> int:
    return value % VALUES_PER_PRODUCER

"""Options for how busy clients are, where plans are drawn: they take the place of what chance would choose."""

from __future__ import annotations

import click

from tidemark.cli.options import RealRange
from tidemark.cli.typed_options import Options, option
from tidemark.nemesis import AskedWorkload
from tidemark.nemesis.object_workload import OBJECTS
from tidemark.nemesis.plan import ON_LOGS

object_option = click.option(
    "--workload",
    "object_kind",
    type=click.Choice((*OBJECTS, *ON_LOGS)),
    help="What the clients work on, if it is no log; or logs, in Kafka's transactions, or with a share group.  "
    "[default: the system's first workload]",
)


class WorkloadOptions(Options):
    """--producers, --rate, --batch, --duration."""

    producers: int | None = option("Number of producers.  [default: drawn, 2 to 4]", type=click.IntRange(1, 1000))
    rate: float | None = option(
        "Sends a second of each producer, on average.  [default: drawn, 2.5 to 17]",
        type=RealRange(min=0, min_open=True, max=1_000_000),
    )
    batch: int | None = option(
        "The most records in a send.  [default: drawn, 1 to 10]", type=click.IntRange(1, 100_000)
    )
    duration: float | None = option(
        "Seconds until everything is healed; the plan's faults are spread over them.  [default: drawn, 2 to 6]",
        type=RealRange(min=0.1, max=86_400),
    )

    def asked(self) -> AskedWorkload:
        """What they ask for."""
        return AskedWorkload(self.producers, self.rate, self.batch, self.duration)

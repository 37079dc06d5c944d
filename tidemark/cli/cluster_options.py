"""Options for the cluster that plans are drawn for, or that is started."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from tidemark.cli.typed_options import Options, option
from tidemark.nodes.core.cluster import ACKS, ClusterSpec
from tidemark.nodes.core.settings import ClusterSpecError, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions(Options):
    """--brokers, --replication-factor, --partitions, --min-isr, --acks, --unclean-election."""

    brokers: int = option("--brokers", type=int, default=3, show_default=True, help="Number of brokers.")
    replication_factor: int | None = option(
        "--replication-factor", type=int, help="Replicas of each partition.  [default: 3, or all brokers]"
    )
    partitions: int = option("--partitions", type=int, default=1, show_default=True, help="Number of partitions.")
    min_isr: int | None = option(
        "--min-isr", type=int, help="min.insync.replicas.  [default: 2, or 1 with one replica]"
    )
    acks: str = option("--acks", type=click.Choice(ACKS), default="all", show_default=True, help="Producers' acks.")
    unclean_election: bool = option(
        "--unclean-election", is_flag=True, help="Let any live replica lead when no in-sync one can."
    )

    def spec(self) -> ClusterSpec:
        """The cluster that is asked for.

        Raises:
            click.UsageError: it is impossible.
        """
        factor = min(3, self.brokers) if self.replication_factor is None else self.replication_factor
        min_isr = min(2, factor) if self.min_isr is None else self.min_isr
        settings = replace(Settings(), min_isr=min_isr, unclean_election=self.unclean_election)
        try:
            return ClusterSpec(self.brokers, factor, self.partitions, self.acks, settings)
        except ClusterSpecError as error:
            raise click.UsageError(f"impossible cluster: {error}", click.get_current_context(silent=True)) from None

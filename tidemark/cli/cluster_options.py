"""Options for the cluster that plans are drawn for, or that is started."""

from __future__ import annotations

from dataclasses import replace

import click

from tidemark.cli.typed_options import Options, flag, option
from tidemark.nodes.core.cluster import ACKS, ClusterSpec
from tidemark.nodes.core.settings import ClusterSpecError, Settings


class ClusterOptions(Options):
    """--brokers, --replication-factor, --partitions, --min-isr, --acks, --unclean-election."""

    brokers: int = option("Number of brokers.", type=int, default=3)
    replication_factor: int | None = option("Replicas of each partition.  [default: 3, or all brokers]", type=int)
    partitions: int = option("Number of partitions.", type=int, default=1)
    min_isr: int | None = option("min.insync.replicas.  [default: 2, or 1 with one replica]", type=int)
    acks: str = option("Producers' acks.", type=click.Choice(ACKS), default="all")
    unclean_election: bool = flag("Let any live replica lead when no in-sync one can.")

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

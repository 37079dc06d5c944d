"""The process of a node of BookKeeper's family: a bookie with a journal, and the log that was read or written, in memory."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tidemark.nodes.admin.trace_file import WITH_BATCH, Entry
from tidemark.nodes.core.actions import Journal, Sync
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.recovery import Recovered, RecoveredPartition
from tidemark.nodes.families.bookkeeper.bookie import journal_of
from tidemark.nodes.families.family import Machine
from tidemark.nodes.formats import journal
from tidemark.nodes.formats.record_batch import Records
from tidemark.nodes.process.log_driver import NodeSide
from tidemark.nodes.process.voting_driver import VotingDriver
from tidemark.nodes.process.wire.ledger_peers import LedgerPeers


class LedgerDriver(VotingDriver):
    """One node's process."""

    def make_node_side(self) -> NodeSide:
        """Bookies, and the metadata store."""
        return LedgerPeers(self)

    def tell_recovered(self, name: str, found: RecoveredPartition) -> None:
        """A journal holds records of its own; a log that is read anew tells so itself."""
        partition = journal.partition_of(name)
        if partition is not None:
            self.note("recovered", journal_of(partition), found.leo, found.hw, 0)

    def make_core(self, recovered: Recovered) -> Machine:
        """Its bookie has what the journal holds.

        Raises:
            OSError: the journal cannot be read, or holds what is none of its records.
        """
        known = dict(recovered.partitions)
        for name, found in recovered.partitions.items():
            partition = journal.partition_of(name)
            if partition is not None:
                del known[name]
                known[journal_of(partition)] = RecoveredPartition([_read(batch) for batch in found.batches], (), 0)
        return super().make_core(Recovered(known, recovered.clean_broker_epoch))

    def write(self, now: int, action: Any) -> Entry | None:  # noqa: ANN401 (any action that is for the disk)
        """A journal is a log file beside those of logs."""
        if type(action) is Journal:
            record: Any = action.batch.values[0]
            self.logs.append(
                self._directory(action.partition), Batch(action.batch.base, 0, Records(journal.encode(record)))
            )
            return None
        if type(action) is Sync:
            self.logs.carry_out(Sync(self._directory(action.partition)))
            return None
        return super().write(now, action)

    @cached_property
    def _directories(self) -> dict[str, str]:
        """A journal, as the core calls it → its directory."""
        return {journal_of(name): journal.directory_of(name) for name in self.partitions}

    def _directory(self, partition: str) -> str:
        return self._directories.get(partition, partition)

    def _carry_out(self, now: int, actions: list[Any]) -> None:
        """A batch that is told of has its place from then on, wherever it goes: it lies in no log file that would give it one."""
        super()._carry_out(
            now, [_placed(one) if type(one) is tuple and one[2] in WITH_BATCH else one for one in actions]
        )


def _read(batch: Batch) -> Batch:
    values: Any = batch.values
    record: Any = (journal.decode(values.raw()),)
    return Batch(batch.base, batch.epoch, record)


def _placed(entry: Entry) -> Entry:
    *told, base, generation, values = entry
    return (*told, base, generation, values.placed(base, generation))

"""What a re-check has to do, and what of it was done before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tidemark.harness.runs.folder import HISTORY
from tidemark.pipeline.folder.evidence import run_folder
from tidemark.pipeline.folder.finished_chunks import take_stock
from tidemark.pipeline.folder.recheck_tables import RecheckRecord, read_record
from tidemark.pipeline.folder.record import ChunkRecord, RecordError
from tidemark.pipeline.folder.tables import record_file
from tidemark.pipeline.runs.campaign_spec import CONTAINERS

if TYPE_CHECKING:
    from tidemark.pipeline.folder.layout import Chunk
    from tidemark.pipeline.folder.manifest import Manifest
    from tidemark.pipeline.recheck.recheck_chunk import RecheckTask

RUN_ROWS: Final = 10_000
"""A run that is made again is about as much work as judging so many rows."""
LINE_BYTES: Final = 150
"""Of a history's file a row has about so many bytes."""
TASKS_A_CORE: Final = 6
TASK_ROWS: Final = 100_000
"""A task has at least so many rows, where there are: it costs some 10 ms itself."""


class RecheckWork:
    """The chunks to judge: those that are finished, and not judged yet as they are now.

    Attributes:
        finished: all of them. todo: those that are left, with their rows.
        rows: of what is left. runs: that are left.
        spoilt: variant and number of those that turned out to be damaged.
    """

    def __init__(self, task: RecheckTask, manifest: Manifest, variants: tuple[str, ...], *, fresh: bool) -> None:
        self.task, self.variants = task, variants
        self._campaign = task.campaign.spec.name
        stock = take_stock(task.campaign.folder, manifest, ())  # whoever reads a file holds it against its record
        self.spoilt: set[tuple[str, int]] = set()
        self.damaged = tuple(damage.words() for damage in stock.damaged if damage.variant in variants)
        places = [place for place in stock.finished if place[0] in variants]
        places.sort(key=lambda place: (place[1], variants.index(place[0])))
        self.finished = [manifest.layout.chunk(*place) for place in places]
        with_rows = ((chunk, self._rows(chunk, fresh=fresh)) for chunk in self.finished)
        self.todo = [(chunk, rows) for chunk, rows in with_rows if rows is not None]
        self.rows = sum(rows for _, rows in self.todo)
        self.runs = sum(chunk.stop - chunk.first for chunk, _ in self.todo)

    def _rows(self, chunk: Chunk, *, fresh: bool) -> int | None:
        """How much there is to read of a chunk, None if it was judged already."""
        try:
            record = read_record(self.task.campaign.folder, self._campaign, chunk)
        except RecordError:
            return 0  # it has changed just now, and the worker will say what is wrong with it
        if not fresh and self._judged(chunk, record) is not None:
            return None
        made_again = RUN_ROWS * (chunk.stop - chunk.first) if self.task.again else 0
        return record.files["ops"].rows + record.files["trace"].rows + made_again + self._evidence(chunk)

    def _evidence(self, chunk: Chunk) -> int:
        """About how many rows there are of runs in containers, whose histories are files."""
        of = self.task.campaign
        if of.spec.world != CONTAINERS:
            return 0
        files = (run_folder(of.folder, chunk.variant, plan) / HISTORY for plan in range(chunk.first, chunk.stop))
        return sum(file.stat().st_size for file in files if file.is_file()) // LINE_BYTES

    def _judged(self, chunk: Chunk, record: ChunkRecord) -> RecheckRecord | None:
        """What was found in a chunk, None if that was not the chunk of now."""
        found = RecheckRecord.read(record_file(self.task.place, self._campaign, chunk.variant, chunk.number))
        digests = {table: written.digest for table, written in record.files.items()}
        return found if found is not None and (found.chunk, found.of) == (chunk, digests) else None

    def judged(self) -> Iterator[RecheckRecord]:
        """What was found in the chunks, as they are now and as far as they are what their records say."""
        for chunk in self.finished:
            if (chunk.variant, chunk.number) in self.spoilt:
                continue
            try:
                record = read_record(self.task.campaign.folder, self._campaign, chunk)
            except RecordError:
                continue
            if (found := self._judged(chunk, record)) is not None:
                yield found

    def tasks(self, cores: int) -> list[list[Chunk]]:
        """The chunks that are left, cut into tasks of about the same work."""
        size = max(TASK_ROWS, self.rows // (cores * TASKS_A_CORE))
        tasks: list[list[Chunk]] = [[]]
        room = size
        for chunk, rows in self.todo:
            if tasks[-1] and rows > room:
                tasks.append([])
                room = size
            tasks[-1].append(chunk)
            room -= rows
        return [task for task in tasks if task]

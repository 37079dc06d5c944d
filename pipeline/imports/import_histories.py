"""Make a campaign of histories that others recorded, or add to one: judged by `tidemark.checkers.check`, stored as a
campaign's tables.

Plans are running numbers over all variants, in the order in which histories came in, so a variant has only some of them, and of a
chunk number one variant has the chunk. A chunk counts as soon as the manifest, which is written last (for the first chunk before it
as well), has its plans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

import pyarrow.parquet as pq
from rich.console import Console

from tidemark.pipeline.campaign.bar import bar_of
from tidemark.pipeline.engines.reason import is_full_disk, reason
from tidemark.pipeline.folder.campaign_parts import part_of
from tidemark.pipeline.folder.code_digest import code_digest, judging_parts
from tidemark.pipeline.folder.finished_chunks import Stock, set_aside, set_right, take_stock
from tidemark.pipeline.folder.layout import Layout, Stretch
from tidemark.pipeline.folder.manifest import TABLES_OF_A_CAMPAIGN, Asked, CampaignRefusedError, Manifest, locked
from tidemark.pipeline.folder.record import ChunkSummary
from tidemark.pipeline.folder.refusal import RefusalError
from tidemark.pipeline.folder.tables import RECORDS, SCHEMAS
from tidemark.pipeline.imports.import_chunk import SEED, JudgedSources, JudgeSources
from tidemark.pipeline.imports.sources import Source, in_groups, source_of
from tidemark.pipeline.runs.campaign_spec import IMPORTED, CampaignSpec

MOST: Final = 100
"""So many histories make a chunk at most."""
MOST_BYTES: Final = 16 << 20
"""And so many bytes of files, or one that is larger."""
Spread: TypeAlias = Callable[[JudgeSources, Iterable[list[Source]]], Iterable[JudgedSources]]
"""Does a piece of work for each item, perhaps in other processes, as `map` does; results are in the items' order."""


class ImportFailedError(RefusalError):
    """Nothing more can be imported; what was, is kept. The text is one sentence."""


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """What an import came to.

    Attributes:
        runs: how many histories of each variant were added. verdicts: how many of them were judged how.
        errors: of the unknown ones, those over which a checker stumbled.
        there: files that were in the campaign already, or named twice.
        unread: those that are no histories.
        damaged: chunks whose files were not what they were, so that they count no more, in words.
        other_code: whether earlier histories were judged by other checkers.
        interrupted: whether somebody stopped it.
    """

    runs: dict[str, int]
    verdicts: dict[str, int]
    errors: int
    there: tuple[Path, ...]
    unread: tuple[tuple[Path, str], ...]
    damaged: tuple[str, ...] = ()
    other_code: bool = False
    interrupted: bool = False

    @property
    def added(self) -> int:
        """How many."""
        return sum(self.runs.values())


def import_histories(
    folder: Path,
    files: Sequence[Path],
    *,
    variant: str | None = None,
    contract: str | None = None,
    spread: Spread = map,
    console: Console | None = None,
) -> ImportOutcome:
    """Judge and store the histories in some files; Ctrl-C ends it with what is stored, and the same again goes on.

    Args:
        folder: Of a campaign of imported histories, or of none yet.
        files: Absolute paths. Those whose bytes are in the campaign already are left out.
        variant: What the histories are called; each by its own meta line if None.
        contract: The promise to judge by; the histories' own if None.
        spread: How the work is spread.
        console: Where the progress is shown, standard error unless told.

    Raises:
        CampaignRefusedError: The folder holds something else, or another process works on it.
        ImportFailedError: It cannot be written.
    """
    folder = folder.resolve()
    _refuse(folder, contract)
    with locked(folder):
        try:
            importing = _Importing(folder, contract)
            importing.add(files, variant, spread, console or Console(stderr=True))
        except OSError as error:
            room = ": make room, and give the same command again" if is_full_disk(error) else ""
            raise ImportFailedError(f"The histories cannot be stored in {folder} ({reason(error)}){room}.") from error
    return importing.outcome()


def _refuse(folder: Path, contract: str | None) -> None:
    """Refuse a folder that holds something else."""
    manifest = Manifest.read(folder)
    whole = part_of(folder)
    if whole is not None:
        raise CampaignRefusedError(
            f"{folder} is for a part of the campaign in {whole}, and imported histories are none; choose another folder with --out."
        )
    if manifest is None:
        if any((folder / name).exists() for name in TABLES_OF_A_CAMPAIGN):
            raise CampaignRefusedError(f"{folder} holds tables without a manifest; choose another folder with --out.")
        return
    spec = manifest.spec
    if spec.world != IMPORTED:
        raise CampaignRefusedError(
            f"{folder} holds a campaign that was run, and imported histories are none of its plans; choose another folder with "
            "--out."
        )
    if spec.contract != contract:
        by, wanted = (f"by {name}" if name else "by their own promises" for name in (spec.contract, contract))
        raise CampaignRefusedError(
            f"{folder} holds histories that were judged {by}, not {wanted}; choose another folder with --out."
        )


class _Importing:
    """A campaign that histories are added to."""

    def __init__(self, folder: Path, contract: str | None) -> None:
        self._folder, self._contract = folder, contract
        parts = judging_parts()
        self._code, self._parts = code_digest(parts), parts
        self._manifest = Manifest.read(folder)
        self._before = self._manifest
        self._known: set[str] = set()
        self._damaged: tuple[str, ...] = ()
        self._runs: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._errors = 0
        self._there: list[Source] = []
        self._unread: list[tuple[Path, str]] = []
        self._why_not: dict[str, str] = {}  # by digest, of what is no history
        self._interrupted = False
        if self._manifest is not None:
            stock = take_stock(folder, self._manifest)
            set_right(folder, self._manifest, stock)
            _set_aside_what_does_not_count(folder, self._manifest, stock)
            _forget_what_was_broken_off(folder, self._manifest)
            self._damaged = tuple(damage.words() for damage in stock.damaged)
            for file in stock.files(folder, self._manifest.spec.name, "runs"):
                self._known.update(pq.read_table(file, columns=["digest"], partitioning=None)["digest"].to_pylist())
            if not stock.finished:  # it was begun, and has nothing: it begins again
                self._manifest = self._before = None

    def add(self, files: Sequence[Path], variant: str | None, spread: Spread, console: Console) -> None:
        """All that is new of some files."""
        bar = bar_of(console)
        show = partial(bar.update, bar.add_task("histories", total=len(files), found=""))
        with bar:
            try:
                new = list(self._new(files, variant))
                show(completed=len(self._there) + len(self._unread))
                for judged in spread(JudgeSources(self._contract), in_groups(new, MOST, MOST_BYTES)):
                    self._store(judged)
                    done = self._runs.total() + len(self._there) + len(self._unread)
                    show(completed=done, found=f"{self._verdicts['invalid']} invalid")
            except KeyboardInterrupt:
                self._interrupted = True

    def outcome(self) -> ImportOutcome:
        """What it came to."""
        before = self._before
        copies = [(one.name, self._why_not[one.digest]) for one in self._there if one.digest in self._why_not]
        return ImportOutcome(
            runs=dict(self._runs),
            verdicts=dict(self._verdicts),
            errors=self._errors,
            there=tuple(one.name for one in self._there if one.digest not in self._why_not),
            unread=(*self._unread, *copies),
            damaged=self._damaged,
            other_code=before is not None and before.code != self._code,
            interrupted=self._interrupted,
        )

    def _new(self, files: Sequence[Path], variant: str | None) -> Iterator[Source]:
        """Those that are not there yet, each once."""
        for file in files:
            try:
                source = source_of(file, variant)
            except OSError as error:
                self._unread.append((file, f"cannot be read ({error.strerror})"))
                continue
            if source.digest in self._known:
                self._there.append(source)
            else:
                self._known.add(source.digest)
                yield source

    def _store(self, judged: JudgedSources) -> None:
        """Add a chunk, if there is anything in it."""
        self._unread += [(one.source.name, one.why) for one in judged.unread]
        self._why_not |= {one.source.digest: one.why for one in judged.unread}
        if not judged.runs:
            return
        before = self._manifest
        grown = self._grown(judged.variant, len(judged.runs))
        number, first = (0, 0) if before is None else (before.layout.chunks, before.spec.plans)
        chunk = judged.as_chunk(grown.identity, number, first)
        if before is None:  # or a kill would leave tables without a manifest, which are nobody's
            grown.write(self._folder)
        chunk.store(self._folder, grown.spec.name)
        grown.write(self._folder)
        self._manifest = grown
        summary: ChunkSummary = chunk.record.summary
        self._runs[judged.variant] += summary.runs
        self._verdicts.update(str(run["valid"]) for run in judged.runs)
        self._errors += summary.errors

    def _grown(self, variant: str, runs: int) -> Manifest:
        """The manifest with so many more runs of a variant, as one chunk."""
        today = datetime.now(UTC).date().isoformat()
        before = self._manifest
        if before is None:
            spec = CampaignSpec(
                self._folder.name, (variant,), runs, SEED, IMPORTED, contract=self._contract, keep="all", world=IMPORTED
            )
            layout = Layout(spec.variants, (Stretch(runs, runs),))
            asked = (Asked(today, runs, spec.variants),)
            return Manifest(spec, layout, self._code, self._parts, today, uuid4().hex, asked)
        variants = tuple(dict.fromkeys((*before.spec.variants, variant)))
        spec = replace(before.spec, variants=variants, plans=before.spec.plans + runs)
        *earlier, last = before.layout.stretches
        same = last.chunk_size == runs and last.plans % runs == 0
        stretches = (*earlier, Stretch(last.plans + runs, runs)) if same else (*earlier, last, Stretch(runs, runs))
        earlier_asked = before.asked[:-1] if self._runs else before.asked
        return replace(
            before,
            spec=spec,
            layout=Layout(variants, stretches),
            code=self._code,
            parts=self._parts,
            asked=(*earlier_asked, Asked(today, spec.plans, variants)),
        )


def _set_aside_what_does_not_count(folder: Path, manifest: Manifest, stock: Stock) -> None:
    """Move the files of chunks that are not finished out of the tables: their histories come in again as other chunks, and whoever
    reads a table's folder would count them twice.
    """
    for table in SCHEMAS:
        counts = set(stock.files(folder, manifest.spec.name, table))
        for path in sorted((folder / table).rglob("chunk-*.parquet")):
            if path not in counts:
                set_aside(folder, path)


def _forget_what_was_broken_off(folder: Path, manifest: Manifest) -> None:
    """Remove the records of chunks that never came to be in the manifest; their files were set aside."""
    for record in (folder / RECORDS).rglob("chunk-*.json"):
        if int(record.stem.removeprefix("chunk-")) >= manifest.layout.chunks:
            record.unlink()

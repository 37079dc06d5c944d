"""A folder of kept plans, a file for each anomaly of each cause in each variant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tidemark.harness.runs.kept_results import SUFFIX, KeptResults
from tidemark.harness.search.corpus.kept_plan import KeptPlan, read_kept


class Corpus:
    """The folder; several processes may write to it.

    Args:
        folder: made when the first plan is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._results = KeptResults(folder)

    def paths(self) -> list[Path]:
        """All its files, in order."""
        return [self._results.path(name) for name in self._results.names()]

    def path(self, kept: KeptPlan) -> Path:
        """Where a plan of this name lies."""
        return self.folder / f"{kept.name}{SUFFIX}"

    def take(self, kept: KeptPlan) -> bool:
        """Keep a plan, unless one no larger shows the same already; whether it was kept.

        What is shrunk keeps the word of where it was found, and of its repair.

        Raises:
            CorpusError: the file in its place cannot be read. OSError: it cannot be written.
        """
        with self._results.claimed(kept.name) as mine:
            if not mine:
                return False
            if self.path(kept).exists():
                before = read_kept(self.path(kept))
                if not kept.replaces(before):
                    return False
                kept = _with_word_of(kept, before)
            self._results.write(kept.name, kept.to_json())
            return True


def _with_word_of(kept: KeptPlan, before: KeptPlan) -> KeptPlan:
    one, other = kept.plan, before.plan
    if one == other:
        return replace(kept, origin=before.origin)
    same_source = (one.seed, one.index, one.profile) == (other.seed, other.index, other.profile)
    origin = f"{before.origin}; {kept.origin}" if same_source and before.origin not in kept.origin else kept.origin
    return replace(kept, origin=origin, repaired=kept.repaired or before.repaired)

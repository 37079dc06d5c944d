"""A hunt in a folder: its corpus, so that it goes on where it was, and what it caught, as plans that can be run."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tidemark.harness.runs.kept_results import KeptResults
from tidemark.harness.search.hunt.corpus import Corpus, Entry
from tidemark.harness.search.hunt.hunt import Found, Hunt
from tidemark.harness.search.hunt.known import Known
from tidemark.nemesis import Plan, PlanError

STATE = "hunt"
CAUGHT = "caught"
KEPT_OF_EACH = 3
"""So many plans are kept for each anomaly of each cause: the smallest."""


class HuntDiffersError(ValueError):
    """The folder holds another hunt, or none that can be read; a sentence."""


class Catch(NamedTuple):
    """A kept plan: the anomaly and its cause, its faults, which try it was, its sentence, its file's name without the suffix.

    `made_of`: the near miss that it was made of, if it was.
    """

    name: str
    cause: str
    faults: int
    number: int
    message: str
    file: str
    made_of: str = ""


class KeptHunt:
    """The folder of one hunt.

    Args:
        folder: made when something is written.
        settings: what makes it this hunt and no other; plain values.
    """

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.results = KeptResults(folder)
        self.catches: list[Catch] = []
        self.caught: Counter[tuple[str, str]] = Counter()
        """Anomaly and cause → how many tries caught it, kept or not."""
        self.known: dict[str, tuple[Catch, int]] = {}
        """What was known before it was caught, by how it is called → the smallest plan that shows it, and how many tries did."""
        self.of_no_use: dict[str, str] = {}
        """The file of a catch of which no script came that can be played → why. It takes no place from others."""
        self._settings = settings

    def forget(self) -> None:
        """Delete what the folder has of a hunt, and nothing else."""
        self.results.path(STATE).unlink(missing_ok=True)
        shutil.rmtree(self.results.folder / CAUGHT, ignore_errors=True)

    def restore(self, hunt: Hunt) -> bool:
        """Go on where the folder's hunt was; whether there was one.

        Raises:
            HuntDiffersError: its settings differ, or it cannot be read.
        """
        state = self.results.read(STATE)
        if state is None:
            if self.results.path(STATE).exists():
                raise HuntDiffersError(f"{self.results.path(STATE)} is damaged: begin anew with --fresh")
            return False
        if state.get("settings") != self._settings:
            theirs = state.get("settings") or {}
            mine = {name for name in {*theirs, *self._settings} if theirs.get(name) != self._settings.get(name)}
            raise HuntDiffersError(
                f"{self.results.folder} holds another hunt ({', '.join(sorted(mine)) or 'settings'} differ): choose another "
                "folder with --out, or begin anew with --fresh"
            )
        try:
            hunt.corpus, hunt.round = _corpus(state["corpus"]), int(state["round"])
            hunt.arms.restore(state["arms"])
            hunt.finishing.restore(state["finishing"])
            self.catches = [Catch(**one) for one in state["catches"]]
            # What it found itself is in the corpus by now: it goes on with what it knew when it began.
            hunt.attempt = replace(hunt.attempt, known=state["knew"] and Known.from_json(state["knew"]))
            self.known = {one["cause"]: (Catch(**one), times) for one, times in state["known"]}
            self.caught = Counter({(name, cause): times for name, cause, times in state["caught"]})
        except (KeyError, TypeError, ValueError, IndexError, PlanError):
            raise HuntDiffersError(f"{self.results.path(STATE)} is damaged: begin anew with --fresh") from None
        return True

    def take(self, found: Found) -> Catch | None:
        """Keep a plan, if it is among the smallest that caught this anomaly for this cause."""
        assert found.trial.caught is not None  # noqa: S101 (that is what found means)
        name, _, cause = found.trial.caught
        self.caught[name, cause] += 1
        faults = len(found.plan.faults)
        same = [
            one for one in self.catches if (one.name, one.cause) == (name, cause) and one.file not in self.of_no_use
        ]
        if len(same) >= KEPT_OF_EACH:
            largest = max(same, key=lambda one: (one.faults, one.number))
            if faults >= largest.faults:
                return None
            self.catches.remove(largest)
            self.results.path(largest.file).unlink(missing_ok=True)
        catch = self._written(found, cause)
        self.catches.append(catch)
        return catch

    def _written(self, found: Found, cause: str) -> Catch:
        assert found.trial.caught is not None  # noqa: S101 (that is what found means)
        name, message, _ = found.trial.caught
        file = f"{CAUGHT}/{name}-{found.number}"
        self.results.write(file, found.plan.to_json())
        return Catch(name, cause, len(found.plan.faults), found.number, message, file, found.made_of)

    def count_known(self, found: Found) -> None:
        """Count what was known before, and keep the smallest plan that shows it."""
        called = found.trial.known
        kept, times = self.known.get(called, (None, 0))
        if kept is None or len(found.plan.faults) < kept.faults:
            if kept is not None:
                self.results.path(kept.file).unlink(missing_ok=True)
            kept = self._written(found, called)
        self.known[called] = kept, times + 1

    def save(self, hunt: Hunt) -> None:
        """Write all that is needed to go on."""
        state = {
            "settings": self._settings,
            "round": hunt.round,
            "caught": [[name, cause, times] for (name, cause), times in self.caught.items()],
            "catches": [one._asdict() for one in self.catches],
            "knew": None if hunt.attempt.known is None else hunt.attempt.known.to_json(),
            "known": [[one._asdict(), times] for one, times in self.known.values()],
            "corpus": _plain(hunt.corpus),
            "arms": hunt.arms.to_json(),
            "finishing": hunt.finishing.to_json(),
        }
        self.results.write(STATE, state)


def _plain(corpus: Corpus) -> dict[str, Any]:
    entries = corpus.entries()
    places = {id(entry): place for place, entry in enumerate(entries)}
    return {
        "tries": corpus.tries,
        "seen": dict(corpus.seen),
        "struck": dict(corpus.struck),
        "entries": [{**entry._asdict(), "plan": entry.plan.to_json()} for entry in entries],
        "best": {
            profile: {name: [places[id(entry)] for entry in kept] for name, kept in marks.items()}
            for profile, marks in corpus.best.items()
        },
    }


def _corpus(data: dict[str, Any]) -> Corpus:
    corpus = Corpus()
    entries = [Entry(**{**one, "plan": Plan.from_json(one["plan"])}) for one in data["entries"]]
    corpus.tries = data["tries"]
    corpus.seen = Counter(data["seen"])
    corpus.struck = Counter(data["struck"])
    corpus.best = {
        profile: {name: [entries[place] for place in kept] for name, kept in marks.items()}
        for profile, marks in data["best"].items()
        if marks
    }
    return corpus

"""The pages that `tidemark serve` makes: the folder, a campaign, a run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, Undefined

from tidemark.checkers.acknowledged import of_acknowledged
from tidemark.checkers.verdict.verdict import times_in
from tidemark.harness.report.environment import environment
from tidemark.served.contents import (
    CampaignState,
    Found,
    UnreadableError,
    campaign_state,
    contents,
    files_of,
    verdict_of,
)

if TYPE_CHECKING:
    from tidemark.pipeline.folder.run_list import ListedRun

MOST_RUNS: Final = 200
AGAIN_S: Final = 3
"""The page of a campaign that runs loads itself anew so often."""


class Pages:
    """Of one folder."""

    def __init__(self, root: Path) -> None:
        """Nothing is read yet."""
        self._root = root
        self._templates = _templates()

    def folder(self, asked: Mapping[str, str]) -> str:
        """What there is, or of it what bears the words that are asked for (``q``) and is of a kind (``kind``)."""
        words, kind = asked.get("q", "").strip(), asked.get("kind", "")
        there = contents(self._root)
        shown = [one for one in there if kind in ("", one.kind) and _bears(one, words)]
        return self._rendered(
            "folder.html.j2", found=shown, total=len(there), words=words, kind=kind, root=str(self._root)
        )

    def campaign(self, folder: Path, path: str, asked: Mapping[str, str]) -> str:
        """How far it is, and its runs that broke their promise, or others that are asked for.

        Raises:
            UnreadableError: it cannot be read.
        """
        state = campaign_state(folder)
        wanted = {name: asked.get(name, "").strip() for name in ("variant", "anomaly")}
        runs, more = _runs(folder, wanted)
        return self._rendered(
            "campaign.html.j2",
            state=state,
            path=path,
            runs=runs,
            more=more,
            wanted=wanted,
            report=(folder / "report.html").is_file(),
            again=0 if state.complete else AGAIN_S,
            share=_share,
        )

    def run(self, folder: Path, path: str) -> str:
        """What was found of it, and its files."""
        try:
            verdict, why = verdict_of(folder), ""
        except UnreadableError as error:
            verdict, why = {}, str(error)
        anomalies = [one for one in _listed(verdict.get("anomalies")) if isinstance(one, dict)]
        return self._rendered("one_run.html.j2", name=folder.name, path=path, verdict=verdict, anomalies=anomalies[:100],
                              left=sum(map(_times, anomalies[100:])), why=why, files=files_of(folder))  # fmt: skip

    def complaint(self, words: str) -> str:
        """A page that says what is wrong."""
        return self._rendered("complaint.html.j2", words=words)

    def _rendered(self, template: str, **values: Any) -> str:  # noqa: ANN401 - what the template takes
        return self._templates.get_template(template).render(
            glossary={}, promises={}, again=values.pop("again", 0), **values
        )


def _templates() -> Environment:
    found = environment("tidemark.served")
    found.undefined = Undefined  # a stored verdict is anybody's file, and may lack what ours have
    found.filters["of_acknowledged"] = _of_acknowledged
    found.filters["when"] = lambda at: datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
    return found


def _times(anomaly: dict[str, Any]) -> int:
    try:
        return times_in(anomaly["evidence"])
    except (TypeError, ValueError, KeyError):
        return 1


def _of_acknowledged(stats: object) -> str:
    """The sentence, where the numbers are there; else nothing."""
    try:
        return of_acknowledged(stats) if isinstance(stats, dict) and stats else ""
    except (TypeError, ValueError):
        return ""


def _bears(found: Found, words: str) -> bool:
    text = f"{found.kind} {found.path} {found.state}".lower()
    return all(word in text for word in words.lower().split())


def _share(state: CampaignState) -> float:
    return round(100 * state.done / state.runs, 1) if state.runs else 0.0


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _runs(folder: Path, wanted: Mapping[str, str]) -> tuple[list[ListedRun], bool]:
    """Some runs, and whether there are more.

    Raises:
        UnreadableError: the tables cannot be read.
    """
    from tidemark.pipeline.folder.manifest import CampaignRefusedError
    from tidemark.pipeline.folder.run_list import NoCampaignError, UnreadableTableError, Wanted, list_runs

    try:
        found = list_runs(folder, Wanted(wanted["variant"] or None, wanted["anomaly"] or None, None, None))
        runs = list(islice(found, MOST_RUNS + 1))
    except NoCampaignError:  # asked for a variant that is not there, or nothing has come to its end yet
        return [], False
    except (UnreadableTableError, CampaignRefusedError) as error:
        raise UnreadableError(str(error)) from None
    return runs[:MOST_RUNS], len(runs) > MOST_RUNS

"""The corpus of kept plans: what commands put there, and ``tidemark run --corpus``, which plays all of it again."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tidemark.cli.exits import ANOMALY, VALID
from tidemark.cli.options import FOLDER, RESULTS
from tidemark.cli.output import output
from tidemark.cli.spread import spread_over
from tidemark.harness.runs.code_version import commit_of_code
from tidemark.harness.runs.own_rules import variant_options
from tidemark.harness.search.corpus import Corpus, CorpusError, KeptPlan, Replayed, replay
from tidemark.harness.search.corpus.kept_plan import is_kept, read_kept
from tidemark.harness.search.corpus.played_again import witness
from tidemark.nemesis import Plan, PlanError, read_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.harness.search.hunt.kept_hunt import Catch
    from tidemark.harness.search.shrink.cause import Cause

OWN = RESULTS / "corpus"
"""What was found here."""
PUBLISHED = RESULTS / "published" / "corpus"
"""What the repository keeps."""
EVERY = Path("*")
"""Stands for both."""
UNREADABLE = "unreadable"

corpus_option = click.option(
    "--corpus",
    type=FOLDER,
    default=OWN,
    show_default=True,
    help="Folder in which what is found is kept, for `tidemark run --corpus`.",
)


def keep(
    folder: Path,
    plan: Plan,
    variant: str,
    contract: str | None,
    shown: tuple[Cause, str] | None,
    origin: str,
    repaired: str | None = None,
) -> Path | None:
    """Keep a plan in a corpus; its file, or None if one that is no larger was there.

    That it cannot be written is told, and stops nobody: what was found is worth more than that it is kept.

    Args:
        folder: of the corpus.
        plan: what is run.
        variant: that it is run under.
        contract: by which promise it is judged.
        shown: the anomaly's cause and sentence; None if the run is valid and must stay so.
        origin: how it was found.
        repaired: a variant under which it shows no violation.
    """
    cause, message = shown or (None, "")
    kept = KeptPlan(plan, variant, contract, cause, message, origin, commit_of_code(), repaired)
    corpus = Corpus(folder)
    try:
        return corpus.path(kept) if corpus.take(kept) else None
    except CorpusError as error:
        click.echo(f"not kept: {error}", err=True)
    except OSError as error:
        click.echo(f"not kept: cannot write to {folder} ({error.strerror}); choose another with --corpus", err=True)
    return None


def keep_catches(
    folder: Path, caught: Sequence[tuple[Catch, Path]], variant: str, contract: str | None, how: str
) -> list[Path]:
    """Keep what a hunt caught: the smallest plan of each anomaly and cause, if it shows it again; the files that are new.

    Args:
        folder: of the corpus.
        caught: with their plans' files.
        variant: that was hunted in.
        contract: by which promise it was judged.
        how: the command.
    """
    known, new = set(), []
    for catch, file in sorted(caught, key=lambda one: (one[0].faults, one[0].number)):
        if (catch.name, catch.cause) in known:
            continue
        known.add((catch.name, catch.cause))
        plan = read_plan(file)
        shown = witness(plan, variant, contract, catch.name, catch.cause)
        if shown is not None:
            new.append(keep(folder, plan, variant, contract, shown, f"{how}, try {catch.number}"))
    return [file for file in new if file is not None]


def kept_plans(folder: Path) -> list[KeptPlan]:
    """Every plan of a corpus and of the published one that can be read."""
    found = []
    for file in (file for one in (folder, PUBLISHED) if one.is_dir() for file in Corpus(one).paths()):
        with suppress(CorpusError):
            found.append(read_kept(file))
    return found


def read_plan_or_kept(path: Path) -> Plan:
    """The plan of a file: a plan's, or a kept plan's.

    Raises:
        PlanError: it is neither; a sentence.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return read_plan(path)
    if not is_kept(data):
        return read_plan(path)
    try:
        return KeptPlan.from_json(data, str(path)).plan
    except CorpusError as error:
        raise PlanError(str(error)) from None


class _Line(NamedTuple):
    """A file of a corpus, and what came of it; ``kept`` is None if it cannot be read, and ``instead`` says why."""

    file: Path
    kept: KeptPlan | None
    status: str
    instead: str
    repaired: bool | None
    repaired_instead: str

    @property
    def is_as_kept(self) -> bool:
        return self.kept is not None and Replayed(*self[2:]).is_as_kept


def replay_corpus(folder: Path, jobs: int | None, *, as_json: bool) -> int:
    """Play every kept plan again, and say of each whether it shows what it showed.

    Args:
        folder: a corpus, a file of one, or :data:`EVERY`.
        jobs: so many processes do it.
        as_json: whether JSON is printed.

    Returns:
        Exit code 1 if anything is not as it was kept.
    """
    lines = _replayed(_files(folder), jobs)
    differ = [line for line in lines if not line.is_as_kept]
    if as_json:
        click.echo(
            json.dumps({"plans": len(lines), "differ": len(differ), "entries": [_as_json(line) for line in lines]})
        )
    else:
        _tell(lines, differ)
    return ANOMALY if differ else VALID


def _files(folder: Path) -> list[Path]:
    folders = [one for one in (OWN, PUBLISHED) if one.is_dir()] if folder == EVERY else [folder]
    if not folders:
        raise click.UsageError(f"there is neither {OWN} nor {PUBLISHED} here: name a corpus with --corpus FOLDER")
    if not all(one.exists() for one in folders):
        raise click.UsageError(f"there is no {folder}")
    files = [file for one in folders for file in ([one] if one.is_file() else Corpus(one).paths())]
    if not files:
        raise click.UsageError(f"no plan is kept in {' or '.join(map(str, folders))}")
    return files


def _replayed(files: list[Path], jobs: int | None) -> list[_Line]:
    """In the files' order."""
    readable: list[tuple[Path, KeptPlan]] = []
    lines: dict[Path, _Line] = {}
    for file in files:
        try:
            readable.append((file, read_kept(file)))
        except CorpusError as error:
            lines[file] = _Line(file, None, UNREADABLE, str(error), None, "")
    console = output(stderr=True)
    columns = (TextColumn("replaying"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar, spread_over(jobs) as spread:
        task = bar.add_task("", total=len(readable))
        for (file, kept), replayed in zip(readable, spread(replay, [kept for _, kept in readable]), strict=True):
            lines[file] = _Line(file, kept, *replayed)
            bar.advance(task)
    return [lines[file] for file in files]


def _as_json(line: _Line) -> dict[str, Any]:
    kept = line.kept
    return {
        "file": str(line.file),
        "variant": None if kept is None else kept.variant,
        "anomaly": None if kept is None or kept.cause is None else kept.cause.name,
        "cause": [] if kept is None or kept.cause is None else list(kept.cause.facts),
        "status": line.status,
        "instead": line.instead or None,
        "repaired": None
        if kept is None or kept.repaired is None
        else {"variant": kept.repaired, "holds": line.repaired, "instead": line.repaired_instead or None},
        "origin": None if kept is None else kept.origin,
    }


def _tell(lines: list[_Line], differ: list[_Line]) -> None:
    console = output()

    def say(words: str, style: str = "") -> None:
        console.print(words, style=style, soft_wrap=True, highlight=False, markup=False)

    for line in lines:
        mark = "✓" if line.is_as_kept else "✗"
        repaired = "" if line.kept is None or line.kept.repaired is None else f"; {_of_repair(line)}"
        say(f"{mark} {line.file.stem}: {_IN_WORDS[line.status]}{repaired}", "" if line.is_as_kept else "red")
        if line.is_as_kept:
            continue
        if line.kept is None:
            say(f"    {line.instead}")
            continue
        if line.instead:
            say(f"    kept as: {line.kept.cause or 'valid'}")
            say(f"    now:     {line.instead}")
        if line.repaired_instead:
            say(f"    under {line.kept.repaired}: {line.repaired_instead}")
        say(f"    tidemark run --plan {quote(str(line.file))} {variant_options(line.kept.variant)}")
    of_repairs = [line for line in lines if line.repaired is not None]
    valid = sum(bool(line.repaired) for line in of_repairs)
    repairs = f", {valid} of {len(of_repairs)} repairs hold" if of_repairs else ""
    plans = "1 plan" if len(lines) == 1 else f"{len(lines)} plans"
    as_kept = f"{len(lines) - len(differ)} as {'it was' if len(lines) == 1 else 'they were'} kept"
    say(f"{plans} played again: {as_kept}, {len(differ)} not{repairs}")


_IN_WORDS = {
    "same": "the same",
    "changed": "changed",
    "gone": "gone",
    "broken": "broken, where there was no violation",
    "raised": "cannot be run",
    UNREADABLE: "cannot be read",
}


def _of_repair(line: _Line) -> str:
    assert line.kept is not None  # noqa: S101 (who asks has looked)
    return f"{'no violation' if line.repaired else 'NOT without violation'} under {line.kept.repaired}"

"""``tidemark import``: histories of others as a campaign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidemark.checkers.verdict.visible import visible
from tidemark.cli.exits import INTERRUPTED, UNKNOWN, VALID
from tidemark.cli.extras import need
from tidemark.cli.options import FOLDER, contract_option, json_option, writable_folder
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.spread import jobs_option, spread_over
from tidemark.cli.typed_options import Options, argument, option, shared, taking

if TYPE_CHECKING:
    from tidemark.pipeline.imports.import_histories import ImportOutcome
    from tidemark.pipeline.imports.sources import Found

EPILOG = """\b
Examples:
  tidemark import store/kafka --out results/theirs                every history that Jepsen stored there
  tidemark import night-*.jsonl.gz --out results/theirs --as night     these as well, under a name of their own
  tidemark import results/soak --out results/soaked               runs of ours, by the variant that each names
  tidemark check results/theirs                                   and later: what do the checkers of the day say?

\b
In a folder it takes *.jsonl and *.edn, gzipped or not, and *.parquet, and leaves out campaigns. A file whose bytes are there
already adds nothing. It exits 0 if all was read, whatever the verdicts are (tidemark runs and check tell of them), 2 if some was
not, and 254 if nothing was."""
SHOWN = 20


class ImportOptions(Options):
    """What ``tidemark import`` can be asked."""

    paths: tuple[Path, ...] = argument(type=click.Path(path_type=Path), nargs=-1, required=True)
    out: Path = option(
        "The campaign's folder: a new one, or one of imported histories, to which it adds.", type=FOLDER, required=True
    )
    variant: str | None = option(
        "What the histories are called.  [default: the variant of each one's meta line, else unnamed]", "--as"
    )
    contract: str | None = shared(contract_option)
    jobs: int | None = shared(jobs_option)
    as_json: bool = shared(json_option)


@click.command("import", epilog=EPILOG)
@taking(ImportOptions)
def import_command(options: ImportOptions) -> int:
    """Make a campaign of the histories in PATHS, files and folders that `tidemark check` reads, and judge them.

    Then `tidemark check`, `runs`, `list`, `sql`, `report` and `compare --campaign` are about all of them.
    """
    need(campaign=True)
    from tidemark.pipeline.imports.import_histories import import_histories
    from tidemark.pipeline.imports.sources import find_files

    paths, out, variant = options.paths, options.out, options.variant
    if variant is not None and not variant.strip():
        raise click.UsageError("--as wants a name")
    for path in paths:
        if not path.exists():
            raise click.ClickException(f"{path}: there is no such file or folder")
        if not path.is_file() and not path.is_dir():
            raise click.ClickException(
                f"{path} is a pipe or a device, and is read more than once: store it in a file first"
            )
    found = find_files(paths)
    if not found.files:
        raise click.ClickException(_nothing(paths, found))
    there_before = out.exists()
    writable_folder(out)
    status = output(stderr=True)
    with refused(), spread_over(options.jobs, dear=True) as spread:
        outcome = import_histories(
            out, found.files, variant=variant, contract=options.contract, spread=spread, console=status
        )
    if not outcome.added and not outcome.there and not outcome.interrupted:
        if not there_before:
            _remove(out)
        raise click.ClickException(_none_read(outcome))
    if options.as_json:
        click.echo(json.dumps(_to_json(out, outcome, found)))
    else:
        _print(out, outcome, found)
    if outcome.interrupted:
        status.print("Stopped; what was imported is kept. Give the same command again to go on.", highlight=False)
        return INTERRUPTED
    return UNKNOWN if outcome.unread else VALID


def _nothing(paths: tuple[Path, ...], found: Found) -> str:
    """Why there is nothing to import."""
    if found.campaigns:
        return f"{found.campaigns[0]} is a campaign already: tidemark check judges it again"
    where = paths[0] if len(paths) == 1 else "these folders"
    return f"there is no history in {where}: no *.jsonl, *.edn (perhaps .gz) or *.parquet"


def _none_read(outcome: ImportOutcome) -> str:
    path, why = outcome.unread[0]
    others = len(outcome.unread) - 1
    more = f" (and {others} more)" if others else ""
    return f"nothing could be imported: {path}: {why}{more}"


def _remove(folder: Path) -> None:
    """A folder that was made for nothing."""
    from tidemark.pipeline.folder.manifest import LOCK

    (folder / LOCK).unlink(missing_ok=True)
    folder.rmdir()


def _to_json(folder: Path, outcome: ImportOutcome, found: Found) -> dict[str, Any]:
    return {
        "campaign": str(folder),
        "imported": outcome.added,
        "variants": outcome.runs,
        "verdicts": outcome.verdicts,
        "errors": outcome.errors,
        "there_already": [str(path) for path in outcome.there],
        "not_read": [{"path": str(path), "why": why} for path, why in outcome.unread],
        "campaigns_left_out": [str(path) for path in found.campaigns],
        "damaged": list(outcome.damaged),
        "other_code": outcome.other_code,
        "interrupted": outcome.interrupted,
    }


def _print(folder: Path, outcome: ImportOutcome, found: Found) -> None:
    console = output(highlight=False, soft_wrap=True)

    def say(words: str) -> None:
        console.print(visible(words), markup=False)

    for words in outcome.damaged:
        say(f"{words}: damaged, and taken out; its histories are imported again where they are named.")
    if outcome.added:
        of = ", ".join(f"{count} of {name}" for name, count in outcome.runs.items())
        verdicts = ", ".join(
            f"{outcome.verdicts[name]} {name}" for name in ("valid", "invalid", "unknown") if name in outcome.verdicts
        )
        say(f"{_histories(outcome.added)} imported into {folder}: {of}. They are {verdicts}.")
    else:
        say("Nothing new was imported.")
    if outcome.errors:
        say(f"Over {outcome.errors} of them a checker stumbled: tidemark runs {folder} --unknown tells.")
    if outcome.there:
        say(f"{_histories(len(outcome.there))} there already.")
    if outcome.unread:
        count = len(outcome.unread)
        say("1 file was not read:" if count == 1 else f"{count} files were not read:")
        for path, why in outcome.unread[:SHOWN]:
            say(f"  {path}: {why}")
        if count > SHOWN:
            say(f"  … and {count - SHOWN} more: --json names all.")
    if found.campaigns:
        say(f"Campaigns were left out: {', '.join(map(str, found.campaigns))}.")
    if outcome.other_code:
        say(f"Earlier histories were judged by other checkers: tidemark check {folder} judges all of them by today's.")


def _histories(count: int) -> str:
    return "1 history was" if count == 1 else f"{count} histories were"

"""``tidemark compare --sweep``: a paired comparison in each cell of a grid of settings; one table, one figure."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tidemark.cli.exits import ANOMALY, INTERNAL_ERROR, INTERRUPTED, UNKNOWN, VALID
from tidemark.cli.extras import need
from tidemark.cli.options import RESULTS, writable_folder
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.sweep_axes import AXES, axes_of, cells_of
from tidemark.cli.table_format import TEXT, print_table
from tidemark.cli.writing_to import writing_to
from tidemark.harness.runs.own_rules import known, used_by

if TYPE_CHECKING:
    from tidemark.cli.compare_options import CompareOptions
    from tidemark.harness.report.sweep import Sweep
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec

FILES: Final = "sweep"
"""How what a sweep leaves beside its tables is called, with an ending for each format."""


def sweep(options: CompareOptions) -> int:
    """Run what is missing of a sweep, and print and write down what it found.

    Raises:
        click.ClickException: it cannot be run.
    """
    need(campaign=True, report=True)
    axes = axes_of([*options.sweep, *options.more_axes], options.typed)
    cells, impossible = cells_of(options, axes)
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec
    from tidemark.pipeline.runs.sweep import plans_in_all

    folder = Path(options.out or RESULTS / f"sweep-{options.profile}-{options.seed}")
    if options.baseline and options.baseline not in options.variants:
        raise click.UsageError(f"the baseline {options.baseline!r} is not among the variants")
    spec = CampaignSpec(
        name=folder.resolve().name,
        variants=options.variants,
        plans=plans_in_all(options.seed, cells, options.plans or 200),
        seed=options.seed,
        profile=cells[0].profile,
        cluster=cells[0].cluster.to_json(),
        contract=options.contract,
        keep=options.keep,
        rules=used_by(options.variants, known()),
        cells=tuple(cells),
    )
    writable_folder(folder)
    if not _run(options, spec, folder):
        return INTERRUPTED
    from tidemark.pipeline.compare.sweep_results import sweep_in

    with refused():
        found = replace(
            sweep_in(folder, options.baseline), left_out=tuple(impossible), settings=_settings(options, axes)
        )
    _tell(found, folder, options.table_format, as_json=options.as_json)
    return _code(found) if options.violation_fails else VALID


def _run(options: CompareOptions, spec: CampaignSpec, folder: Path) -> bool:
    """Run what is missing; false if the person stopped it."""
    from tidemark.pipeline.campaign.campaign import run_campaign
    from tidemark.pipeline.runs.guard import RunLimits

    status = output(stderr=True)
    with refused(), writing_to(folder):
        outcome = run_campaign(
            spec,
            folder,
            chunk_size=options.chunk,
            fresh=options.fresh,
            retry_errors=options.retry_errors,
            limits=RunLimits(options.run_seconds, options.run_memory),
            console=status,
            spark=False,
        )
    status.print(outcome.sentences(), highlight=False, markup=False)
    return outcome.status != "interrupted"


def _settings(options: CompareOptions, axes: Collection[str]) -> str:
    """What all cells share: what every sweep should tell, and what else was typed, as it is typed."""
    params = click.get_current_context().params
    names = dict.fromkeys(("seed", "profile", "intensity", *(name for name in options.typed if name in AXES)))
    return ", ".join(f"{name.replace('_', '-')} {params[name]}" for name in names if name not in axes)


def is_sweep(folder: Path) -> bool:
    """Whether a campaign's folder is that of a sweep.

    Raises:
        click.ClickException: its manifest cannot be read.
    """
    from tidemark.pipeline.folder.found_campaign import campaign_in

    with refused():
        return bool(campaign_in(folder).spec.cells)


def tell_again(folder: Path, baseline: str | None, *, as_json: bool) -> None:
    """Print what a sweep has found so far, cell by cell, and write table and figure anew.

    Raises:
        click.ClickException: there is nothing to compare yet.
    """
    from tidemark.pipeline.compare.sweep_results import sweep_in

    with refused():
        found = sweep_in(folder, baseline)
    written = folder / f"{FILES}.json"
    with refused(OSError, ValueError, of=written):
        told = json.loads(written.read_text(encoding="utf-8")) if written.exists() else {}
    settings, left_out = told.get("settings", f"seed {found.seed}"), tuple(told.get("left_out", ()))
    _tell(replace(found, settings=settings, left_out=left_out), folder, TEXT, as_json=as_json)


def _tell(found: Sweep, folder: Path, table_format: str, *, as_json: bool) -> None:
    """Print it, and leave table and figure in the folder in all formats."""
    from tidemark.harness.report.result_table import ENDINGS, WRITERS
    from tidemark.harness.report.style import looks, save
    from tidemark.harness.report.sweep_figure import violations_by_cell

    with writing_to(folder):
        (folder / f"{FILES}.json").write_text(json.dumps(found.to_json(), indent=1) + "\n", encoding="utf-8")
        for name, write in WRITERS.items():
            table = found.to_work_with() if name == "csv" else found.to_read()
            (folder / f"{FILES}.{ENDINGS[name]}").write_text(write(table), encoding="utf-8")
        with looks():
            save(violations_by_cell(found), folder, FILES, "Runs with a violation in each cell", for_paper=True)
    if as_json:
        click.echo(json.dumps(found.to_json()))
        return
    plain = table_format == TEXT
    for sentence in found.sentences():
        click.echo(sentence, err=not plain)
    print_table(found.to_work_with() if table_format == "csv" else found.to_read(), table_format)
    click.echo(f"Table and figure: {folder}/{FILES}.csv, .tex, .md, .json, .pdf, .svg, .png", err=not plain)


def _code(found: Sweep) -> int:
    """What --fail-on-violation is told."""
    variants = found.together.variants
    if any(one.violating.hits for one in variants):
        return ANOMALY
    if any(one.errors for one in variants):
        return INTERNAL_ERROR
    return VALID if all(one.violating.runs for one in variants) else UNKNOWN

"""--sweep: which settings are swept over which values, and the cells that this makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.cli.cluster_options import ClusterOptions
from tidemark.cli.options import words_in
from tidemark.cli.workload_options import WorkloadOptions
from tidemark.nemesis import PlanError, cluster_of_plans

if TYPE_CHECKING:
    from tidemark.cli.compare_options import CompareOptions
    from tidemark.pipeline.runs.sweep import Cell

AXES: Final = (*ClusterOptions.option_names(), *WorkloadOptions.option_names(), "profile", "intensity")
"""Options of ``tidemark compare`` that can be swept: those that change what runs, and not how it is judged."""
SHORT: Final = {"replicas": "replication_factor"}
MOST_CELLS: Final = 1000


def axes_of(words: Sequence[str], typed: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Name of an option → its values, as they are typed and as they are meant.

    Args:
        words: each ``AXIS=VALUE,VALUE``.
        typed: options that have one value.

    Raises:
        click.UsageError: an axis is no option, or has a value that the option refuses, or stands twice.
    """
    context = click.get_current_context()
    options = {one.name: one for one in context.command.params if one.name in AXES}
    axes: dict[str, dict[str, Any]] = {}
    for word in (one for given in words for one in given.split()):
        axis, equals, values = word.partition("=")
        name = SHORT.get(axis, axis.replace("-", "_"))
        option = options.get(name)
        if option is None or not equals:
            known = ", ".join(known.replace("_", "-") for known in AXES)
            raise click.UsageError(f"--sweep {word}: it takes AXIS=VALUE,VALUE with an axis of {known}")
        if name in typed or name in axes:
            raise click.UsageError(f"{axis} is swept, so give all its values once, with --sweep")
        kind = click.BOOL if isinstance(option, click.Option) and option.is_flag else option.type
        axes[name] = {value: kind.convert(value, option, context) for value in words_in(values)}
        if not axes[name] or len({*axes[name].values()}) < len(axes[name]):
            raise click.UsageError(f"--sweep {word}: name at least one value, each once")
    return axes


def cells_of(options: CompareOptions, axes: Mapping[str, Mapping[str, Any]]) -> tuple[list[Cell], list[str]]:
    """The cells of the grid, the last axis turning fastest, and sentences about those that cannot be.

    Where replicas are swept, and nobody says how many brokers there are, there are as many, and three at least.

    Raises:
        click.UsageError: there is none, or there are too many.
    """
    from tidemark.pipeline.runs.sweep import Cell, grid

    cells: list[Cell] = []
    impossible: list[str] = []
    for at in grid({name: list(values) for name, values in axes.items()}):
        if len(cells) >= MOST_CELLS:
            raise click.UsageError(f"--sweep makes more than {MOST_CELLS} cells: name fewer values")
        value = {name: axes[name][text] for name, text in at}
        told = tuple((name.replace("_", "-"), text) for name, text in at)
        cluster = replace(options.cluster, **_among(value, ClusterOptions))
        if "replication_factor" in value and "brokers" not in {*value, *options.typed}:
            cluster = replace(cluster, brokers=max(cluster.brokers, value["replication_factor"]))
        workload = replace(options.workload, **_among(value, WorkloadOptions)).asked()
        profile = value.get("profile", options.profile)
        try:
            spec = cluster_of_plans(profile, cluster.spec())
            cell = Cell(told, spec, profile, workload, value.get("intensity", options.intensity))
            cell.plan(options.seed, 0)
        except (click.UsageError, PlanError) as error:
            words = error.message if isinstance(error, click.UsageError) else str(error)
            impossible.append(f"{', '.join(f'{name} {text}' for name, text in told)} ({words})")
        else:
            cells.append(cell)
    if not cells:
        raise click.UsageError(f"--sweep makes no cell that can be: {impossible[0]}")
    return cells, impossible


def _among(values: Mapping[str, Any], group: type[ClusterOptions | WorkloadOptions]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in group.option_names()}

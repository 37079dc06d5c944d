"""``--checker``: checkers of one's own, from a file or from an installed package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isfunction
from pathlib import Path
from types import ModuleType

import click

from tidemark.checkers.own_checkers import OwnChecker

GROUP = "tidemark.checkers"
"""The entry points by which a package offers checkers."""
PREFIX = "check"

checker_option = click.option(
    "--checker",
    "checkers",
    multiple=True,
    metavar="FILE.py|NAME",
    help="Ask this checker, too: the functions check… of a file, or one that a package offers as an entry point "
    f"{GROUP}. May be given more than once.",
)


def load_checkers(wanted: Sequence[str]) -> Mapping[str, OwnChecker]:
    """The checkers by name, in the order they were asked for.

    Raises:
        click.ClickException: a file cannot be loaded, or has none; nobody offers one of this name.
    """
    found: dict[str, OwnChecker] = {}
    for one in wanted:
        found |= _of_file(Path(one)) if one.endswith(".py") else _offered(one)
    return found


def _of_file(path: Path) -> dict[str, OwnChecker]:
    if not path.is_file():
        raise click.ClickException(f"there is no file {path}")
    module = _loaded(path)
    functions = {name: value for name, value in vars(module).items() if name.startswith(PREFIX) and isfunction(value)}
    own = {name: value for name, value in functions.items() if value.__module__ == module.__name__}
    if not own:
        raise click.ClickException(
            f"{path} has no function whose name begins with {PREFIX}: it takes a History and gives its anomalies "
            "(docs/checking-your-own-history.md)"
        )
    return {path.stem if name == PREFIX else f"{path.stem}.{name}": value for name, value in own.items()}


def _loaded(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"tidemark_checker_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise click.ClickException(f"{path} cannot be loaded as Python")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise click.ClickException(f"{path}: line {error.lineno}: {error.msg}") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody's file may do anything
        raise click.ClickException(f"{path} cannot be loaded: {type(error).__name__}: {error}") from None
    return module


def _offered(name: str) -> dict[str, OwnChecker]:
    offers = {one.name: one for one in entry_points(group=GROUP)}
    if name not in offers:
        there = f"; there are {', '.join(sorted(offers))}" if offers else ""
        raise click.ClickException(f"no installed package offers a checker {name}{there}; a file's name ends in .py")
    try:
        loaded = offers[name].load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody's package may do anything
        raise click.ClickException(f"the checker {name} cannot be loaded: {type(error).__name__}: {error}") from None
    if not callable(loaded):
        raise click.ClickException(f"the checker {name} ({offers[name].value}) is no function")
    return {name: loaded}

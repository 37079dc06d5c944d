"""``--checker``: checkers of one's own, from a file or from an installed package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import isfunction
from pathlib import Path

import click

from tidemark.checkers.own_checkers import Checker
from tidemark.harness.runs.own_code import OwnCodeError, file_of, names_offered, offered

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


def load_checkers(wanted: Sequence[str]) -> Mapping[str, Checker]:
    """The checkers by name, in the order they were asked for.

    Raises:
        click.ClickException: a file cannot be loaded, or has none; nobody offers one of this name.
    """
    found: dict[str, Checker] = {}
    try:
        for one in wanted:
            found |= _of_file(Path(one)) if one.endswith(".py") else _offered(one)
    except OwnCodeError as error:
        raise click.ClickException(str(error)) from None
    return found


def _of_file(path: Path) -> dict[str, Checker]:
    module = file_of(path, "a checker")
    functions = {name: value for name, value in vars(module).items() if name.startswith(PREFIX) and isfunction(value)}
    own = {name: value for name, value in functions.items() if value.__module__ == module.__name__}
    if not own:
        raise OwnCodeError(
            f"{path} has no function whose name begins with {PREFIX}: it takes a History and gives its anomalies "
            "(docs/checking-your-own-history.md)"
        )
    return {path.stem if name == PREFIX else f"{path.stem}.{name}": value for name, value in own.items()}


def _offered(name: str) -> dict[str, Checker]:
    found = offered(GROUP, name)
    if found is None:
        names = names_offered(GROUP)
        there = f"; there are {', '.join(names)}" if names else ""
        raise OwnCodeError(f"no installed package offers a checker {name}{there}; a file's name ends in .py")
    where, checker = found
    if not callable(checker):
        raise OwnCodeError(f"the checker {name} ({where}) is no function")
    return {name: checker}

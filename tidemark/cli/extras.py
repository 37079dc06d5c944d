"""What is installed by use: the base judges histories and simulates, and each *extra* brings the packages of one thing more.

``pyproject.toml`` says the same for pip (``[project.optional-dependencies]``); a test holds the two against each other. What is
missing is told in one sentence, with the command that mends it: before anything is done where a command knows that it will need an
extra (:func:`need`), and else when the first import fails (:func:`absences_told`).
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Extra = Literal["campaign", "spark", "containers", "report"]

EXTRAS: dict[Extra, tuple[str, ...]] = {
    "campaign": ("pyarrow", "scipy", "duckdb", "sqlglot"),
    "spark": ("pyspark", "py4j", "pandas"),
    "containers": (
        "docker",
        "requests",
        "paramiko",
        "cryptography",
        "confluent-kafka",
        "aiokafka",
        "cramjam",
        "kio",
        "crc32c",
        *(("uvloop",) if sys.platform != "win32" else ()),
    ),
    "report": ("matplotlib", "jinja2", "markupsafe"),
}
"""The packages of each extra. A package's module has its name, with ``_`` for ``-``."""

CHECKOUT = Path(__file__).resolve().parents[2]


class MissingExtraError(click.ClickException):
    """Packages that the command needs are not installed; the message names them, and the command that brings them."""


def need(*, campaign: bool = False, spark: bool = False, containers: bool = False, report: bool = False) -> None:
    """Refuse to begin what would fail later for want of a package.

    Raises:
        MissingExtraError: an extra that is needed is not complete.
    """
    asked: dict[Extra, bool] = {"campaign": campaign, "spark": spark, "containers": containers, "report": report}
    absent = {extra: names for extra, needed in asked.items() if needed and (names := missing(extra))}
    if absent:
        raise MissingExtraError(_sentence(absent, [name for names in absent.values() for name in names]))


@contextmanager
def absences_told() -> Iterator[None]:
    """Turns an import that fails for want of an extra's package into a sentence; other imports fail as they do.

    Raises:
        MissingExtraError: that sentence.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        for extra, names in EXTRAS.items():
            if module in map(module_of, names):
                raise MissingExtraError(_sentence([extra], missing(extra) or [module])) from error
        raise


def missing(extra: Extra) -> list[str]:
    """The packages of an extra that are not installed."""
    return [name for name in EXTRAS[extra] if version_of(name) is None]


def version_of(package: str) -> str | None:
    """The version that is installed, if any."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def module_of(package: str) -> str:
    """What is imported of a package."""
    return package.replace("-", "_")


def in_checkout() -> bool:
    """Whether this code runs from a checkout, where ``make`` works, and not from a wheel."""
    return (CHECKOUT / ".ci" / "make-env").is_file()


def mend(extras: Iterable[Extra]) -> str:
    """The command that installs them. The container world needs a checkout, which alone holds the recipes of its images."""
    extras = list(extras)
    if in_checkout():
        return "make env"
    if "containers" in extras:
        return "make env, in a checkout of Tidemark"
    return f"pip install 'tidemark-chaos[{','.join(extras)}]'"


def _sentence(extras: Iterable[Extra], packages: list[str]) -> str:
    first, *others = packages
    if not others:
        listed = f"{first}, which is"
    elif len(others) <= 2:
        listed = f"{', '.join(packages[:-1])} and {packages[-1]}, which are"
    else:
        listed = f"{first} and {len(others)} more packages, which are"
    return f"this needs {listed} not installed; run: {mend(extras)}"

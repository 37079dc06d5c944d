"""Options that several commands share, and the parsing behind them. What cannot be used is refused in one sentence."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from tidemark.checkers import ALL_PROMISES
from tidemark.nemesis import ProfileError, kinds_of
from tidemark.nodes.core.variant import Variant, VariantError
from tidemark.nodes.families import parse_variant

RESULTS = Path("results")
SEED = click.IntRange(min=-(2**63), max=2**63 - 1)
"""What fits the tables of a campaign: 64 bits."""
MOST_PLANS = 10_000_000
POSITIVE = click.IntRange(min=1)
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/")


class RealRange(click.FloatRange):
    """A finite number within bounds, which "nan" is not, though nothing is above or below it, and neither is "1e400"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401
        """Refuse what is no number."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number) or (math.isinf(number) and isinstance(value, str)):  # a default may be without end
            self.fail(f"{value!r} is no finite number", param, ctx)
        return number

    def _describe_range(self) -> str:
        """The bounds for `--help`, where there are any."""
        return "" if self.min is None and self.max is None else super()._describe_range()


class NewFile(click.Path):
    """A file to be written when all is done, which may have taken hours: what cannot be one is refused before."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False, writable=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Refuse what lies below a file."""
        path: Any = super().convert(value, param, ctx)
        above = next((one for one in Path(path).absolute().parents if one.exists()), None)
        if above is not None and not above.is_dir():
            self.fail(f"cannot write {path}: {above.name} is no folder", param, ctx)
        return path


NEW_FILE = NewFile()


class VariantName(click.ParamType[Any]):
    """A variant, checked when it is typed."""

    name = "variant"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse what is no variant."""
        try:
            return parse_variant(value).name
        except VariantError as error:
            self.fail(str(error), param, ctx)


class KafkaVariantName(VariantName):
    """A variant of Kafka's protocol, where other families cannot be had."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse those as well."""
        name = super().convert(value, param, ctx)
        if not isinstance(parse_variant(name), Variant):
            self.fail(f"{name} is no variant of Kafka's protocol, and this command knows no other", param, ctx)
        return name


class VariantList(VariantName):
    """Variants separated by commas."""

    name = "variant,variant,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Refuse an empty list, a repeated variant, or what is no variant."""
        if isinstance(value, tuple):
            return value
        names = tuple(super(VariantList, self).convert(name, param, ctx) for name in value.split(",") if name.strip())
        if not names or len(set(names)) < len(names):
            self.fail("name at least one variant, each once", param, ctx)
        return names


def words_in(text: str) -> tuple[str, ...]:
    """What stands between the commas of a list, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


class Several(click.ParamType[Any]):
    """Words of a few, separated by commas."""

    def __init__(self, what: str, known: Collection[str], least: int = 1, *, sort: bool = False) -> None:
        """Take at least so many of those that are known, in the order in which they are typed, or known."""
        self.name = f"{what},{what},…"
        self._known, self._least, self._sort = known, least, sort

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Refuse what is none of them, and fewer."""
        if isinstance(value, tuple):
            return value
        words = words_in(value)
        if len(words) < self._least or any(word not in self._known for word in words):
            least = {1: "one", 2: "two"}[self._least]
            self.fail(f"name at least {least} of {', '.join(self._known)}", param, ctx)
        return tuple(word for word in self._known if word in words) if self._sort else words


variant_option = click.option(
    "--variant", type=VariantName(), default="kafka-2.7", show_default=True, help="Protocol variant."
)
contract_option = click.option(
    "--contract",
    type=click.Choice(list(ALL_PROMISES)),
    help="Promise to judge losses by.  [default: the variant's own]",
)


class ProfileName(click.ParamType[str]):
    """A profile, or several words of profiles and kinds of fault."""

    name = "profile|kind+kind+…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401
        """Refuse what is neither."""
        try:
            kinds_of(str(value))
        except ProfileError as error:
            self.fail(str(error), param, ctx)
        return str(value)


class ProfileNames(ProfileName):
    """Several, with commas between."""

    name = "profile,profile,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Each of them."""
        if isinstance(value, tuple):
            return value
        return tuple(super(ProfileNames, self).convert(word, param, ctx) for word in words_in(value) or ("",))


profile_option = click.option(
    "--profile",
    type=ProfileName(),
    default="intact",
    show_default=True,
    help="Faults to draw from, by kind (crash+pause) or by name: every log survives (intact); power and disk loss and unclean "
    "elections as well (destructive); also what only a machine has (machines: --world docker); or what befalls controllers, what "
    "deletes records, what moves replicas, what spoils files, who leaves the cluster, what settings and features are changed, "
    "or which logs move between a broker's directories (docs/faults.md has all names and kinds).",
)
intensity_option = click.option(
    "--intensity",
    type=RealRange(min=0, max=100),
    default=1,
    show_default=True,
    help="How hard faults strike: a factor on how many a plan has. Less leaves some of the plan's faults out, more adds some; all "
    "else stays what it is.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")


class SparkMaster(click.ParamType[str]):
    """Where Spark runs, checked before a JVM is started for it."""

    name = "master"
    _KNOWN = re.compile(r"local|local\[(\*|\d+)(,\d+)?\]|(spark|k8s)://.+|yarn")

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse what Spark does not know, and what cannot carry our work."""
        if value.startswith("sc://"):
            self.fail(
                f"{value!r} is a Spark Connect server, which takes queries and no tasks of ours; "
                "give the cluster's own address: spark://HOST:7077, yarn or k8s://…",
                param,
                ctx,
            )
        if not self._KNOWN.fullmatch(value):
            self.fail(f"{value!r} is no Spark master; use local[2], spark://HOST:7077, yarn or k8s://…", param, ctx)
        return value


def writable_folder(path: Path) -> Path:
    """Make a results folder.

    Raises:
        click.ClickException: it is none of this machine's, or cannot be made or written.
    """
    if _ADDRESS.match(str(path)):
        raise click.ClickException(
            f"{path} is an address and no folder: results are written to folders of this machine; choose one with --out, and "
            "copy it there when it is finished"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(
            f"cannot write results to {path}: {error.strerror}; choose another with --out"
        ) from None
    if not os.access(path, os.W_OK):
        raise click.ClickException(f"cannot write results to {path}: permission denied; choose another with --out")
    return path

"""A class says what a command can be asked; the command gets one value of it, which knows what somebody typed."""

from dataclasses import FrozenInstanceError

import click
import pytest
from click.testing import CliRunner

from tidemark.cli.typed_options import Options, argument, flag, group, option, shared, taking


class Size(Options):
    replication_factor: int | None = option("Replicas.", type=int)


class Asked(Options):
    name: str = argument(default="one")
    plans: int = option("Plans.", type=int, default=3)
    size: Size = group(Size)
    is_kept: bool = flag("Keep it.", "--keep", "-k")
    as_json: bool = shared(click.option("--json", "as_json", is_flag=True))


def asked(*words):
    found = []

    @click.command()
    @taking(Asked)
    def command(options):
        """Does it."""
        found.append(options)

    result = CliRunner().invoke(command, words)
    assert result.exit_code == 0, result.output
    return found[0] if found else result.output


def test_defaults_and_what_is_typed():
    assert dict(asked().typed) == {}
    options = asked("two", "--replication-factor", "3", "-k", "--plans", "3")

    assert (options.name, options.plans, options.size.replication_factor, options.is_kept) == ("two", 3, 3, True)
    words = {"plans": "--plans", "replication_factor": "--replication-factor", "is_kept": "--keep"}
    assert dict(options.typed) == {"name": "name", **words}
    assert dict(options.size.typed) == {"replication_factor": "--replication-factor"}


def test_it_is_frozen():
    with pytest.raises(FrozenInstanceError):
        asked().plans = 4


def test_help_is_in_the_order_of_the_fields_and_tells_defaults():
    text = asked("--help")

    places = [text.index(word) for word in ("--plans", "[default: 3]", "--replication-factor", "--keep", "--json")]
    assert places == sorted(places)
    assert "Does it." in text
    assert Asked.option_names() == ["name", "plans", "replication_factor", "is_kept", "as_json"]

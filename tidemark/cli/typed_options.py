"""Options with types: a frozen class says what a command can be asked, and the command is given one value of it.

A field is an option: its name and type, and what click is told of it. A group is a class that several commands have::

    @dataclass(frozen=True, slots=True, kw_only=True)
    class HuntOptions(Options):
        seconds: float | None = option("--seconds", type=RealRange(min=1), help="How long to search.")
        cluster: ClusterOptions = group(ClusterOptions)
        as_json: bool = shared(json_option)

    @click.command("hunt")
    @taking(HuntOptions)
    def hunt_command(options: HuntOptions) -> int: ...

``--help`` lists them in the order of the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import wraps
from typing import Any, Final, Self, TypeVar

import click
from click.core import ParameterSource

_DECORATOR: Final = "decorator"
_GROUP: Final = "group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a command was asked, or the part of it that a group is.

    Attributes:
        typed: what somebody typed: the name of each such option, and the option (``plan_file``: ``--plan``), groups' included.
    """

    typed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def decorators(cls) -> Iterator[Callable[[Any], Any]]:
        """Those that add the options to a command, in the order of the fields."""
        for one in fields(cls):
            if _GROUP in one.metadata:
                yield from one.metadata[_GROUP].decorators()
            elif _DECORATOR in one.metadata:
                yield one.metadata[_DECORATOR](one.name)

    @classmethod
    def option_names(cls) -> list[str]:
        """Of the options, groups' included."""
        found: list[str] = []
        for one in fields(cls):
            if _GROUP in one.metadata:
                found += one.metadata[_GROUP].option_names()
            elif _DECORATOR in one.metadata:
                found.append(one.name)
        return found

    @classmethod
    def of(cls, context: click.Context) -> Self:
        """What the command that runs was asked."""
        words = {one.name: one.opts[0] for one in context.command.params}
        values: dict[str, Any] = {}
        typed: dict[str, str] = {}
        for one in fields(cls):
            if _GROUP in one.metadata:
                values[one.name] = one.metadata[_GROUP].of(context)
                typed |= values[one.name].typed
            elif _DECORATOR in one.metadata:
                values[one.name] = context.params[one.name]
                if context.get_parameter_source(one.name) is ParameterSource.COMMANDLINE:
                    typed[one.name] = words[one.name]
        return cls(typed=typed, **values)


O = TypeVar("O", bound=Options)  # noqa: E741


def taking(asked: type[O]) -> Callable[[Callable[[O], int]], Callable[..., int]]:
    """Give a command all options of a class, and hand them over as one value."""

    def decorate(command: Callable[[O], int]) -> Callable[..., int]:
        @wraps(command)
        def called(**_: object) -> int:
            return command(asked.of(click.get_current_context()))

        for add in reversed([*asked.decorators()]):
            called = add(called)
        return called

    return decorate


def option(*words: str, **how: Any) -> Any:  # noqa: ANN401 - a field of any type; `how` is click's
    """A field that is an option, with what `click.option` takes; the field's name is the parameter's."""
    return field(metadata={_DECORATOR: lambda name: click.option(name, *words, **how)})


def argument(**how: Any) -> Any:  # noqa: ANN401 - as above
    """A field that is an argument, with what `click.argument` takes."""
    return field(metadata={_DECORATOR: lambda name: click.argument(name, **how)})


def shared(decorator: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - as above
    """A field whose option other commands have as well; it has the name of that option's parameter."""
    return field(metadata={_DECORATOR: lambda _: decorator})


def group(options: type[O]) -> O:
    """A field that holds a group of options."""
    made: O = field(metadata={_GROUP: options})
    return made

"""Options with types: a frozen class says what a command can be asked, and the command is given one value of it.

A field is an option: its name and type, and what click is told of it. A group is a class that several commands have::

    class HuntOptions(Options):
        seconds: float | None = option("How long to search.", type=RealRange(min=1))
        cluster: ClusterOptions = group(ClusterOptions)
        as_json: bool = shared(json_option)

    @click.command("hunt")
    @taking(HuntOptions)
    def hunt_command(options: HuntOptions) -> int: ...

``--help`` lists them in the order of the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from types import MappingProxyType
from typing import Any, Final, Self, TypeVar, dataclass_transform

import click
from click.core import ParameterSource

_DECORATOR: Final = "decorator"
_GROUP: Final = "group"


def option(text: str, *words: str, **how: Any) -> Any:  # noqa: ANN401 - a field of any type; `how` is click's
    """A field that is an option.

    Args:
        text: of the help, with the default behind it, unless the text tells of that itself.
        words: how it is typed, if that is not the field's name.
        how: as `click.option` has it.
    """
    how = {"show_default": "default" in how and "[default" not in text} | how

    def add(name: str) -> Callable[[Any], Any]:
        return click.option(name, *(words or [f"--{name.replace('_', '-')}"]), help=text, **how)

    return field(metadata={_DECORATOR: add})


def flag(text: str, *words: str) -> bool:
    """A field that is an option without a value."""
    made: bool = option(text, *words, is_flag=True)
    return made


def argument(**how: Any) -> Any:  # noqa: ANN401 - as above
    """A field that is an argument, with what `click.argument` takes."""
    return field(metadata={_DECORATOR: lambda name: click.argument(name, **how)})


def shared(decorator: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - as above
    """A field whose option other commands have as well; it has the name of that option's parameter."""
    return field(metadata={_DECORATOR: lambda _: decorator})


O = TypeVar("O", bound="Options")  # noqa: E741


def group(options: type[O]) -> O:
    """A field that holds a group of options."""
    made: O = field(metadata={_GROUP: options})
    return made


@dataclass_transform(
    kw_only_default=True, frozen_default=True, field_specifiers=(option, flag, argument, shared, group)
)
class Options:
    """What a command was asked, or the part of it that a group is; each class of them is a frozen dataclass.

    Attributes:
        typed: what somebody typed: the name of each such option, and the option (``plan_file``: ``--plan``), groups' included.
    """

    typed: Mapping[str, str] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        """Make it one."""
        dataclass(frozen=True, kw_only=True)(cls)

    @classmethod
    def decorators(cls) -> Iterator[Callable[[Any], Any]]:
        """Those that add the options to a command, in the order of the fields."""
        for one in fields(cls):  # type: ignore[arg-type]  # it is a dataclass
            inner = one.metadata.get(_GROUP)
            yield from inner.decorators() if inner else [one.metadata[_DECORATOR](one.name)]

    @classmethod
    def option_names(cls) -> list[str]:
        """Of the options, groups' included."""
        inner = {one.name: one.metadata.get(_GROUP) for one in fields(cls)}  # type: ignore[arg-type]  # as above
        return [found for name, its in inner.items() for found in (its.option_names() if its else [name])]

    @classmethod
    def of(cls, context: click.Context) -> Self:
        """What the command that runs was asked."""
        words = {one.name: one.opts[0] for one in context.command.params}
        values = {
            one.name: inner.of(context) if (inner := one.metadata.get(_GROUP)) else context.params[one.name]
            for one in fields(cls)  # type: ignore[arg-type]  # as above
        }
        made = cls(**values)
        source = context.get_parameter_source
        typed = {name: words[name] for name in cls.option_names() if source(name) is ParameterSource.COMMANDLINE}
        object.__setattr__(made, "typed", MappingProxyType(typed))
        return made


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

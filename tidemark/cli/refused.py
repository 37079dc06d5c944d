"""What cannot be done is refused in one sentence: that of the error which says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def refused(*errors: type[Exception], usage: bool = False) -> Iterator[None]:
    """What is inside may raise these, and the person is told.

    Raises:
        click.ClickException: the error's sentence; with `usage` a click.UsageError, since it is the options that cannot be had.
    """
    try:
        yield
    except errors as error:
        raise (click.UsageError if usage else click.ClickException)(str(error)) from None

"""What cannot be done is refused in one sentence: that of the error which says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def refused(*errors: type[Exception], of: object = "", then: str = "", usage: bool = False) -> Iterator[None]:
    """What is inside may raise these, else what a campaign refuses, and the person is told: `of` what, if that is not in the
    sentence, and what to do `then`.

    Raises:
        click.ClickException: that sentence; with `usage` a click.UsageError, since it is the options that cannot be had.
    """
    if not errors:
        from tidemark.pipeline.folder.refusal import RefusalError

        errors = (RefusalError,)
    try:
        yield
    except errors as error:
        sentence = f"{of}: {error}{then}" if of else f"{error}{then}"
        raise (click.UsageError if usage else click.ClickException)(sentence) from None

"""What commands that need Docker share: a client, and a way to say what takes long."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

from tidemark.cli.refused import refused
from tidemark.harness.machines.errors import ContainerWorldError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient


@contextmanager
def engine() -> Iterator[DockerClient]:
    """A client of the engine; whatever the container world refuses is one sentence for the person.

    Raises:
        click.ClickException: that sentence.
    """
    from tidemark.harness.machines.engine import connect

    with refused(ContainerWorldError), closing(connect()) as client:
        yield client


class Teller:
    """Says what is going on: beside a spinner on a terminal, else a line for each thing."""

    def __init__(self, console: Console) -> None:
        """Nothing is said yet."""
        self._console = console
        self._status = console.status("")

    def __call__(self, sentence: str) -> None:
        """Say it."""
        if self._console.is_terminal:
            self._status.update(sentence)
            self._status.start()
        else:
            self._console.print(sentence, highlight=False, markup=False, soft_wrap=True)

    def stop(self) -> None:
        """Nothing goes on any more."""
        self._status.stop()


@contextmanager
def telling() -> Iterator[Teller]:
    """Something to say on standard error what takes long."""
    teller = Teller(Console(stderr=True))
    try:
        yield teller
    finally:
        teller.stop()

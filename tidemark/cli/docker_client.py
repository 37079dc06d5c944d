"""What commands that need Docker share: a client, and a way to say what takes long."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.said_again import EVERY_S, said_again

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from docker import DockerClient
    from rich.status import Status


@contextmanager
def engine() -> Iterator[DockerClient]:
    """A client of the engine; whatever the container world refuses is one sentence for the person.

    Raises:
        click.ClickException: that sentence.
    """
    from tidemark.harness.machines.docker_engine import connect

    with refused(ContainerWorldError), closing(connect()) as client:
        yield client


def tells(status: Status, words: str) -> Callable[[str], None]:
    """Shows behind the words what is being done."""
    return lambda doing: status.update(f"{words}: {doing}")


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """Something to say on standard error what takes long, and how long already: beside a spinner on a terminal, else in lines."""
    console = output(stderr=True)
    status = console.status("")

    def tell(sentence: str) -> None:
        if console.is_terminal:
            status.update(sentence)
            status.start()
        else:
            console.print(sentence, highlight=False, markup=False, soft_wrap=True)

    try:
        with said_again(tell, "asking the engine", 1.0 if console.is_terminal else EVERY_S) as say:
            yield say
    finally:
        status.stop()

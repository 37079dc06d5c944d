"""Histories in a line: what each process did, in the order in which it happened."""

import pytest

from checkers.history import Op


@pytest.fixture
def history():
    def made(*halves):
        """Each half ``(process, type, f, value)``; they are a millisecond apart."""
        return [Op(1000 * place, *half) for place, half in enumerate(halves, start=1)]

    return made


@pytest.fixture
def alone(history):
    def made(*done):
        """Each ``(process, f, asked, answered)`` from its invocation to its end, one after the other."""
        halves = []
        for process, f, asked, answered in done:
            halves += [(process, "invoke", f, asked), (process, "ok", f, answered)]
        return history(*halves)

    return made

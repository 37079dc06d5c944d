"""A register with compare-and-set; see `tidemark.checkers.objects.linearizability.register`."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.checkers.objects.linearizability.register import Register


@dataclass(frozen=True)
class CasRegister(Register):
    """A register that is read, written, and compared and set."""

    name: str = "cas-register"
    cas: bool = True

"""A run in containers that cannot be judged."""

from __future__ import annotations

from tidemark.harness.machines.errors import ContainerWorldError


class RunError(ContainerWorldError):
    """The run could not be carried out as planned: a fault was not applied or not healed, or evidence is missing."""

"""What clients raise."""

from __future__ import annotations


class ClientsError(RuntimeError):
    """The clients cannot do their work, or did not do it to the end; the message says in one sentence what to do."""

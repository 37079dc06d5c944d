"""The one kind of error that a person is told of in its own sentence."""

from __future__ import annotations


class RefusalError(RuntimeError):
    """Something about a campaign cannot be done, or cannot be read; the message is a sentence that says why."""

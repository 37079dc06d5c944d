"""What is wrong with a record batch."""

from __future__ import annotations


class BadBatchError(ValueError):
    """A record batch that cannot be kept, or whose records cannot be read.

    Attributes:
        error: Kafka's name for it, as a produce response wants it: ``CORRUPT_MESSAGE`` (damaged on the way),
            ``INVALID_RECORD`` (whole, but wrong), ``UNSUPPORTED_FOR_MESSAGE_FORMAT`` (magic 0 or 1),
            ``UNSUPPORTED_COMPRESSION_TYPE``.
    """

    def __init__(self, error: str, sentence: str) -> None:
        """Keep both; the sentence is what a log line shows."""
        super().__init__(sentence)
        self.error = error

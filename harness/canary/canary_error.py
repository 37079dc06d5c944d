"""What a canary cannot do, as a sentence."""


class CanaryError(RuntimeError):
    """The cluster cannot be reached, or refuses; the message says what to do."""

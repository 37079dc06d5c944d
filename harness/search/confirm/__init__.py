"""What the model showed, tried on brokers: a script, played several times, and what came of each."""

from tidemark.harness.search.confirm.kept import KeptConfirmation
from tidemark.harness.search.confirm.tries import Confirmation, Modelled, Try, try_of

__all__ = ["Confirmation", "KeptConfirmation", "Modelled", "Try", "try_of"]

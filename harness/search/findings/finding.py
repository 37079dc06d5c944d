"""A finding: its page, and by what an anomaly is known to be it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidemark.harness.search.shrink.cause import Cause
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import AnyVariant, parse_variant


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that Kafka does wrong, and that has been looked into.

    Attributes:
        title: a few words. page: in docs/, from the top of the repository. sentence: what happens.
        decisive: a part of a fact that no other reason gives (:class:`tidemark.harness.search.shrink.cause.Cause`).
        of: whether a variant does it. repair: the modifier that mends it, if there is one.
        names: which anomalies it shows as; all, if none is named.
    """

    title: str
    page: str
    sentence: str
    decisive: str
    of: Callable[[AnyVariant], bool]
    repair: str | None = None
    names: tuple[str, ...] = ()

    def explains(self, variant: str, cause: Cause) -> bool:
        """Whether a cause is this finding, under a variant that has it."""
        if (self.names and cause.name not in self.names) or not any(self.decisive in fact for fact in cause.facts):
            return False
        try:
            return self.of(parse_variant(variant))
        except VariantError:
            return False

    @property
    def words(self) -> str:
        """In a line."""
        return f"{self.title}: {self.sentence} ({self.page})"

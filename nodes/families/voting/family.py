"""What all families of servers that vote have in common."""

from __future__ import annotations

from functools import partial

from tidemark.nodes.families.family import Family
from tidemark.nodes.families.voting.faults import COUNTERPARTS, NOT_SUFFERED, UNHEARD, tells_leadership
from tidemark.nodes.families.voting.marks import VOTING

voting_family = partial(
    Family,
    counterparts=COUNTERPARTS,
    not_suffered=NOT_SUFFERED,
    unheard=UNHEARD,
    tells_leadership=tells_leadership,
    marks=VOTING,
)
"""A family without a controller; each may say otherwise of anything here."""

"""Coverage-guided search over plans: what came nearer to where bugs are is tried again, a little otherwise.

The idea is that of AFL, and of Mallory for distributed systems (CCS 2023): a corpus of plans, each of which reached a mark that few
others do; mutation of its faults; and energy for what is rare.
"""

from tidemark.harness.search.hunt.hunt import Found, Hunt, Progress
from tidemark.harness.search.hunt.quarry import Quarry

__all__ = ["Found", "Hunt", "Progress", "Quarry"]

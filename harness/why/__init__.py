"""Why a simulated run failed: its plan again under repaired variants, and where the two runs part."""

from harness.why.stored import why_of_example, why_of_stored
from harness.why.tried import why_of

__all__ = ["why_of", "why_of_example", "why_of_stored"]

"""Why a simulated run failed: its plan again under repaired variants, and where the two runs part."""

from harness.why.deciding import deciding_faults_of_example
from harness.why.stored import why_of_example, why_of_stored
from harness.why.tried import why_of

__all__ = ["deciding_faults_of_example", "why_of", "why_of_example", "why_of_stored"]

"""Why a simulated run failed: its plan again under repaired variants, and where the two runs part."""

from tidemark.harness.why.needed_faults import deciding_faults_of_example
from tidemark.harness.why.tried import why_of, why_of_example, why_of_stored

__all__ = ["deciding_faults_of_example", "why_of", "why_of_example", "why_of_stored"]

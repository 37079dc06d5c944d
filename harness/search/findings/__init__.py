"""What was found in Kafka and has a page in docs/findings, told apart by why an anomaly came about."""

from tidemark.harness.search.findings.finding import Finding
from tidemark.harness.search.findings.findings import FINDINGS, known
from tidemark.harness.search.findings.recognised import Recognised, recognised

__all__ = ["FINDINGS", "Finding", "Recognised", "known", "recognised"]

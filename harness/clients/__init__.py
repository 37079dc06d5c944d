"""Kafka's own clients as the workload of a run against real brokers, recording operations as the simulator's clients do.

The workload itself (``kafka_workload``) speaks Kafka's wire protocol, and so needs an extra; nothing here does.
"""

from tidemark.harness.clients.counters import Counters
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.libraries import LIBRARIES, ClientLibrary, Library, available

__all__ = ["LIBRARIES", "ClientLibrary", "ClientsError", "Counters", "Library", "available"]

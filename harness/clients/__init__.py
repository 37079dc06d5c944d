"""Kafka's own clients as the workload of a run against real brokers, recording operations as the simulator's clients do."""

from tidemark.harness.clients.counters import Counters
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.libraries import LIBRARIES, ClientLibrary, Library, available
from tidemark.harness.clients.workload import Workload

__all__ = ["LIBRARIES", "ClientLibrary", "ClientsError", "Counters", "Library", "Workload", "available"]

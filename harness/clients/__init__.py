"""Kafka's own clients as the workload of a run against real brokers, recording operations as the simulator's clients do."""

from harness.clients.availability import LIBRARIES, ClientLibrary, Library, available
from harness.clients.counters import Counters
from harness.clients.errors import ClientsError
from harness.clients.workload import Workload

__all__ = ["LIBRARIES", "ClientLibrary", "ClientsError", "Counters", "Library", "Workload", "available"]

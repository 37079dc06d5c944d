"""Kafka's own clients as the workload of a run against real brokers, recording operations as the simulator's clients do."""

from tidemark.harness.clients.counters import Counters
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.kafka_workload import KafkaWorkload
from tidemark.harness.clients.libraries import LIBRARIES, ClientLibrary, Library, available

__all__ = ["LIBRARIES", "ClientLibrary", "ClientsError", "Counters", "KafkaWorkload", "Library", "available"]

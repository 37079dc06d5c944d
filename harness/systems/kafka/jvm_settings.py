"""How the JVMs of brokers run: small and told to say everything, to be watched; or as somebody would run them, to be measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JvmSettings:
    """Of each broker, and of KRaft's controller.

    Attributes:
        heap: the most it may take, such as ``320m``. options: further ones of the JVM.
        memory: of each container beside its tmpfs, bytes; for one or two JVMs, and the sidecar.
        quiet: it logs what it would by default, and nothing is traced of the partitions' logs, so that no replica can be judged.
    """

    heap: str
    options: tuple[str, ...]
    memory: int
    quiet: bool = False


WATCHED = JvmSettings("320m", ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"), 1200 << 20)
"""Starts fast, and takes little: some 400 MB."""

MEASURED = JvmSettings(
    "1g",
    ("-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35"),
    2 << 30,
    quiet=True,
)
"""Heap and collector as Kafka's own start script has them, and both compilers."""

"""Where the files of a node that runs Kafka are on its machine."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.harness.machines.node_places import Places


@dataclass(frozen=True, slots=True)
class KafkaPlaces(Places):
    """As Tidemark's own nodes have it, but for the page cache: what a broker has written lies where it belongs, and only a power
    loss tells what of it was flushed.
    """

    @property
    def volatile(self) -> str:
        """Directory; the same as `data`."""
        return self.data

    @property
    def metadata(self) -> str:
        """Directory of the metadata log of a broker that is a controller, too."""
        return self._at("var/lib/tidemark/metadata")

    @property
    def more(self) -> tuple[str, ...]:
        """As in the base class."""
        return (self.metadata,)

    @property
    def sidecar(self) -> str:
        """File with the number of the sidecar's process and its start time."""
        return f"{self.pid}.sidecar"

"""Which truncation rule, with which fences, keeps which invariant: the table that the public specifications give.

Model checking hachikuji/kafka-specification says so of KafkaTruncateToHighWatermark, Kip101, Kip279 and Kip320. These
specifications know a follower's log at any moment, and so forget what a leader knew of it with each reign: all cells but the last
ones have that repair (``forget-log-ends``).

Three of their fences are one after the other here, as in Kafka: a fetch of another epoch that is refused counts for nothing, so
the fence of the high watermark matters only without that of fetches, and the ISR's only without both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.search import Limits, explore
from tidemark.nodes.core.variant import parse_variant

STRONG, MATCHING = "StrongIsr", "LogMatchingHw"
SMALL = Bounds(brokers=3, records=2, epochs=3)
THREE_RECORDS = Bounds(brokers=3, records=3, epochs=3)
TWO_BROKERS = Bounds(brokers=2, records=2, epochs=3)
ONE_RECORD = Bounds(brokers=3, records=1, epochs=3)
HEARD = Bounds(brokers=3, records=2, epochs=3, leadership="late")


@dataclass(frozen=True, slots=True)
class TruthCell:
    """A claim: this variant keeps this invariant within these bounds, or does not.

    Attributes:
        row: the rule, as people call it. expected: ``holds`` or ``broken``, as the specifications have it.
        why: where the core is known to be another than they are, why; ``expected`` is the core's then.
    """

    row: str
    variant: str
    invariant: str
    bounds: Bounds
    expected: str
    why: str = ""

    @property
    def name(self) -> str:
        """Row, invariant and size, which name it."""
        return f"{self.row}, {self.invariant}, {self.bounds.brokers}/{self.bounds.records}/{self.bounds.epochs}"


@dataclass(frozen=True, slots=True)
class TruthRow:
    """What a cell came to; times in seconds, by the clock and of a processor."""

    cell: TruthCell
    outcome: str
    states: int
    moves: int
    depth: int
    steps: int
    seconds: float
    cpu_seconds: float

    @property
    def differs(self) -> bool:
        """Whether it is not as it must be."""
        return self.outcome not in (self.cell.expected, "unfinished")

    def in_words(self) -> str:
        """One line."""
        cell = self.cell
        steps = f" in {self.steps} moves" if self.outcome == "broken" else ""
        wrong = f"  NOT {cell.expected.upper()}" if self.differs else ""
        counted = f"{self.states:,} states, depth {self.depth}, {self.seconds:.1f} s ({self.cpu_seconds:.1f} s of CPU)"
        return f"{cell.name} ({cell.variant}): {self.outcome}{steps}; {counted}{wrong}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        told = asdict(self)
        cell = told.pop("cell") | {"bounds": self.cell.bounds.in_words()}
        return {**cell, **told, "seconds": round(self.seconds, 1), "cpu_seconds": round(self.cpu_seconds, 1)}


def _both(
    row: str, variant: str, bounds: Bounds, strong: str, matching: str, larger: Bounds | None = None
) -> list[TruthCell]:
    return [
        TruthCell(row, variant, STRONG, bounds, strong),
        TruthCell(row, variant, MATCHING, larger or bounds, matching),
    ]


STALE = (
    "a stale leader that is asked for a later epoch says undefined, and the follower cuts to its high watermark; the specification "
    "compares the logs themselves"
)
UNASKED = (
    "a follower with an empty log asks nobody where to cut, and fetches from a leader that has not heard of its epoch yet; in the "
    "specification every follower is first cut by a leader of its own epoch, and three records are needed"
)
REFUSED = "the fence of fetches refuses first what this one would not count"
_F = "+forget-log-ends"
CELLS: tuple[TruthCell, ...] = (
    *_both("hw", "kafka-2.1+truncation=hw" + _F, SMALL, "broken", "broken"),
    *_both("kip101 and KAFKA-7415's fix", "kafka-2.1+truncation=kip101" + _F, SMALL, "broken", "broken"),
    *_both("kip101 (0.11)", "kafka-2.1+truncation=kip101+KAFKA-7415" + _F, SMALL, "broken", "broken", THREE_RECORDS),
    *_both("kip279", "kafka-2.1" + _F, SMALL, "holds", "holds"),
    *_both("fetch", "kafka-2.7" + _F, SMALL, "holds", "holds"),
    *_both("fetch, KRaft", "kafka-3.7" + _F, SMALL, "holds", "holds"),
    *_both("hw-epoch", "kafka-2.1+truncation=hw-epoch" + _F, SMALL, "broken", "broken"),
    *_both("unknown-epoch", "kafka-2.1+truncation=unknown-epoch" + _F, SMALL, "holds", "holds"),
    *_both("lineage", "kafka-2.1+truncation=lineage" + _F, SMALL, "holds", "holds"),
    TruthCell("kip279, truncation unfenced", "kafka-2.1+no-truncation-fence" + _F, STRONG, SMALL, "broken"),
    TruthCell("kip279, fetch and HW unfenced", "kafka-2.1+no-fetch-fence+no-hw-fence" + _F, STRONG, SMALL, "broken"),
    TruthCell(
        "kip279, fetch, HW and ISR unfenced",
        "kafka-2.1+no-fetch-fence+no-hw-fence+no-isr-fence" + _F,
        STRONG,
        SMALL,
        "broken",
    ),
    TruthCell("kip279, HW unfenced", "kafka-2.1+no-hw-fence" + _F, STRONG, SMALL, "holds", REFUSED),
    TruthCell("kip279, ISR unfenced", "kafka-2.1+no-isr-fence" + _F, STRONG, SMALL, "holds", REFUSED),
    TruthCell("kip279, fetch unfenced", "kafka-2.1+no-fetch-fence" + _F, MATCHING, THREE_RECORDS, "broken"),
    TruthCell("kip279, fetch unfenced", "kafka-2.1+no-fetch-fence" + _F, MATCHING, SMALL, "broken", UNASKED),
    *_both("kip279, no fences", "kafka-2.1+no-fences" + _F, SMALL, "broken", "broken"),
    TruthCell("kip279, no fences", "kafka-2.1+no-fences" + _F, STRONG, TWO_BROKERS, "broken", STALE),
    TruthCell("kip279, no fences", "kafka-2.1+no-fences" + _F, MATCHING, TWO_BROKERS, "holds"),
    TruthCell("as Kafka has it: kip279", "kafka-2.1", STRONG, ONE_RECORD, "broken", "the missed reign"),
    TruthCell("as Kafka has it: KRaft", "kafka-3.7", STRONG, ONE_RECORD, "broken", "the missed reign"),
    TruthCell("as Kafka has it, every reign is heard of", "kafka-2.1", STRONG, HEARD, "holds"),
    TruthCell("as Kafka has it, every reign is heard of", "kafka-2.7", STRONG, HEARD, "holds"),
    TruthCell("as Kafka has it, two brokers", "kafka-2.1", STRONG, TWO_BROKERS, "holds"),
    TruthCell("as Kafka has it, two brokers", "kafka-2.7", STRONG, TWO_BROKERS, "holds"),
    TruthCell("as Kafka has it, two brokers", "kafka-3.7", STRONG, TWO_BROKERS, "holds"),
    TruthCell("as Kafka has it, two brokers", "kafka-4.0", STRONG, TWO_BROKERS, "holds"),
)


def cells_with(words: tuple[str, ...]) -> list[TruthCell]:
    """The cells whose names have all of these words; all of them without any."""
    return [cell for cell in CELLS if all(word in cell.name for word in words)]


def run_cell(
    cell: TruthCell,
    limits: Limits = Limits(),  # noqa: B008 (it is immutable)
    progress: Callable[[int, int, float], None] | None = None,
) -> TruthRow:
    """Explore one cell."""
    found = explore(parse_variant(cell.variant), cell.bounds, (cell.invariant,), limits, progress)
    spent = found.seconds, found.cpu_seconds
    return TruthRow(cell, found.outcome, found.states, found.moves, found.depth, len(found.steps), *spent)

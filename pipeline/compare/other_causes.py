"""Which violating runs come of a known bug that is no part of the rule: their plans again, with that bug alone repaired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from tidemark.checkers.verdict.verdict import VIOLATION
from tidemark.harness.report.comparison import OtherCause
from tidemark.harness.runs.own_rules import learn
from tidemark.harness.simulator.execute import execute
from tidemark.harness.zoo.entry import Entry
from tidemark.harness.zoo.repairs import repairs
from tidemark.nodes.core.variant import Variant, VariantError
from tidemark.nodes.families import parse_variant
from tidemark.pipeline.folder.manifest import Manifest
from tidemark.pipeline.folder.run_list import Wanted, list_runs
from tidemark.pipeline.runs.simulate import plan_of

MOST: Final = 500
"""So many runs of a variant are run again; of one with more, nothing is said."""
_ELSEWHERE: Final = "controller"
"""The part of the protocol whose bugs have nothing to do with how a follower truncates, and whom it believes."""


def other_causes(folder: Path) -> Mapping[str, tuple[OtherCause, ...]] | None:
    """Variant → the bugs of the controller that its preset has, each with how many violating runs come of it; none without any.

    A run comes of a bug if all its violations are of the names by which the bug is known to show, and its plan is valid under the
    variant with that bug alone repaired. None where no simulator ran.

    Raises:
        UnreadableTableError: A file of the tables is damaged.
    """
    manifest = Manifest.read(folder)
    if manifest is None or manifest.spec.world != "sim":
        return None
    spec = manifest.spec
    learn(spec.rules)
    found = {}
    for variant in spec.variants:
        causes = []
        explained: set[int] = set()
        for entry, repaired in _of_the_controller(variant):
            shown = (
                run.plan
                for run in list_runs(folder, Wanted(variant=variant))
                if {name for name, verdict, _ in run.anomalies if verdict == VIOLATION} <= {*entry.anomalies}
            )
            plans = list(islice(shown, MOST + 1))
            if len(plans) > MOST:
                continue
            passed = {
                plan
                for plan in plans
                if plan not in explained
                and execute(plan_of(spec, plan), repaired, spec.contract).verdict.valid == "valid"
            }
            explained |= passed
            if passed:
                causes.append(OtherCause(entry.key, entry.title, repaired, len(passed), entry.fixed))
        if causes:
            found[variant] = tuple(causes)
    return found


def _of_the_controller(name: str) -> Iterator[tuple[Entry, str]]:
    """Bugs of the controller that a variant has by its preset, and the variant without each. One that a modifier put back was
    asked for, and is what is compared.
    """
    try:
        variant, preset = parse_variant(name), parse_variant(name.partition("+")[0])
    except VariantError:
        return
    if not isinstance(variant, Variant) or not isinstance(preset, Variant):
        return
    for entry, repaired in repairs(name, variant):
        a_bug = entry.key.startswith("KAFKA-") and entry.part == _ELSEWHERE and entry.anomalies
        if a_bug and entry.is_in(preset) and repaired.startswith(f"{name}+"):
            yield entry, repaired

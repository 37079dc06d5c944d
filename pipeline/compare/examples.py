"""Choose, for each variant that violated something, the run that is simplest to explain, and run it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.harness.report.comparison import Example
from tidemark.nodes.core.variant import VariantError
from tidemark.pipeline.campaign.campaign import simulator
from tidemark.pipeline.folder.evidence import stored_runs
from tidemark.pipeline.folder.found_campaign import campaign_in
from tidemark.pipeline.folder.refusal import RefusalError
from tidemark.pipeline.folder.replay_command import replay_command
from tidemark.pipeline.runs.campaign_spec import IMPORTED

if TYPE_CHECKING:
    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.nemesis import Plan
    from tidemark.pipeline.engines.engine import Engine
    from tidemark.pipeline.runs.simulate import Simulate

EASIEST_TO_EXPLAIN = ("lost-committed-write", "log-matching", "divergence")
"""Anomalies in the order in which a picture of them is preferred; the rest follow by name."""

RELIED_ON = "a.name = 'lost-committed-write' AND get_json_object(a.evidence, '$.ack_time') IS NOT NULL"
"""Whether what was lost had been acknowledged, which is what the first sentence of a report counts."""
SIMPLEST = """
    SELECT variant, name, plan, digest, rank FROM (
        SELECT r.variant, a.name, r.plan, r.digest, {rank} AS rank, row_number() OVER (
            PARTITION BY r.variant, a.name ORDER BY {relied_on} DESC, r.faults, a.time_us, r.plan) AS place
        FROM runs r JOIN anomalies a ON r.variant = a.variant AND r.plan = a.plan
        WHERE a.verdict = 'violation' AND r.error IS NULL)
    WHERE place = 1"""


class RunChangedError(RefusalError):
    """A run that was repeated gave another history than the campaign stored; the text is one sentence."""


def choose_examples(engine: Engine, folder: Path, simulate: Simulate | None = None) -> tuple[Example, ...]:
    """One run for each variant and anomaly that was a violation, in the campaign's order of variants; of a variant first the
    anomalies of `EASIEST_TO_EXPLAIN`.

    Preferred are losses of what had been acknowledged, then few faults in the plan, then an early violation. The runs are simulated
    again, so it does not matter whether the campaign kept their histories; runs in containers are all kept. Imported histories
    have no plans: none is chosen.

    Raises:
        NothingToCompareError: The folder holds no campaign.
        RunChangedError: The code is no longer the one that ran the campaign, or a run depends on more than its plan.
    """
    as_asked, folder = folder, folder.resolve()
    manifest = campaign_in(folder)
    if manifest.spec.world == IMPORTED:
        return ()
    simulate = simulate or (simulator() if manifest.spec.world == "sim" else stored_runs(folder))
    engine.load(folder, ("runs", "anomalies"))
    cases = " ".join(f"WHEN '{name}' THEN {rank}" for rank, name in enumerate(EASIEST_TO_EXPLAIN))
    rank = f"CASE a.name {cases} ELSE {len(EASIEST_TO_EXPLAIN)} END"
    with engine.about(manifest.spec.plans * len(manifest.spec.variants)):
        rows = engine.rows(SIMPLEST.format(rank=rank, relied_on=RELIED_ON))
    order = {variant: place for place, variant in enumerate(manifest.spec.variants)}
    runs: dict[tuple[str, int], tuple[Plan, JudgedRun]] = {}
    examples = []
    for row in sorted(rows, key=lambda row: (order[row["variant"]], row["rank"], row["name"])):
        variant, number = row["variant"], row["plan"]
        if (variant, number) not in runs:
            try:
                runs[variant, number] = simulate(manifest.spec, variant, number)
            except VariantError as error:
                raise RunChangedError(
                    f"Plan {number} under {variant} cannot be run again by this version: {error}"
                ) from None
        plan, result = runs[variant, number]
        if result.digest != row["digest"]:
            raise RunChangedError(f"Plan {number} under {variant} no longer gives the run that the campaign stored.")
        command = replay_command(manifest.spec, as_asked, variant, number)
        examples.append(Example(variant, number, plan.to_json(), result.history, result.verdict, row["name"], command))
    return tuple(examples)

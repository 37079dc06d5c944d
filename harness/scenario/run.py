"""Runs a scenario under a variant and says whether what comes out is what its script claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from checkers import History, Verdict, check
from harness.run_meta import run_meta
from harness.scenario.compare import compare, cut_words, cuts
from harness.scenario.links import Answer
from harness.scenario.model import Expected, Scenario
from harness.scenario.records import compact
from harness.scenario.simulated import SimulatedStage
from harness.scenario.stage import ReplicaState, Stage, StageError
from nodes.core.variant import Variant, parse_variant

SetUp = Callable[[Scenario, Variant], Stage]
"""Makes the stage for one run."""

Tell = Callable[[str], None]
"""Is told what is being done."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a step did, and how all replicas stood after it. `did` are its commands for this variant."""

    number: int
    words: str
    did: tuple[str, ...]
    replicas: tuple[ReplicaState, ...]
    time_us: int


@dataclass(slots=True)
class ScenarioOutcome:
    """One scenario under one variant.

    Attributes:
        plays: the variant whose commands were carried out: `variant` itself, unless another was asked for.
        matched: everything the script claims for this variant came true.
        mismatches: what did not, as sentences.
        claims_broken: those of the mismatches that are about claims inside the steps.
        stopped: why a step could not be carried out, and none after it was; empty if all were.
        answers: what followers heard about where their logs must end.
        narrative: the replicas before the first step, after every step, and at rest in the end.
        summary: truncations, questions and answers, in the scripts' words.
        digest: of the history and of every event's time; two runs give the same.
    """

    scenario: Scenario
    variant: str
    matched: bool
    mismatches: list[str]
    verdict: Verdict
    history: History
    narrative: list[Scene]
    expected: Expected | None
    summary: dict[str, Any] = field(default_factory=dict)
    digest: str = ""
    plays: str = ""
    claims_broken: tuple[str, ...] = ()
    stopped: str = ""
    answers: tuple[Answer, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, always with the same order of keys; the history is not in it."""
        name = self.scenario.broker_name
        return {
            "scenario": self.scenario.name,
            "title": self.scenario.title,
            "source": self.scenario.source,
            "variant": self.variant,
            "matched": self.matched,
            "mismatches": list(self.mismatches),
            "summary": self.summary,
            "digest": self.digest,
            "narrative": [
                {
                    "step": scene.number,
                    "words": scene.words,
                    "did": list(scene.did),
                    "time_us": scene.time_us,
                    "replicas": {name(state.broker): _state_json(state) for state in scene.replicas},
                }
                for scene in self.narrative
            ],
            "verdict": self.verdict.to_json(),
        }


def _state_json(state: ReplicaState) -> dict[str, Any]:
    return {
        "role": state.role,
        "paused": state.paused,
        "leader_epoch": state.epoch,
        "log": compact(state.log),
        "leo": state.leo,
        "hw": state.hw,
        "epochs": [list(entry) for entry in state.cache],
    }


def variants_of(scenario: Scenario) -> tuple[str, ...]:
    """The variants for which the script claims an outcome, in its order."""
    return tuple(scenario.outcomes)


def run_scenario(
    scenario: Scenario,
    variant_name: str,
    set_up: SetUp = SimulatedStage,
    tell: Tell | None = None,
    *,
    plays: str | None = None,
) -> ScenarioOutcome:
    """Act a scenario out, in the simulator unless another stage is set up.

    A variant the script does not speak about may be tried too; the outcome then has ``expected`` `None` and can only be
    mismatched by the claims inside the steps, or by a step that cannot be carried out.

    A binary of Kafka may need a model that is no preset, while scripts speak to presets: then `plays` is the preset it stands
    for, and says which of the lines that begin with ``[VARIANTS]`` are carried out. The outcome is always that of the variant.

    Args:
        scenario: the script.
        variant_name: the protocol.
        set_up: makes the stage.
        tell: is told every command before it is carried out.
        plays: the variant whose commands are carried out, if not those of `variant_name`.

    Raises:
        VariantError: there is no such variant.
        CannotStageError: this stage cannot act the scenario out.
    """
    variant = parse_variant(variant_name)
    part = variant.name if plays is None else parse_variant(plays).name
    stage = set_up(scenario, variant)
    try:
        return _act(stage, part, tell or _silent)
    finally:
        stage.dispose()


def _act(stage: Stage, plays: str, tell: Tell) -> ScenarioOutcome:
    scenario = stage.scenario
    stage.prepare()
    narrative = [_scene(stage, 0, "Before the first step.", ())]
    stopped = _perform(stage, plays, narrative, tell)
    claims_broken = tuple(stage.mismatches)
    tell("coming to rest")
    healed = stage.finish()
    narrative.append(_scene(stage, len(scenario.steps) + 1, "Everything is healed, and the cluster comes to rest.", ()))
    history = _history(stage, healed)
    verdict = check(history)
    expected = scenario.outcomes.get(stage.variant.name)
    mismatches = stage.mismatches
    if stopped:
        mismatches.append(stopped)
        mismatches.append("the steps after that were not carried out, and the outcome was not compared")
    elif expected is not None:
        mismatches += compare(stage, expected, verdict)
    return ScenarioOutcome(
        scenario,
        stage.variant.name,
        not mismatches,
        mismatches,
        verdict,
        history,
        narrative,
        expected,
        _summary(stage),
        stage.digest(),
        plays,
        claims_broken,
        stopped,
        tuple(stage.answers),
    )


def _silent(words: str) -> None:
    """Nobody wants to know."""


def _perform(stage: Stage, plays: str, narrative: list[Scene], tell: Tell) -> str:
    """Carry the steps out; says why one could not be, if so."""
    try:
        tell("starting")
        stage.boot()
        for step in stage.scenario.steps:
            did = []
            for command in step.commands:
                if command.variants is None or plays in command.variants:
                    stage.line = command.line
                    tell(f"step {step.number} of {len(stage.scenario.steps)}: {command.text}")
                    command.perform(stage)
                    did.append(command.text)
            narrative.append(_scene(stage, step.number, step.words, tuple(did)))
    except StageError as error:
        return f"line {stage.line}: {error}"
    return ""


def _scene(stage: Stage, number: int, words: str, did: tuple[str, ...]) -> Scene:
    return Scene(number, words, did, stage.states(), stage.now_us)


def _history(stage: Stage, healed: int) -> History:
    meta = {
        **run_meta(stage.scenario.cluster, stage.variant),
        "faults_end_us": healed,
        "end_us": stage.now_us,
        "plan": 0,
        "seed": 0,
        "scenario": stage.scenario.name,
    }
    return History(meta=meta, ops=stage.ops, nemesis=stage.nemesis, trace=stage.trace)


def _summary(stage: Stage) -> dict[str, Any]:
    questions: dict[str, list[str]] = {}
    for answer in stage.answers:
        questions.setdefault(stage.name(answer.follower), []).append(str(answer))
    return {
        "truncations": cut_words(stage, cuts(stage)),
        "questions": questions,
        **stage.measures(),
    }

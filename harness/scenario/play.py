"""Runs a scenario under a variant and says whether what comes out is what its script claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.checkers import History, Verdict, check
from tidemark.harness.evidence.replica_evidence import doubts_in_meta
from tidemark.harness.runs.meta import run_meta
from tidemark.harness.scenario.compare import compare, cut_words, cuts
from tidemark.harness.scenario.kept_run import store_run
from tidemark.harness.scenario.links import LeaderAnswer
from tidemark.harness.scenario.model import Expected, Scenario
from tidemark.harness.scenario.records import compact
from tidemark.harness.scenario.simulated import SimulatedTarget
from tidemark.harness.scenario.snapshots import ReplicaSnapshot
from tidemark.harness.scenario.target import ScriptError, ScriptTarget
from tidemark.nodes.families import AnyVariant, parse_variant

SetUp = Callable[[Scenario, AnyVariant], ScriptTarget]
"""Makes the target for one run."""

Tell = Callable[[str], None]
"""Is told what is being done."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a step did, and how all replicas stood after it. `did` are its commands for this variant."""

    number: int
    words: str
    did: tuple[str, ...]
    replicas: tuple[ReplicaSnapshot, ...]
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
        folder: where the run is kept, if it is.
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
    answers: tuple[LeaderAnswer, ...] = ()
    folder: Path | None = None

    def store(self, folder: Path) -> None:
        """Keep it.

        Raises:
            OSError: it cannot be written.
        """
        store_run(folder, self.scenario.text, self.history, self.verdict, self.digest, self.to_json())

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
            **({} if self.folder is None else {"folder": str(self.folder)}),
        }


def _state_json(state: ReplicaSnapshot) -> dict[str, Any]:
    return {
        "role": state.role,
        "paused": state.paused,
        "leader_epoch": state.epoch,
        "log": compact(state.log),
        "log_start": state.start,
        "leo": state.leo,
        "hw": state.hw,
        "epochs": [list(entry) for entry in state.cache],
    }


def variants_of(scenario: Scenario) -> tuple[str, ...]:
    """The variants for which the script claims an outcome, in its order."""
    return tuple(scenario.outcomes)


def run_scenario(
    scenario: Scenario,
    under: str | AnyVariant,
    set_up: SetUp = SimulatedTarget,
    tell: Tell | None = None,
    *,
    plays: str | None = None,
) -> ScenarioOutcome:
    """Act a scenario out, in the simulator unless another target is set up.

    A variant the script does not speak about may be tried too; the outcome then has ``expected`` `None` and can only be
    mismatched by the claims inside the steps, or by a step that cannot be carried out.

    A binary of Kafka may need a model that is no preset, while scripts speak to presets: then `plays` is the preset it stands
    for, and says which of the lines that begin with ``[VARIANTS]`` are carried out. The outcome is always that of the variant.

    Args:
        scenario: the script.
        under: the protocol; that of a system seen from outside has no name that could be parsed.
        set_up: makes the target.
        tell: is told every command before it is carried out.
        plays: the variant whose commands are carried out, if not those of `under`.

    Raises:
        VariantError: there is no such variant.
        CannotPlayError: this target cannot act the scenario out.
    """
    variant = parse_variant(under) if isinstance(under, str) else under
    part = variant.name if plays is None else parse_variant(plays).name
    target = set_up(scenario, variant)
    try:
        outcome = _act(target, part, tell or _silent)
        if target.folder is not None:
            outcome.store(target.folder)
        return outcome
    finally:
        target.dispose()


def _act(target: ScriptTarget, plays: str, tell: Tell) -> ScenarioOutcome:
    scenario = target.scenario
    target.prepare()
    narrative = [_scene(target, 0, "Before the first step.", ())]
    stopped = _perform(target, plays, narrative, tell)
    claims_broken = tuple(target.mismatches)
    tell("coming to rest")
    healed = target.finish()
    narrative.append(
        _scene(target, len(scenario.steps) + 1, "Everything is healed, and the cluster comes to rest.", ())
    )
    history = _history(target, healed)
    verdict = check(history)
    expected = scenario.outcomes.get(target.variant.name)
    mismatches = target.mismatches
    if stopped:
        mismatches.append(stopped)
        mismatches.append("the steps after that were not carried out, and the outcome was not compared")
    elif expected is not None:
        mismatches += compare(target, expected, verdict)
    return ScenarioOutcome(
        scenario,
        target.variant.name,
        not mismatches,
        mismatches,
        verdict,
        history,
        narrative,
        expected,
        _summary(target),
        target.digest(),
        plays,
        claims_broken,
        stopped,
        tuple(target.answers),
        target.folder,
    )


def _silent(words: str) -> None:
    """Nobody wants to know."""


def _perform(target: ScriptTarget, plays: str, narrative: list[Scene], tell: Tell) -> str:
    """Carry the steps out; says why one could not be, if so."""
    try:
        tell("starting")
        target.boot()
        for step in target.scenario.steps:
            did = []
            for command in step.commands:
                if command.variants is None or plays in command.variants:
                    target.line = command.line
                    tell(f"step {step.number} of {len(target.scenario.steps)}: {command.text}")
                    command.perform(target)
                    did.append(command.text)
            narrative.append(_scene(target, step.number, step.words, tuple(did)))
    except ScriptError as error:
        return f"line {target.line}: {error}"
    return ""


def _scene(target: ScriptTarget, number: int, words: str, did: tuple[str, ...]) -> Scene:
    return Scene(number, words, did, target.states(), target.now_us)


def _history(target: ScriptTarget, healed: int) -> History:
    meta = {
        **run_meta(target.scenario.cluster, target.variant),
        **target.described(),
        "faults_end_us": healed,
        "end_us": target.now_us,
        "plan": 0,
        "seed": 0,
        "scenario": target.scenario.name,
        "read_back": target.read_back,
    }
    if target.world != ScriptTarget.world:
        meta["world"] = target.world
    meta |= doubts_in_meta(target.not_understood, target.doubted)
    if target.died:
        meta["died"] = target.died
    return History(meta=meta, ops=target.ops, nemesis=target.nemesis, trace=target.trace)


def _summary(target: ScriptTarget) -> dict[str, Any]:
    questions: dict[str, list[str]] = {}
    for answer in target.answers:
        questions.setdefault(target.name(answer.follower), []).append(str(answer))
    return {
        "truncations": cut_words(target, cuts(target)),
        "questions": questions,
        **target.measures(),
    }

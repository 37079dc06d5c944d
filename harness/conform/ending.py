"""How a run ended, in a form that can be held against another world's: short texts, by what they are about.

Values are told by record name and leader epochs in the reference's numbers, so equal texts mean equal endings. Times are left
out, and so is the order of what two different replicas did.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from tidemark.checkers import History
from tidemark.checkers.history.trace_events import Truncate
from tidemark.checkers.verdict.verdict import BY_PROMISES
from tidemark.harness.conform.epochs import Reign, Renumbering, merged, reigns, renumber
from tidemark.harness.conform.final_epochs import replicas_in_own_epochs
from tidemark.harness.scenario.compare import describe
from tidemark.harness.scenario.expectations import epochs
from tidemark.harness.scenario.links import LeaderAnswer
from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.play import ScenarioOutcome
from tidemark.harness.scenario.records import compact
from tidemark.harness.scenario.snapshots import ReplicaSnapshot

_EPOCHS = re.compile(r"\b\d+(?=:[A-Za-z]|@\d)")
"""Of ``0:m1`` and ``0@1`` the 0."""
_RUN = re.compile(r":([A-Za-z]+)(\d+)\.\.[A-Za-z]+(\d+)")
"""``:m1..m3``."""
PLAYED = "played"
"""The aspect that says whether all steps could be carried out; where they could not, nothing else is compared."""
TO_THE_END = "to the end"


@dataclass(frozen=True, slots=True)
class Ending:
    """One run's ending.

    Attributes:
        values: aspect, such as ``log of A``, → text. What is missing here and there elsewhere is ``–`` here.
        elections: who led, in order, as far as the controller says; told, not compared.
        spent: leader epochs that the reference does not have.
        epochs: the world's leader epochs → how they are called in `values`.
    """

    values: dict[str, str]
    elections: str
    spent: tuple[str, ...] = ()
    epochs: dict[int, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "values": self.values,
            "elections": self.elections,
            "spent_epochs": list(self.spent),
            "epochs": {str(epoch): name for epoch, name in self.epochs.items()},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Ending:
        """What `to_json` gave.

        Raises:
            KeyError, TypeError, ValueError: it is not that.
        """
        epochs = {int(epoch): str(name) for epoch, name in data["epochs"].items()}
        return cls(dict(data["values"]), str(data["elections"]), tuple(data["spent_epochs"]), epochs)


def ending(outcome: ScenarioOutcome, reference: list[Reign] | None = None) -> Ending:
    """How a run ended.

    Args:
        outcome: of the run.
        reference: the leader epochs in whose numbers it is told; the run's own unless others are given.
    """
    own = reigns(outcome.history.trace)
    numbers = renumber(own if reference is None else reference, own)
    scenario = outcome.scenario
    values = {PLAYED: outcome.stopped or TO_THE_END}
    values |= {f"claim in {line}": f"broken: {said}" for line, said in _claims(outcome)}
    for state in replicas_in_own_epochs(outcome):
        values |= _replica(scenario, state, numbers, epoch_cache=bool(outcome.history.meta["epoch_cache"]))
    values |= _truncations(scenario, outcome.history)
    values |= _questions(scenario, outcome.answers, numbers)
    values |= _clients(scenario, outcome.history)
    values["verdict"] = outcome.verdict.valid
    values |= _anomalies(outcome)
    names = {epoch: numbers.told(str(code)) for epoch, code in numbers.codes.items()}
    return Ending(
        {what: numbers.told(text) for what, text in values.items()},
        _elections(scenario, own, names),
        numbers.spent,
        names,
    )


def _claims(outcome: ScenarioOutcome) -> list[tuple[str, str]]:
    """Claims inside the steps that did not hold, by line; not those that only count leader epochs otherwise than the script."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for words in outcome.claims_broken:
        line, _, said = words.partition(": ")
        if not _only_epochs(said):
            found[line].append(said)
    return [(line, "; ".join(said)) for line, said in found.items()]


def _spelt_out(run: re.Match[str]) -> str:
    """``:m1 :m2 :m3``: where runs end depends on leader epochs."""
    return " ".join(f":{run[1]}{number}" for number in range(int(run[2]), int(run[3]) + 1))


def _only_epochs(said: str) -> bool:
    plain = _RUN.sub(_spelt_out, _EPOCHS.sub("", said))
    should, but, is_ = plain.partition(", but ")
    return (bool(but) and should.rpartition(" be ")[2] == is_.partition(" ")[2]) or " should know leader epoch " in said


def _replica(scenario: Scenario, state: ReplicaSnapshot, numbers: Renumbering, *, epoch_cache: bool) -> dict[str, str]:
    name = scenario.broker_name(state.broker)
    log = compact([(numbers.code(epoch), record) for epoch, record in state.log])
    log = f"from {state.start}: {log}" if state.start else log
    cache = merged((numbers.code(epoch), start) for epoch, start in state.cache) if epoch_cache else ()
    return {
        f"role of {name}": state.role,
        f"leader epoch of {name}": "none" if state.epoch < 0 else str(numbers.code(state.epoch)),
        f"log of {name}": log if state.leo == state.start + len(state.log) else f"{log}, LEO {state.leo}",
        f"HW of {name}": str(state.hw),
        f"epochs of {name}": epochs(cache),
    }


def _truncations(scenario: Scenario, history: History) -> dict[str, str]:
    cuts: dict[int, list[str]] = {broker: [] for broker in scenario.cluster.broker_ids()}
    for cut in Truncate.among(history.trace):
        cuts[cut.node].append(f"from {cut.old_leo} to {cut.to}")
    return {f"truncations of {scenario.broker_name(b)}": ", ".join(told) or "none" for b, told in cuts.items()}


def _questions(scenario: Scenario, answers: tuple[LeaderAnswer, ...], numbers: Renumbering) -> dict[str, str]:
    """A question that is repeated and answered the same is told once: how often a follower tries is a matter of time."""
    asked: dict[int, list[str]] = {broker: [] for broker in scenario.cluster.broker_ids()}
    for one in answers:
        told = str(one._replace(asked=numbers.code(one.asked), epoch=numbers.code(one.epoch)))
        if asked[one.follower][-1:] != [told]:
            asked[one.follower].append(told)
    return {f"questions of {scenario.broker_name(b)}": "; ".join(words) or "none" for b, words in asked.items()}


def _clients(scenario: Scenario, history: History) -> dict[str, str]:
    """What producers were told of each batch, and what consumers read, in order."""
    name = scenario.records.name
    told: dict[str, str] = {}
    reads = []
    last = ""
    for op in history.ops:
        if op.f == "send" and op.process != "given":
            words = {"ok": "acked", "invoke": "unanswered"}.get(op.type, op.error or "unknown")
            told[ranges([name(_value(one)) for one in op.value])] = words
        elif op.f == "poll" and op.type in {"ok", "fail"}:
            words = _read(scenario, op.value) if op.type == "ok" else str(op.error)
            if op.final:
                # Reading back is tried until it succeeds; how often is a matter of time.
                last = words
            else:
                reads.append(words)
    everything = [*reads, *([f"in the end {last}"] if last else [])]
    return {**{f"send of {batch}": words for batch, words in told.items()}, "reads": "; ".join(everything) or "none"}


def _value(sent: tuple[Any, ...]) -> int:
    what = sent[2]
    return int(what[1] if isinstance(what, tuple) else what)


def _read(scenario: Scenario, polls: tuple[Any, ...]) -> str:
    values = [value for _, answers in polls for records in answers.values() for _, value in records]
    return ranges(list(map(scenario.records.name, values))) or "nothing"


def ranges(names: list[str]) -> str:
    """Record names, neighbours as ``m1..m4``."""
    return " ".join(word.partition(":")[2] for word in compact([(0, name) for name in names]).split()) if names else ""


def _anomalies(outcome: ScenarioOutcome) -> dict[str, str]:
    found = Counter(
        f"{one.verdict} {one.name} {describe(outcome.scenario, one)}".rstrip()
        + (f" breaks {', '.join(one.breaks)}" if one.breaks else "")
        for one in outcome.verdict.anomalies
        if one.verdict in BY_PROMISES
    )
    return {
        f"anomaly: {words}": "found" if times == 1 else f"found {times} times" for words, times in sorted(found.items())
    }


def _elections(scenario: Scenario, own: list[Reign], names: dict[int, str]) -> str:
    told = [
        f"{names[reign.epoch]}:{scenario.broker_name(reign.leader)}" for reign in own if reign.leader or reign.values
    ]
    return " ".join(dict.fromkeys(told)) or "none"

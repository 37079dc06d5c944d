"""Does a run give what its script claims? Every difference is a sentence; none means that it does."""

from __future__ import annotations

from dataclasses import replace

from tidemark.checkers import Anomaly, Verdict
from tidemark.checkers.history.trace_events import Truncate
from tidemark.checkers.verdict.verdict import BY_PROMISES
from tidemark.harness.scenario.expectations import differences
from tidemark.harness.scenario.model import Expected, ExpectedAnomaly, Scenario
from tidemark.harness.scenario.target import ScriptTarget


def describe(scenario: Scenario, anomaly: Anomaly) -> str:
    """The detail of an anomaly in a script's words, such as ``m2``, or ``B has b11 where A has a11``; often empty."""
    evidence, name, broker = anomaly.evidence, scenario.records.name, scenario.broker_name
    if "value" in evidence:
        return name(evidence["value"])
    if "follower_record" in evidence:
        leader, follower = broker(evidence["leader"]), broker(evidence["follower"])
        return f"{follower} has {name(evidence['follower_record'][1])} where {leader} has {name(evidence['leader_record'][1])}"
    if anomaly.name == "leader-completeness":
        first, last = evidence["first_offset"], evidence["last_offset"]
        return f"{broker(evidence['leader'])} misses {first}" + ("" if first == last else f"..{last}")
    if anomaly.name == "hw-regression":
        return f"from {evidence['from']} to {evidence['to']}"
    if anomaly.name == "inconsistent-offsets":
        return f"at {evidence['offset']}"
    if "node" in evidence:
        return broker(evidence["node"])
    return ""


def compare(target: ScriptTarget, expected: Expected, verdict: Verdict) -> list[str]:
    """What differs from the expected outcome, each with the script's line where there is one."""
    wrong = []
    if verdict.valid != expected.verdict:
        wrong.append(f"line {expected.line}: the run should be {expected.verdict}, but is {verdict.valid}")
    wrong += _compare_anomalies(target.scenario, expected, verdict)
    wrong += _compare_cuts(target, expected)
    for broker, asked in expected.questions.items():
        answers = tuple(str(answer) for answer in target.answers if answer.follower == broker)
        if answers != asked:
            wrong.append(
                f"line {expected.line}: {target.name(broker)} should have asked {'; '.join(asked) or 'nothing'}, "
                f"but asked {'; '.join(answers) or 'nothing'}"
            )
    for said in expected.replicas.values():
        text = replace(said, start=said.start or 0)  # a log of which nothing is said begins at 0
        found = differences(
            text, target.state(text.broker), target.name(text.broker), epoch_cache=target.variant.has_epoch_cache
        )
        wrong += [f"line {text.line}: in the end {words}" for words in found]
    return wrong


def _compare_anomalies(scenario: Scenario, expected: Expected, verdict: Verdict) -> list[str]:
    left = list(verdict.anomalies)
    wrong = []
    for wanted in sorted(expected.anomalies, key=lambda one: one.what is None):
        found = next((anomaly for anomaly in left if _is(scenario, wanted, anomaly)), None)
        if found is not None:
            left.remove(found)
            continue
        what = f" {wanted.what}" if wanted.what else ""
        breaks = f" (breaking {', '.join(wanted.breaks)})" if wanted.breaks else ""
        wrong.append(
            f"line {wanted.line}: there should be a {wanted.verdict} {wanted.name}{what}{breaks}, but there is none"
        )
    for anomaly in (one for one in left if one.verdict in BY_PROMISES):
        breaks = f", breaks {', '.join(anomaly.breaks)}" if anomaly.breaks else ""
        wrong.append(
            f"line {expected.line}: nobody expected the {anomaly.verdict} {anomaly.name} {describe(scenario, anomaly)}{breaks}: "
            f"{anomaly.message}"
        )
    return wrong


def _is(scenario: Scenario, wanted: ExpectedAnomaly, anomaly: Anomaly) -> bool:
    return (
        (wanted.verdict, wanted.name) == (anomaly.verdict, anomaly.name)
        and wanted.what in (None, describe(scenario, anomaly))
        and (wanted.breaks is None or set(wanted.breaks) == set(anomaly.breaks))
    )


def cuts(target: ScriptTarget) -> tuple[tuple[int, int, int], ...]:
    """All truncations of a run in order, as (broker, old LEO, new LEO)."""
    return tuple((cut.node, cut.old_leo, cut.to) for cut in Truncate.among(target.trace))


def _compare_cuts(target: ScriptTarget, expected: Expected) -> list[str]:
    actual = cuts(target)
    if actual == expected.truncations:
        return []
    should, does = cut_words(target, expected.truncations or ()), cut_words(target, actual)
    return [f"line {expected.line}: the truncations should be {should}, but are {does}"]


def cut_words(target: ScriptTarget, truncations: tuple[tuple[int, int, int], ...]) -> str:
    """Truncations in the notation of the scripts."""
    return ", ".join(f"{target.name(broker)} from {old} to {new}" for broker, old, new in truncations) or "none"

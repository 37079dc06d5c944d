"""Two worlds side by side: what counts as a difference, and what does not."""

import json
from dataclasses import replace

import pytest

from tidemark.harness.conform.differing_endings import stale
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.scenario.simulated import SimulatedTarget
from tidemark.harness.scenario.target import CannotPlayError, ScriptError

KNOWN = KnownDifference("B is shy", "KAFKA-0", "two", "kafka:9.*", "HW of *", "3", "2")


def told(comparison):
    return [(one.aspect, one.model, one.seen) for one in comparison.differences]


def in_turn(*kinds):
    """Another kind of target every time."""
    left = iter(kinds)

    def target(scenario, variant):
        kind = next(left)
        if isinstance(kind, Exception):
            raise kind
        return kind(scenario, variant)

    return target


def test_a_world_is_as_itself(compare):
    comparison = compare(SimulatedTarget)

    assert (told(comparison), comparison.standing) == ([], "equal")


def test_an_ending_says_it_all(compare):
    ((model,), _) = compare(SimulatedTarget).endings.values()

    assert model.values == {
        "played": "to the end",
        "role of A": "follower",
        "leader epoch of A": "1",
        "log of A": "0:m1 0:new 1:m2",
        "HW of A": "3",
        "epochs of A": "0@0 1@2",
        "role of B": "leader",
        "leader epoch of B": "1",
        "log of B": "0:m1 0:new 1:m2",
        "HW of B": "3",
        "epochs of B": "0@0 1@2",
        "truncations of A": "none",
        "truncations of B": "none",
        "questions of A": "none",
        "questions of B": "none",
        "send of m1": "acked",
        "send of new": "acked",
        "send of m2": "acked",
        "reads": "in the end m1 new m2",
        "verdict": "valid",
    }
    assert model.elections == "0:A 1:B"


class LaterStart(SimulatedTarget):
    """Says that B's log starts at 1."""

    def state(self, broker):
        seen = super().state(broker)
        return seen._replace(start=1, log=seen.log[1:]) if broker == 2 and seen.leo == 3 else seen


def test_where_a_log_starts_is_told_with_it(compare):
    assert told(compare(LaterStart)) == [("log of B", "0:m1 0:new 1:m2", "from 1: 0:new 1:m2")]


def test_the_number_of_an_epoch_is_no_difference(compare, late_epochs):
    comparison = compare(late_epochs)

    assert told(comparison) == []
    assert comparison.endings["kafka"][0].epochs == {7: "0", 8: "1"}


def test_replicas_have_the_epochs_of_the_trace(compare, told_in_the_scripts_numbers):
    comparison = compare(told_in_the_scripts_numbers)

    assert told(comparison) == []
    assert comparison.endings["kafka"][0].values["log of B"] == "0:m1 0:new 1:m2"


def test_a_difference_is_named_and_unexplained(compare, low_high_watermark):
    comparison = compare(low_high_watermark)

    assert ("HW of B", "3", "2") in told(comparison)
    assert comparison.standing == "unexplained"


def test_a_broken_claim_is_a_difference(compare, low_high_watermark):
    comparison = compare(low_high_watermark)

    assert ("claim in line 18", "–", "broken: the HW of B should be 3, but is 2") in told(comparison)


def test_a_finding_explains_it(compare, low_high_watermark):
    claim = replace(KNOWN, aspect="claim in line 18", model="*", seen="*")
    comparison = compare(low_high_watermark, findings=[KNOWN, claim])

    assert [one.finding for one in comparison.differences] == [KNOWN, claim]
    assert (comparison.unexplained, comparison.standing) == ((), "known")


@pytest.mark.parametrize(
    "other",
    [{"scenario": "three"}, {"system": "kafka:8.*"}, {"aspect": "HW of A"}, {"model": "4"}, {"seen": "1"}],
    ids=str,
)
def test_a_finding_explains_nothing_else(compare, low_high_watermark, other):
    comparison = compare(low_high_watermark, findings=[replace(KNOWN, **other)])

    assert all(one.finding is None for one in comparison.differences)


def test_a_finding_that_does_not_show_is_stale(compare, low_high_watermark):
    elsewhere, sometimes = replace(KNOWN, scenario="three"), replace(KNOWN, always=False)
    findings = [KNOWN, elsewhere, sometimes]

    assert stale(findings, [compare(SimulatedTarget, findings=findings)]) == [KNOWN]
    assert stale([KNOWN], [compare(low_high_watermark, findings=[KNOWN])]) == []


def test_tries_are_counted(compare, low_high_watermark):
    comparison = compare(in_turn(SimulatedTarget, low_high_watermark, low_high_watermark), times=3)

    assert {(one.tries, one.times) for one in comparison.differences} == {(2, 3)}


def test_a_difference_is_shown_although_the_first_try_had_none(compare, low_high_watermark):
    comparison = compare(in_turn(SimulatedTarget, low_high_watermark), times=2)

    assert "HW of B" in [one.aspect for one in comparison.differences]


def test_what_cannot_be_staged_says_why(compare):
    def cannot(scenario, variant):
        raise CannotPlayError("there are no given logs in Kafka")

    comparison = compare(cannot, times=3)

    assert comparison.played[1].cannot == "there are no given logs in Kafka"
    assert (told(comparison), comparison.standing) == ([], "alone")


def test_a_run_that_could_not_be_carried_out_is_begun_anew_once(compare):
    said = []
    comparison = compare(in_turn(NodeError("b1 does not answer"), SimulatedTarget), tell=said.append)

    assert comparison.standing == "equal"
    assert "kafka: begins anew, because b1 does not answer" in said


def test_a_run_that_cannot_be_carried_out_is_a_failure(compare):
    def target(*arguments):
        raise NodeError("b1 does not answer")

    comparison = compare(target)

    assert comparison.standing == "failed"
    assert comparison.failures == ["two under kafka-2.7 as kafka:9.9.9@9.9 in kafka: b1 does not answer"]


def test_where_a_script_stops_nothing_else_is_compared(compare):
    class Stops(SimulatedTarget):
        def elect(self, how, broker):
            raise ScriptError("nobody votes")

    comparison = compare(Stops)

    assert told(comparison) == [("played", "to the end", "line 14: nobody votes")]


def test_where_the_model_stops_nobody_else_plays(compare, pairing, monkeypatch):
    def refuse(*arguments):
        raise ScriptError("nobody votes")

    monkeypatch.setattr(SimulatedTarget, "elect", refuse)
    comparison = compare(None)

    assert [one.world for one in comparison.played] == ["sim"]
    assert (comparison.standing, comparison.stopped) == ("stopped", "line 14: nobody votes")


def test_a_model_that_is_no_preset_plays_the_preset_s_part(compare, pairing):
    comparison = compare(SimulatedTarget, of=replace(pairing, preset="kafka-0.10", model="kafka-2.0+truncation=hw"))
    model, real = (endings[0].values for endings in comparison.endings.values())

    assert model["log of A"] == real["log of A"] == "0:m1 0:old 1:m2"
    assert [one.outcomes[0].variant for one in comparison.played] == ["kafka-2.0+truncation=hw", "kafka-0.10"]


def test_everything_is_in_the_json(compare, low_high_watermark):
    data = json.loads(json.dumps(compare(low_high_watermark, findings=[KNOWN]).to_json()))
    by_aspect = {one["aspect"]: one for one in data["differences"]}

    assert (data["scenario"], data["preset"], data["standing"]) == ("two", "kafka-2.7", "unexplained")
    assert by_aspect["HW of B"]["known"] == {"why": "B is shy", "source": "KAFKA-0"}
    assert by_aspect["claim in line 18"]["known"] is None
    assert [world["world"] for world in data["worlds"]] == ["sim", "kafka"]
    assert data["worlds"][1]["tries"][0]["values"]["HW of B"] == "2"

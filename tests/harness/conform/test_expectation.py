"""What real brokers make of a script is held against what their model makes of it, and not against the script's own claims."""

from dataclasses import replace

import pytest

from tidemark.harness.conform import expectation
from tidemark.harness.scenario import find, run_scenario
from tidemark.harness.scenario.parser import parse_scenario
from tidemark.harness.systems.kafka.kafka_versions import KafkaVersion, model_variant
from tidemark.harness.systems.kafka.system import KafkaSystem

NAME = "kip-279-scenario-1-n-20"
BINARY, PRESET, PROTOCOL = "2.8.2", "kafka-0.11", "0.11.0"


def played(protocol, plays=PRESET):
    """Seems to be what brokers under a protocol made of the script, when they were asked to stand for a preset."""
    model = model_variant(BINARY, protocol)
    return replace(run_scenario(find(NAME), model.name, plays=plays), variant=plays)


def judged(outcome, protocol=None):
    return expectation.judged(outcome, KafkaSystem(KafkaVersion(BINARY, protocol), {}))


def test_what_the_model_does_is_what_is_expected():
    outcome = judged(played(PROTOCOL))

    assert (outcome.matched, outcome.mismatches) == (True, [])
    assert outcome.verdict.valid == "invalid"


def test_a_claim_of_the_script_that_the_model_breaks_too_is_no_mismatch():
    outcome = judged(replace(played(PROTOCOL), matched=False, mismatches=["the script says otherwise"]))

    assert (outcome.matched, outcome.mismatches) == (True, [])


def test_a_script_that_no_model_can_play_is_held_against_its_own_claims():
    text = find(NAME).text.replace("\noutcome", "\n   > move the log of A\n\noutcome", 1)
    scenario = parse_scenario(text)
    claims = replace(played("2.0"), scenario=scenario, matched=False, mismatches=["the script says otherwise"])

    assert scenario.moves_logs
    assert judged(claims) is claims


def test_brokers_that_do_something_else_are_told_with_what_the_model_does():
    outcome = judged(played("2.0"))

    assert not outcome.matched
    assert "verdict: the model has invalid, kafka:2.8.2@0.11.0 valid" in outcome.mismatches


@pytest.mark.parametrize("protocol", ["0.11.0", "1.1"])
def test_a_protocol_that_was_asked_for_has_its_own_model(protocol):
    assert judged(played(protocol), protocol).matched
    mismatches = judged(played("2.0"), protocol).mismatches
    assert [words for words in mismatches if f", kafka:2.8.2@{protocol} " not in words] == []
    assert mismatches

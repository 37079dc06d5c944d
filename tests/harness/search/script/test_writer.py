"""Plans become scripts: they can be read, show the same anomaly for the same cause, and say themselves what comes out."""

import pytest

from tests.harness.search.script.conftest import known, written
from tidemark.harness.scenario import parse_scenario, run_scenario
from tidemark.harness.scenario.simulated.slow_hand import SlowHand
from tidemark.harness.search.script import NoScriptError, write_script
from tidemark.harness.search.script.text import WIDTH
from tidemark.harness.search.script.trying import HARD_WORLDS
from tidemark.harness.search.shrink import causes_of

BUGS = ("missed-reign", "kip-101-loss", "kip-279-divergence", "restart-and-disk")
SOME = [
    BUGS[0],
    *(pytest.param(name, marks=pytest.mark.systems) for name in BUGS[1:]),
]


@pytest.mark.parametrize("name", SOME)
def test_a_script_shows_the_same_for_the_same_cause(name):
    one, script = known(name), written(name)

    played = run_scenario(parse_scenario(script.text), one.variant)

    causes = [cause for a in played.verdict.anomalies for cause in causes_of(a, played.verdict, played.history)]
    assert one.cause in causes


@pytest.mark.parametrize("name", SOME)
def test_what_a_script_says_comes_out(name):
    one, script = known(name), written(name)

    played = run_scenario(parse_scenario(script.text), one.variant)

    assert played.mismatches == []
    assert played.expected is not None
    assert played.expected.verdict == "invalid"


@pytest.mark.parametrize("name", SOME)
def test_a_script_does_not_need_exact_moments(name):
    script = written(name)
    assert script.sturdy == script.of == len(HARD_WORLDS)

    played = run_scenario(parse_scenario(script.text), known(name).variant, SlowHand)

    assert played.stopped == ""
    assert known(name).cause.name in [anomaly.name for anomaly in played.verdict.anomalies]


@pytest.mark.parametrize(
    ("name", "repaired"),
    [
        ("missed-reign", "kafka-4.0+forget-log-ends"),
        pytest.param("kip-101-loss", "kafka-0.11", marks=pytest.mark.systems),
        pytest.param("kip-279-divergence", "kafka-2.1", marks=pytest.mark.systems),
    ],
)
def test_under_the_repair_it_does_not_happen(name, repaired):
    played = run_scenario(parse_scenario(written(name).text), repaired)

    assert known(name).cause.name not in [a.name for a in played.verdict.anomalies if a.verdict == "violation"]


def test_the_missed_reign_waits_for_conditions_and_for_no_time():
    commands = [c.text for step in parse_scenario(written("missed-reign").text).steps for c in step.commands]

    assert not [command for command in commands if command.startswith("run ")]
    assert "until m1 is acked" in commands
    assert "until B leads epoch 3" in commands
    assert len(commands) <= 25


def test_a_script_is_for_reading():
    text = written("missed-reign").text

    assert max(map(len, text.splitlines())) <= WIDTH + 4
    scenario = parse_scenario(text)
    assert scenario.about.startswith("Found by search on the model of kafka-4.0")
    assert "elected from the ISR" in scenario.about
    assert all(step.words for step in scenario.steps)
    assert scenario.brokers == ("A", "B", "C")


def test_the_same_plan_gives_the_same_bytes():
    one = known("missed-reign")

    again = write_script(one.plan, one.variant, one.cause, name="missed-reign")

    assert again == written("missed-reign")._replace(played=again.played)


def test_where_there_is_no_script_one_sentence_says_so():
    one = known("no-script")

    with pytest.raises(NoScriptError, match=r"none of \d+ scripts shows it again"):
        write_script(one.plan, one.variant, one.cause)


def test_a_plan_that_does_not_show_it_has_no_script():
    one = known("kip-101-loss")

    with pytest.raises(NoScriptError, match="the plan does not show it"):
        write_script(one.plan, "kafka-2.7", one.cause)

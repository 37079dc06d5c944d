"""Apache Fluss in containers: a leader is killed, and nothing is gone; a server is cut off at the wrong time, and something is."""

from pathlib import Path

import pytest
from missing import skip_without

from tidemark.harness.live.session import ContainerSession
from tidemark.harness.machines.errors import ImageError
from tidemark.harness.scenario import read_scenario, run_scenario
from tidemark.harness.scenario.live.target_factory import LiveTargets
from tidemark.harness.systems.fluss.servers import jars
from tidemark.harness.systems.registry import find_system
from tidemark.harness.systems.system import SystemRefusalError


@pytest.fixture(scope="module")
def play(engine, image, tmp_path_factory):
    system = find_system("fluss:0.9.1")
    session = ContainerSession(3, system=system, tell=lambda _: None)

    def play(name):
        try:
            plan = system.real.scripts()[name].plan
            return session.execute(plan, system.variant(system.default_variant), folder=tmp_path_factory.mktemp("run"))
        except ImageError as error:
            skip_without(f"Fluss: {error}")

    play.session = session
    yield play
    session.close()


@pytest.mark.docker
@pytest.mark.systems
def test_a_killed_leader_costs_nothing(play):
    run = play("one-killed")

    assert run.verdict.valid == "valid", run.verdict.anomalies
    assert run.verdict.stats["acked"] > 0
    assert run.history.meta["shows"] == ["leaders", "logs"]


@pytest.mark.docker
@pytest.mark.systems
def test_a_follower_leads_with_what_its_leader_never_had(play):
    run = play("fluss-high-watermark")

    assert run.verdict.valid == "invalid"
    assert run.verdict.stats["acked_lost_violation"] > 0


@pytest.fixture(scope="module")
def step_by_step():
    return read_scenario(Path(__file__).parents[4] / "docs/findings/fluss-step-by-step.scenario")


@pytest.mark.parametrize(("variant", "valid"), [("fluss-0.9", "invalid"), ("fluss-0.9+truncation=fetch", "valid")])
def test_the_model_loses_it_step_by_step_and_by_kafkas_rule_does_not(step_by_step, variant, valid):
    outcome = run_scenario(step_by_step, variant)

    assert (outcome.stopped, outcome.verdict.valid) == ("", valid)
    assert bool(outcome.verdict.named("lost-write")) == (valid == "invalid")


@pytest.mark.docker
@pytest.mark.systems
def test_real_servers_lose_it_step_by_step(play, step_by_step):
    system = find_system("fluss:0.9.1")
    try:
        machines = play.session.open().machines
    except ImageError as error:
        skip_without(f"Fluss: {error}")
    target = LiveTargets(machines, system=system).target
    outcome = run_scenario(step_by_step, system.variant(system.name), target, plays=system.modelled_by)

    assert outcome.stopped == ""
    assert outcome.verdict.named("lost-write")
    m2_is_acknowledged = outcome.narrative[4].replicas
    assert [[name for _, name in one.log] for one in m2_is_acknowledged] == [["m1", "x"], ["m1", "m2"], ["m1", "x"]]


def test_there_are_scripts_for_losses_and_for_what_keeps_everything():
    scripts = find_system("fluss:0.9.1").real.scripts()

    assert {name: script.loses for name, script in scripts.items()} == {
        "fluss-high-watermark": True,
        "one-killed": False,
        "kill-all": True,
    }


def test_jars_that_were_looked_at_are_pinned_by_their_content():
    assert all(len(jar.sha256) == 64 for jar in jars("0.9.1").values())
    assert [jar.name for jar in jars("0.8.0").values() if not jar.sha256] == [
        "org.apache.fluss:fluss-server:0.8.0-incubating"
    ]


@pytest.mark.parametrize("text", ["fluss:", "fluss:0.9", "fluss:0.9.1-incubating", "fluss:new"])
def test_a_version_has_three_numbers(text):
    with pytest.raises(
        SystemRefusalError, match=r"is no version of Fluss; give its three numbers, such as fluss:0\.9\.1"
    ):
        find_system(text)

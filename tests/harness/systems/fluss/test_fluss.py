"""Apache Fluss in containers: a leader is killed, and nothing is gone; a server is cut off at the wrong time, and something is."""

import pytest
from missing import skip_without

from tidemark.harness.live.session import ContainerSession
from tidemark.harness.machines.errors import ImageError
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

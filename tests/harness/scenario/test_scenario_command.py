"""``tidemark scenario --world docker``, with simulated targets in place of containers."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tidemark.cli import scenario as module
from tidemark.cli import tidemark
from tidemark.harness.machines.errors import ContainerWorldError, NodeError
from tidemark.harness.scenario import find
from tidemark.harness.scenario.live.target_factory import LiveTargets
from tidemark.harness.scenario.simulated import SimulatedTarget
from tidemark.harness.scenario.target import ScriptError
from tidemark.nodes.core.variant import parse_variant


@pytest.fixture
def run(monkeypatch):
    """Runs the command; `opened` are the numbers of brokers that were brought up, `closed` those that were replaced, and `systems`
    what was to run on them.
    """
    opened, closed, systems = [], [], []

    @contextmanager
    def containers(brokers, system, **_):
        opened.append(brokers)
        systems.append(system.name)
        yield SimpleNamespace(open=lambda: SimpleNamespace(machines={}), close=lambda: closed.append(brokers))

    monkeypatch.setattr(module, "containers", containers)
    monkeypatch.setattr(LiveTargets, "target", lambda self, scenario, variant: SimulatedTarget(scenario, variant))

    def run(*arguments):
        return CliRunner().invoke(tidemark, ["scenario", *arguments], standalone_mode=False)

    run.opened, run.closed, run.systems = opened, closed, systems
    return run


DATA_LOSS = ("kip-101-data-loss", "--variant", "kafka-0.10", "--world", "docker")


def test_a_scenario_in_containers_is_told_like_a_simulated_one(run):
    told = run(*DATA_LOSS)

    assert told.return_value == 0
    assert "As expected: invalid." in told.output
    assert run.opened == [2]
    assert run.systems == ["tidemark"]


def test_on_real_brokers_it_is_held_against_their_model(run):
    """Those that are played here are of 0.10 themselves, and stop where their leader's log is shorter; 2.8.2 does not."""
    told = run("last-replica-standing-killed", "--variant", "kafka-0.10", "--system", "kafka:2.8.2")

    assert run.systems == ["kafka:2.8.2"]
    assert told.return_value == 1
    assert "anomaly: violation stuck: the model has –, kafka:2.8.2@0.10.2 found" in told.output

    told = run("kip-279-scenario-1-n-20", "--variant", "kafka-2.0", "--system", "kafka:2.8.2")

    assert told.return_value == 0
    assert "As expected: valid." in told.output


def test_only_what_the_brokers_can_express_is_played(run):
    told = run("kip-101-data-loss", "--system", "kafka:4.1.1", "--json")

    assert [one["variant"] for one in json.loads(told.stdout)] == ["kafka-4.0"]


def test_tries_are_counted(run):
    told = run(*DATA_LOSS, "--times", "3", "--json")
    (row,) = json.loads(told.stdout)

    assert (row["scenario"], row["variant"], row["expected"]) == ("kip-101-data-loss", "kafka-0.10", "invalid")
    assert (row["times"], row["matched"], row["violated"]) == (3, 3, 3)
    assert [outcome["matched"] for outcome in row["outcomes"]] == [True] * 3


def test_the_table_says_how_often_and_why_not(run, monkeypatch):
    """Every other try a replica loses its disk."""
    made = []

    class Unlucky(SimulatedTarget):
        def boot(self):
            super().boot()
            made.append(self)
            if len(made) % 2:
                raise ScriptError("the disk is gone")

    monkeypatch.setattr(LiveTargets, "target", lambda self, scenario, variant: Unlucky(scenario, variant))
    told = run(*DATA_LOSS, "--times", "4")

    assert told.return_value == 1
    assert "2 of 4" in told.stdout
    assert "kip-101-data-loss under kafka-0.10: line 0: the disk is gone" in told.stdout
    assert "try 1 of 4: NOT as expected: line 0: the disk is gone" in told.stderr
    assert "try 2 of 4: as expected (" in told.stderr


def test_enough_brokers_are_brought_up_for_all(run):
    run("kip-101-data-loss", "--world", "docker")
    run("log-divergence", "--world", "docker", "--json")

    assert run.opened == [2, 3]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("kip-101-data-loss", "--times", "2"), "--times needs --world docker"),
        (("kip-101-data-loss", "--time-scale", "2"), "--time-scale needs --world docker"),
        (("--world", "docker"), "--world docker needs a scenario's NAME or --all"),
        (("kip-101-data-loss", "--world", "docker", "--times", "0"), "0 is not in the range"),
    ],
)
def test_what_makes_no_sense_is_refused(run, arguments, words):
    assert words in str(run(*arguments).exception)
    assert run.opened == []


@pytest.mark.parametrize("error", [ScriptError("broker A does not answer"), NodeError("broker A does not answer")])
def test_a_run_that_could_not_be_carried_out_is_an_error_and_no_outcome(run, monkeypatch, error):
    def fail(self):
        raise error

    monkeypatch.setattr(SimulatedTarget, "finish", fail)
    told = run(*DATA_LOSS)

    assert str(told.exception) == "1 could not be carried out: broker A does not answer"
    assert run.closed == [2]


def test_the_others_are_carried_out_all_the_same_on_new_machines(run, monkeypatch):
    finish = SimulatedTarget.finish
    tries = []

    def fail_once(self):
        tries.append(self)
        if len(tries) == 2:
            raise NodeError("broker A does not answer")
        return finish(self)

    monkeypatch.setattr(SimulatedTarget, "finish", fail_once)
    told = run(*DATA_LOSS, "--times", "3", "--json")
    (row,) = json.loads(told.stdout)

    assert (row["times"], row["matched"], row["failures"]) == (3, 2, ["broker A does not answer"])
    assert "try 2 of 3: not carried out: broker A does not answer" in told.stderr
    assert str(told.exception) == "1 could not be carried out: broker A does not answer"
    assert run.closed == [2]


def test_too_few_machines_are_told():
    with pytest.raises(ContainerWorldError, match="log-divergence needs machines for a controller and 3 brokers"):
        LiveTargets({0: None, 1: None}).target(find("log-divergence"), parse_variant("kafka-2.7"))

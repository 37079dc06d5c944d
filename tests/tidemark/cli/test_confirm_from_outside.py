"""``tidemark hunt --confirm`` on a system that is seen from outside, with the simulator in place of its machines."""

import io
import json
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import SimpleNamespace

import pytest

from tidemark.cli import confirm, main
from tidemark.cli.confirm_from_outside import again_on, scale_of
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.search import sturdier
from tidemark.harness.simulator.execute import execute
from tidemark.harness.systems.outside.adapter import OutsideSystem
from tidemark.harness.systems.registry import find_system
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec

MINE = """
from tidemark import Install, Outcome, Process, RealSystem

class Mine(RealSystem):
    name = "mine"
    model = "kafka-0.10"
    session_s = 1

    def install(self):
        return Install()

    def process(self, node, nodes, logs):
        return Process(("true",))

    def client(self, workload):
        raise NotImplementedError

def system(argument):
    return Mine()
"""
HUNT = ("hunt", "--variant", "kafka-0.10", "--seed", "3", "--confirm", "mine.py", "--jobs", "1", "--out", "found")


@pytest.fixture
def cli(tmp_path, monkeypatch):
    """Runs the program; `plays` are the plans that were played, `becomes` what comes of one."""
    (tmp_path / "mine.py").write_text(MINE)
    plays, contracts = [], set()

    @contextmanager
    def containers(_brokers, _system, **_):
        def played(plan, _variant, contract, *, folder):
            folder.mkdir(parents=True)
            plays.append(plan)
            contracts.add(contract)
            return run.becomes(plan, contract)

        yield SimpleNamespace(execute=played)

    @contextmanager
    def engine():
        yield None

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(confirm, "containers", containers)
    monkeypatch.setattr("tidemark.cli.docker_client.engine", engine)
    monkeypatch.setattr(sturdier, "MOST_CHANGES", 12)
    monkeypatch.setattr(confirm, "MOST_PLANS", 1)
    monkeypatch.setattr(OutsideSystem, "install", lambda self, client, tell: "image")

    def run(*words):
        out, error = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["tidemark", *words])
        with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
            main()
        return end.value.code, out.getvalue(), error.getvalue()

    run.becomes = lambda plan, contract: execute(plan, "kafka-0.10", contract)
    run.plays, run.contracts = plays, contracts
    return run


def test_what_is_hunted_on_the_model_is_played_at_the_times_of_the_system(cli, tmp_path):
    code, said, error = cli(*HUNT, "--times", "3")

    assert code == 1, said + error
    assert len(cli.plays) == 3
    assert cli.contracts == {"majority"}
    assert {plan.cluster.settings.session_us for plan in cli.plays} == {1_000_000}
    assert not {fault.kind for plan in cli.plays for fault in plan.faults} & {"forced-election", "controller-crash"}
    assert "lost-write seen in" in said
    (of_it,) = tmp_path.glob("found/confirmed/*/mine.py/confirmed.html")
    plan = of_it.parent.with_name("plan.json").relative_to(tmp_path)
    again = f"tidemark run --system mine.py --plan {plan} --time-scale 1"
    page = of_it.read_text()
    assert again in page
    assert again in said
    assert "step by step" not in page


def test_sessions_of_a_plan_become_as_long_as_the_systems():
    plan = generate_plan(1, 0, "intact", ClusterSpec())
    fluss = find_system("fluss:0.9.1")

    assert plan.scaled(scale_of(fluss, plan)).cluster.settings.session_us == 12_000_000
    assert again_on(fluss, "fluss:0.9.1", plan, "p.json") == (
        "tidemark run --system fluss:0.9.1 --plan p.json --time-scale 12"
    )


@pytest.mark.systems
def test_as_long_as_no_plan_is_sturdy_more_are_hunted(cli, monkeypatch):
    monkeypatch.setattr(confirm, "MOST_PLANS", 6)
    monkeypatch.setattr(confirm, "STURDY", 99)
    _, said, _ = cli(*HUNT, "--times", "1")

    assert "is shown under " in said
    assert "noises only" in said
    assert len(cli.plays) == 1


@pytest.mark.systems
def test_it_goes_on_with_the_tries_that_are_not_made(cli):
    cli(*HUNT, "--times", "1")
    code, said, _ = cli(*HUNT, "--times", "3", "--json")

    assert code == 1
    assert len(cli.plays) == 3
    assert len({plan.to_text() for plan in cli.plays}) == 1
    told = json.loads(said)["confirmed"]
    assert [one["number"] for one in told["tries"]] == [1, 2, 3]
    assert told["plan"].endswith("plan.json")


def test_tries_that_cannot_be_carried_out_end_it(cli):
    def broken(plan, contract):
        raise NodeError("no room")

    cli.becomes = broken
    code, _, error = cli(*HUNT)

    assert code == 254
    assert "3 tries in a row could not be carried out: no room" in error


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--variant", "kafka-2.7", "--confirm", "mine.py"), "the model of mine is kafka-0.10: hunt with --variant"),
        (("--variant", "raft", "--confirm", "nats:2.15.1"), "none of our variants is the model of nats:2.15.1"),
        (
            ("--variant", "kafka-0.10", "--for", "isr-quorum", "--confirm", "mine.py"),
            "nobody would see isr-quorum on mine",
        ),
    ],
    ids=["another", "no-model", "not-seen"],
)
def test_what_cannot_be_confirmed_there_is_refused_before_the_search(cli, words, why):
    code, _, error = cli("hunt", *words)

    assert code == 254
    assert why in error

"""``tidemark conform``, with simulated targets in place of containers and of Kafka."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tidemark.cli import conform as module
from tidemark.cli.conform import conform_command
from tidemark.harness.conform import known_differences as findings
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.scenario.live.target_factory import LiveTargets
from tidemark.harness.scenario.simulated import SimulatedTarget
from tidemark.harness.scenario.target import CannotPlayError

KIP_279 = ("kip-279-scenario-1-n-20", "--variants", "kafka-0.11,kafka-2.0")


class LowHighWatermark(SimulatedTarget):
    """Says of B, under KIP-279's rule, that its high watermark is 30 in the end."""

    def state(self, broker):
        seen = super().state(broker)
        low = broker == 1 and seen.leo == 31 and self.variant.truncation == "kip279"
        return seen._replace(hw=30) if low else seen


@pytest.fixture
def run(monkeypatch):
    """Runs the command; `opened` names the systems that were brought up, `target` makes the real targets."""

    @contextmanager
    def containers(brokers, system, **_):
        run.opened.append((system.name, brokers))
        yield SimpleNamespace(open=lambda: SimpleNamespace(machines={}), close=lambda: None)
        run.closed.append(system.name)

    def target(self, scenario, variant):
        return run.target(scenario, variant)

    def run(*arguments):
        return CliRunner().invoke(conform_command, list(arguments), standalone_mode=False)

    monkeypatch.setattr(module, "containers", containers)
    monkeypatch.setattr(LiveTargets, "target", target)
    run.opened, run.closed, run.target = [], [], SimulatedTarget
    return run


def test_three_worlds_side_by_side(run):
    told = run(*KIP_279)

    assert told.return_value == 0
    assert "kip-279-scenario-1-n-20 under kafka-0.11: equal" in told.stdout
    assert "simulator = our containers = kafka:2.8.2@0.11.0" in told.stdout
    assert "2 held side by side; differences: 0 known, 0 unexplained" in told.stdout
    assert run.opened == [("tidemark", 2), ("kafka:2.8.2", 2)]
    assert sorted(run.closed) == ["kafka:2.8.2", "tidemark"]


def test_the_brokers_run_the_preset_and_the_model_its_binary(run):
    told = run(*KIP_279, "--json")
    data = json.loads(told.stdout)

    assert [(one["preset"], one["model"], one["system"]) for one in data["comparisons"]] == [
        (
            "kafka-0.11",
            "kafka-2.0+truncation=kip101+bounce-detection+fresh-answers+partition-failure+replace-reassignment+elect-when-allowed+KAFKA-9672",
            "kafka:2.8.2@0.11.0",
        ),
        (
            "kafka-2.0",
            "kafka-2.0+bounce-detection+fresh-answers+partition-failure+replace-reassignment+elect-when-allowed+KAFKA-9672",
            "kafka:2.8.2@2.0",
        ),
    ]
    assert (data["unexplained"], data["stale"]) == (0, [])


def test_an_unexplained_difference_is_an_exit_code(run):
    run.target = LowHighWatermark
    told = run(*KIP_279, "--worlds", "sim,docker")

    assert told.return_value == 1
    assert "HW of B: sim 31, docker 30" in " ".join(told.stdout.split())
    assert "0 known, 1 unexplained" in told.stdout
    assert run.opened == [("tidemark", 2)]


def test_a_known_one_is_not(run, monkeypatch):
    run.target = LowHighWatermark
    why = KnownDifference("nobody looks", "no KIP", "kip-279-*", "kafka:2.8.2@2.0", "*")
    monkeypatch.setattr(findings, "KNOWN_DIFFERENCES", (why,))
    told = run("kip-279-scenario-1-n-20", "--variants", "kafka-2.0", "--worlds", "sim,kafka")

    assert told.return_value == 0
    assert "known: nobody looks (no KIP)" in told.stdout


def test_a_stale_one_is_told(run, monkeypatch):
    why = KnownDifference("nobody looks", "no KIP", "kip-279-*", "kafka:2.8.2@2.0", "log of *")
    monkeypatch.setattr(findings, "KNOWN_DIFFERENCES", (why,))
    told = run(*KIP_279, "--worlds", "sim,kafka")

    assert told.return_value == 0
    assert "stale: nothing shows this finding any more: log of * of kip-279-* on kafka:2.8.2@2.0" in told.stdout


def test_what_cannot_be_staged_is_told(run):
    def cannot(scenario, variant):
        raise CannotPlayError("Kafka cannot begin with given logs")

    run.target = cannot
    told = run(*KIP_279, "--worlds", "sim,kafka")

    assert told.return_value == 0
    assert "Cannot be played in kafka: Kafka cannot begin with given logs" in told.stdout


def test_what_could_not_be_carried_out_is_bad(run):
    def fails(scenario, variant):
        raise ContainerWorldError("b1 does not answer")

    run.target = fails
    told = run(*KIP_279)

    assert told.exception.format_message() == (
        "4 could not be carried out: kip-279-scenario-1-n-20 under kafka-0.11 as kafka:2.8.2@0.11.0 in docker: b1 does not answer"
    )


def test_a_version_has_the_presets_that_it_can_be(run):
    data = json.loads(run("kip-101-data-loss", "--system", "kafka:4.1.1", "--worlds", "sim,kafka", "--json").stdout)

    assert [one["preset"] for one in data["comparisons"]] == ["kafka-4.0"]


def test_the_page_needs_nothing_else(run, tmp_path):
    run.target = LowHighWatermark
    page = tmp_path / "pages" / "conform.html"
    told = run(*KIP_279, "--worlds", "sim,docker", "--html", str(page))
    text = page.read_text(encoding="utf-8")

    assert told.return_value == 1
    assert "1 of 1 differences between the model and what really ran is unexplained." in text
    assert "HW of B" in text
    assert not [word for word in ("<script", "<link", "http://", "https://") if word in text]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing-like-it",), "there is no scenario 'nothing-like-it'"),
        (("--worlds", "sim"), "name at least two of sim, docker, kafka"),
        (("--worlds", "sim,moon"), "name at least two of sim, docker, kafka"),
        (("--system", "tidemark"), "'tidemark' names no Kafka"),
        (("--system", "kafka:2.8.2@9.9"), "has no protocol version 9.9"),
        (("--variants", "kafka-4.0"), "nothing to compare"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(run, arguments, words):
    told = run(*arguments)

    assert words in told.exception.format_message()
    assert run.opened == []

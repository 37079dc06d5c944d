"""Reads a script (`docs/scenarios.md` describes the language) line by line; what is wrong is told with its line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tidemark.harness.scenario.cluster_text import parse_cluster
from tidemark.harness.scenario.model import Command, Expected, GivenReplica, Scenario, ScenarioError, Step
from tidemark.harness.scenario.outcome_text import parse_outcome_line, unfinished
from tidemark.harness.scenario.records import Names, flatten, parse_batches
from tidemark.harness.scenario.variants import parse_variants
from tidemark.harness.scenario.verbs import Vocabulary, parse_command
from tidemark.harness.scenario.words import BrokerNames, parse_replica

_HEAD = ("name", "title", "source", "brokers", "cluster")
_KEY = re.compile(r"([a-z]+):\s*(.*)")
_STEP = re.compile(r"(\d+)\.\s+(.+)")
_OUTCOME = re.compile(r"outcome (.+): (valid|invalid|unknown)")
_SELECTED = re.compile(r"\[(.+?)\]\s*(.+)")


def read_scenario(path: Path) -> Scenario:
    """A script from a file.

    Raises:
        ScenarioError: it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        words = f"byte 0x{error.object[error.start]:02x} is not UTF-8 text"
        raise ScenarioError(path.name, line, words) from None
    return parse_scenario(text, path.name)


def parse_scenario(text: str, file: str = "scenario") -> Scenario:
    """A script from its text.

    Raises:
        ScenarioError: with file, line and one sentence.
    """
    return _Parser(text, file).parse()


class _Parser:
    """Goes through the lines once; `section` takes the indented ones."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.line = 0
        self.head: dict[str, str] = {}
        self.about: list[str] = []
        self.scenario: Scenario | None = None
        self.cast = BrokerNames(())
        self.section: Callable[[str], None] = self._nothing
        self.outcomes: tuple[Expected, ...] = ()

    def fail(self, words: str) -> ScenarioError:
        return ScenarioError(self.file, self.line, words)

    def parse(self) -> Scenario:
        for number, raw in enumerate(self.text.splitlines(), 1):
            self.line = number
            line = raw.rstrip()
            if not line or line.lstrip().startswith("#"):
                continue
            try:
                if line[0].isspace():
                    self.section(line.strip())
                else:
                    self._begin(line)
            except ScenarioError:
                raise
            except ValueError as error:
                raise self.fail(str(error)) from error
        scenario = self._opened()
        if not scenario.steps:
            raise self.fail("a scenario needs at least one step, like '1. A leads.'")
        for variant, expected in scenario.outcomes.items():
            missing = unfinished(expected, scenario.brokers)
            if missing:
                raise ScenarioError(self.file, expected.line, f"the outcome of {variant} {missing}")
        return scenario

    def _nothing(self, line: str) -> None:
        raise self.fail(f"nothing is open that {line!r} could belong to")

    def _begin(self, line: str) -> None:
        step, outcome, key = _STEP.fullmatch(line), _OUTCOME.fullmatch(line), _KEY.fullmatch(line)
        if step is not None:
            self._step(int(step[1]), step[2])
        elif outcome is not None:
            self._outcome(outcome[1], outcome[2])
        elif line.startswith("outcome"):
            raise self.fail(
                "an outcome begins like 'outcome kafka-0.10, kafka-2.0 to kafka-4.0: valid' (or invalid, unknown)"
            )
        elif line == "about:":
            self.section = self.about.append
        elif line == "given:":
            self._opened()
            self.section = self._given
        elif key is not None:
            self._head_line(key[1], key[2])
        else:
            raise self.fail(
                f"cannot read {line!r}: a line begins with a head entry, a step's number, 'given:' or 'outcome'"
            )

    def _head_line(self, key: str, value: str) -> None:
        if key not in _HEAD:
            raise self.fail(f"unknown head entry {key!r}; there are {', '.join(_HEAD)}, about and given")
        if self.scenario is not None:
            raise self.fail(f"{key!r} belongs to the head, before the first step")
        if key in self.head:
            raise self.fail(f"{key!r} is given twice")
        if not value:
            raise self.fail(f"{key!r} is empty")
        self.head[key] = value
        self.section = self._nothing
        if key == "brokers":
            self.cast = BrokerNames(tuple(name.strip() for name in value.split(",")))
        elif key == "cluster":
            parse_cluster(value, brokers=len(self.cast.names) or 3)

    def _opened(self) -> Scenario:
        """The scenario, made from the head when the first part that is not the head needs it."""
        if self.scenario is None:
            missing = [key for key in _HEAD if key not in self.head]
            if missing:
                raise self.fail(f"the head lacks {', '.join(missing)}")
            cluster, first_epoch = parse_cluster(self.head["cluster"], brokers=len(self.cast.names))
            self.scenario = Scenario(
                self.file,
                self.head["name"],
                self.head["title"],
                self.head["source"],
                " ".join(self.about),
                self.cast.names,
                cluster,
                first_epoch,
                Names(),
                text=self.text,
            )
        return self.scenario

    def _given(self, line: str) -> None:
        scenario = self._opened()
        log = [part.strip() for part in line.partition(":")[2].split("|") if ":" in part or part.strip() == "empty"]
        batches = parse_batches(log[0]) if log else ()
        for _, name in flatten(batches):
            scenario.records.number(name)
        text = parse_replica(self.cast, scenario.records, self.line, line)
        if text.log is None or text.hw is None or text.cache is None:
            raise self.fail("a given replica needs its log, HW and epochs")
        if text.hw > len(text.log):
            raise self.fail(f"HW {text.hw} lies beyond the log's end {len(text.log)}")
        scenario.given = (*scenario.given, GivenReplica(text.broker, batches, text.hw, text.cache))

    def _step(self, number: int, words: str) -> None:
        scenario = self._opened()
        if scenario.outcomes:
            raise self.fail("steps come before outcomes")
        if number != len(scenario.steps) + 1:
            raise self.fail(f"step {number} should be step {len(scenario.steps) + 1}")
        step = Step(number, words, self.line)
        scenario.steps.append(step)

        def inside(line: str) -> None:
            if line.startswith(">"):
                step.commands.append(self._command(line[1:].strip()))
            elif step.commands:
                raise self.fail(f"a command begins with '>', and a step's words come before its commands: {line!r}")
            else:
                step.words += f" {line}"

        self.section = inside

    def _command(self, text: str) -> Command:
        selected = _SELECTED.fullmatch(text)
        variants = None
        if selected is not None:
            variants, text = frozenset(parse_variants(selected[1])), selected[2]
        perform = parse_command(Vocabulary(self.cast, self._opened().records), text)
        return Command(self.line, text, variants, perform)

    def _outcome(self, variants: str, verdict: str) -> None:
        scenario = self._opened()
        chosen = []
        for variant in parse_variants(variants):
            expected = scenario.outcomes.setdefault(variant, Expected(self.line))
            if expected.verdict not in ("", verdict):
                raise self.fail(f"{variant} was said to be {expected.verdict} before")
            expected.verdict = verdict
            chosen.append(expected)
        self.outcomes = tuple(chosen)
        self.section = self._outcome_line

    def _outcome_line(self, line: str) -> None:
        scenario = self._opened()
        for expected in self.outcomes:
            parse_outcome_line(expected, self.cast, scenario.records, self.line, line)

"""What a CI system reads: JUnit's XML, and GitHub's annotations. One mechanism for all commands that judge something."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

import click

from tidemark.checkers.acknowledged import of_acknowledged
from tidemark.checkers.verdict.alike import Alike, alike
from tidemark.checkers.verdict.verdict import GRAVITY, VIOLATION
from tidemark.cli.options import NEW_FILE
from tidemark.cli.output import output
from tidemark.cli.typed_options import Options, flag, option
from tidemark.cli.writing_to import writing_file

if TYPE_CHECKING:
    from tidemark.checkers import Verdict
    from tidemark.checkers.verdict.result import Result

PASSED: Final = "passed"
FAILED: Final = "failed"
SKIPPED: Final = "skipped"
"""What is unknown: neither passed nor failed."""
BROKEN: Final = "error"
MOST_ANNOTATIONS: Final = 10
"""GitHub shows so many of a step, and drops the others."""
_XML: Final = b"<?xml"
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that was judged: a run, a scenario under a variant, a variant of a comparison.

    Attributes:
        suite: what it belongs to. name: what tells it from others.
        outcome: of `PASSED`, `FAILED`, `SKIPPED`, `BROKEN`.
        message: why, in a sentence; details: what else there is to say, in lines.
    """

    suite: str
    name: str
    outcome: str = PASSED
    message: str = ""
    details: Sequence[str] = ()


def _not_onto_another(file: Path | None) -> Path | None:
    """The file, unless it is there and holds something else, such as the history itself, by whatever name it is called.

    Raises:
        click.BadParameter: It does.
    """
    if file is not None and file.is_file():
        with suppress(OSError), file.open("rb") as there:
            begin = there.read(len(_XML))
            if begin and begin != _XML:
                raise click.BadParameter(f"{file} is there, and is no JUnit report: name another file")
    return file


class CiOptions(Options):
    """--junit and --annotations."""

    junit: Path | None = option(
        "For CI: write JUnit's XML to this file as well.",
        type=NEW_FILE,
        callback=lambda *asked: _not_onto_another(asked[-1]),
    )
    annotations: bool = flag("For GitHub: print what failed as annotations, on standard error.")

    def tell(self, cases: Iterable[Case]) -> None:
        """Write and print what was asked for.

        Raises:
            click.ClickException: the file cannot be written.
        """
        told = list(cases)
        if self.junit is not None:
            with writing_file(self.junit):
                self.junit.parent.mkdir(parents=True, exist_ok=True)
                self.junit.write_bytes(junit_xml(told))
        if self.annotations:
            for line in annotation_lines(told):
                output(stderr=True).print(line, markup=False, highlight=False, soft_wrap=True)


def case_of(verdict: Verdict, suite: str, name: str) -> Case:
    """A run as a case: it failed if it is invalid, and is skipped if it is unknown."""
    ordered = sorted(verdict.anomalies, key=lambda one: (GRAVITY.index(one.verdict), one.time))
    told = alike(ordered)
    lost = of_acknowledged(verdict.stats)
    details = [*filter(None, [lost]), *map(_detail, told)]
    if verdict.valid == "invalid":
        worst = next(one.first for one in told if one.first.verdict == VIOLATION)
        return Case(suite, name, FAILED, f"{worst.name}: {worst.message} {lost}".strip(), details)
    if verdict.valid == "unknown":
        return Case(suite, name, SKIPPED, f"unknown: {verdict.unknown_because}. {lost}".strip(), details)
    return Case(suite, name, PASSED, "", details)


def case_of_result(result: Result, suite: str, name: str) -> Case:
    """What a model found as a case, likewise."""
    details = [f"{part}: {one.valid}: {one.message}" for part, one in result.parts.items()]
    if result.valid == "invalid":
        return Case(suite, name, FAILED, result.message, details)
    if result.valid == "unknown":
        return Case(suite, name, SKIPPED, f"unknown: {result.unknown_because}", details)
    return Case(suite, name, PASSED, "", details)


def _detail(one: Alike) -> str:
    times = f" ({one.count} times)" if one.count > 1 else ""
    return f"{one.first.verdict}: {one.first.name}{times}: {one.first.message}"


def junit_xml(cases: Sequence[Case]) -> bytes:
    """The cases as JUnit's XML, a suite for each of their suites."""
    root = ET.Element("testsuites", _counts(cases) | {"name": "tidemark"})
    for suite in dict.fromkeys(case.suite for case in cases):
        mine = [case for case in cases if case.suite == suite]
        element = ET.SubElement(root, "testsuite", _counts(mine) | {"name": _clean(suite)})
        for case in mine:
            one = ET.SubElement(element, "testcase", {"classname": _clean(case.suite), "name": _clean(case.name)})
            if case.outcome == PASSED:
                if case.details:
                    ET.SubElement(one, "system-out").text = _clean("\n".join(case.details))
                continue
            tag = {FAILED: "failure", SKIPPED: "skipped", BROKEN: "error"}[case.outcome]
            ET.SubElement(one, tag, {"message": _clean(case.message)}).text = _clean("\n".join(case.details))
    body: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    names = {"tests": None, "failures": FAILED, "errors": BROKEN, "skipped": SKIPPED}
    return {name: str(sum(outcome in (None, case.outcome) for case in cases)) for name, outcome in names.items()}


def _clean(text: str) -> str:
    """Without what no XML may hold."""
    return _NOT_XML.sub("\ufffd", text)


def annotation_lines(cases: Sequence[Case]) -> list[str]:
    """GitHub's workflow commands: an error for each case that failed, a warning for each that is unknown; the failed ones first.

    Source: GitHub's page "Workflow commands for GitHub Actions".
    """
    bad = sorted((case for case in cases if case.outcome != PASSED), key=lambda case: case.outcome == SKIPPED)
    lines = [_annotation(case) for case in bad[:MOST_ANNOTATIONS]]
    if len(bad) > MOST_ANNOTATIONS:
        lines[-1] = f"::error title=tidemark::{len(bad) - MOST_ANNOTATIONS + 1} more did not pass"
    return lines


def _annotation(case: Case) -> str:
    level = "warning" if case.outcome == SKIPPED else "error"
    return f"::{level} title={_property(f'{case.suite}: {case.name}')}::{_data(case.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

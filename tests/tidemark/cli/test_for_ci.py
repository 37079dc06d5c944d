"""What a CI system gets of a command: JUnit's XML and GitHub's annotations."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from xml.etree import ElementTree as ET

import pytest

from tidemark.checkers.verdict.alike import alike
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, Verdict
from tidemark.cli import main
from tidemark.cli.for_ci import BROKEN, FAILED, SKIPPED, Case, annotation_lines, case_of, junit_xml


@pytest.fixture
def tidemark(tmp_path, monkeypatch):
    """Run the program; gives exit code, output and complaint."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        out, error = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["tidemark", *words])
        with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
            main()
        return end.value.code, out.getvalue(), error.getvalue()

    return run


def lost(number, verdict=VIOLATION, clause=None):
    return Anomaly("lost-write", verdict, number * 1000, "t-0", f"Record {number} of t-0 is gone.", clause)


def test_a_failed_run_is_a_failure_with_its_gravest_finding_and_the_others_counted():
    anomalies = (lost(1, PERMITTED, "x"), *(lost(number) for number in range(2, 41)))

    case = case_of(Verdict("invalid", "documented", anomalies, None, {}), "tidemark check", "h.jsonl")

    assert (case.outcome, case.message) == (FAILED, "lost-write: Record 2 of t-0 is gone.")
    assert case.details == [
        "violation: lost-write (39 times): Record 2 of t-0 is gone.",
        "permitted: lost-write: Record 1 of t-0 is gone.",
    ]


def test_what_is_not_listed_is_counted_and_is_never_the_message(tidemark, tmp_path):
    """60 acknowledged, and all lost: 20 are listed."""
    told = ",".join(f'["send","t-0",[{value},{value}]]' for value in range(60))
    asked = ",".join(f'["send","t-0",{value}]' for value in range(60))
    op = '{{"kind":"op","time":{},"process":"{}","type":"{}","f":"{}","value":[{}]{}}}'
    lines = [op.format(1, "p1", "invoke", "send", asked, ""), op.format(2, "p1", "ok", "send", told, "")]
    lines += [
        op.format(3, "c1", "invoke", "poll", '["poll",{}]', ',"final":true'),
        op.format(4, "c1", "ok", "poll", '["poll",{}]', ',"final":true'),
    ]
    (tmp_path / "gone.jsonl").write_text("\n".join(lines) + "\n")
    code, out, error = tidemark("check", "gone.jsonl", "--junit", "gone.xml", "--annotations")

    failure = ET.parse(tmp_path / "gone.xml").getroot().find(".//failure")
    gone = "60 of 60 acknowledged records are gone (against the promise)."
    assert code == 1
    assert failure.get("message").startswith("lost-write: Record 0 of t-0")
    assert failure.text.splitlines()[0] == gone
    assert failure.text.splitlines()[1].startswith("violation: lost-write (60 times): Record 0 of t-0")
    assert "There are" not in failure.get("message") + error
    assert gone in out
    assert gone in error
    assert "(and 59 more like it" in out


def test_what_differs_in_more_than_numbers_is_told_apart():
    other = Anomaly("lost-write", VIOLATION, 5, "t-0", "Nothing is read of t-0.")

    assert [(one.count, one.last) for one in alike([lost(1), other, lost(3)])] == [(2, 3000), (1, 5)]


def test_the_xml_counts_and_holds_nothing_that_xml_may_not():
    cases = [
        Case("one", "a"),
        Case("one", "b", FAILED, "it <failed> & \x1b[31mred\x00", ["more"]),
        Case("two", "c", SKIPPED, "unknown"),
        Case("two", "d", BROKEN, "no containers"),
    ]

    root = ET.fromstring(junit_xml(cases))

    assert root.attrib == {"name": "tidemark", "tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    assert [(suite.get("name"), suite.get("tests")) for suite in root] == [("one", "2"), ("two", "2")]
    failure = root.find(".//failure")
    assert failure.get("message") == "it <failed> & \ufffd[31mred\ufffd"
    assert failure.text == "more"


def test_annotations_are_one_line_each_and_no_more_than_github_shows():
    cases = [Case("s", f"n{number}", FAILED, "a: b\n100 %") for number in range(12)]

    lines = annotation_lines([Case("s", "fine"), Case("s, t", "dim", SKIPPED, "unknown"), *cases])

    assert len(lines) == 10
    assert lines[0] == "::error title=s%3A n0::a: b%0A100 %25"
    assert lines[-1] == "::error title=tidemark::4 more did not pass"
    assert annotation_lines([Case("s, t", "dim", SKIPPED, "?")]) == ["::warning title=s%2C t%3A dim::?"]


def test_a_run_writes_both_and_prints_its_own_json_alone(tidemark, tmp_path):
    words = ("run", "--variant", "kafka-0.10", "--index", "98", "--out", "r", "--json")
    code, out, error = tidemark(*words, "--junit", "deep/report.xml", "--annotations")

    assert code == 1
    assert out.startswith('{"variant": "kafka-0.10"')
    assert error.startswith("::error title=tidemark run kafka-0.10%3A r::lost-committed-write: Record 2000005")
    assert ET.parse(tmp_path / "deep" / "report.xml").getroot().get("failures") == "1"
    assert tidemark("check", "r", "--junit", "again.xml")[0] == 1
    assert ET.parse(tmp_path / "again.xml").getroot().get("failures") == "1"


def test_scenarios_are_cases_under_each_variant(tidemark, tmp_path):
    code, _, error = tidemark("scenario", "kip-101-data-loss", "--junit", "s.xml", "--annotations")

    root = ET.parse(tmp_path / "s.xml").getroot()
    assert (code, error) == (0, "")
    assert [case.get("name") for case in root.iter("testcase")][:2] == ["kafka-0.10", "kafka-0.11"]


def test_stop_at_first_stops_at_the_first_that_is_not_as_expected(tidemark, monkeypatch):
    from tidemark.cli import scenario as command

    played = []
    real = command.scripts.run_scenario

    def wrong(scenario, variant):
        played.append(variant)
        outcome = real(scenario, variant)
        outcome.mismatches, outcome.matched = ["it is not"], False
        return outcome

    monkeypatch.setattr(command.scripts, "run_scenario", wrong)
    code, _, _ = tidemark("scenario", "kip-101-data-loss", "--stop-at-first")

    assert (code, len(played)) == (1, 1)


def test_a_file_that_cannot_be_written_is_told_in_a_sentence(tidemark, tmp_path):
    (tmp_path / "file").write_text("")

    code, _, error = tidemark("scenario", "kip-101-data-loss", "--variant", "kafka-0.10", "--junit", "file/x.xml")

    assert code == 254
    assert error.startswith("tidemark: Invalid value for '--junit': cannot write file/x.xml")

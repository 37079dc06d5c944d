"""A script that cannot be read is refused with its line and with what would be right."""

import pytest

from tidemark.harness.scenario import ScenarioError, parse_scenario
from tidemark.harness.scenario.parser import read_scenario

HEAD = """\
name: x
title: t
source: s
brokers: A, B
cluster: acks all, min ISR 1
"""
STEP = """\
1. A leads.
   > write m1
"""
OUTCOME = """\
outcome kafka-2.7: unknown
  truncations: none
  A: leader | 0:m1 | HW 1 | epochs 0@0
  B: 0:m1 | HW 1 | epochs 0@0
"""


def test_the_smallest_script_is_read():
    scenario = parse_scenario(HEAD + STEP + OUTCOME)

    assert (scenario.name, scenario.brokers, list(scenario.outcomes)) == ("x", ("A", "B"), ["kafka-2.7"])
    assert [(step.number, step.words) for step in scenario.steps] == [(1, "A leads.")]


def test_a_script_need_not_say_how_it_ends():
    assert parse_scenario(HEAD + STEP).outcomes == {}


def test_comments_and_blank_lines_count_as_lines_but_say_nothing():
    with pytest.raises(ScenarioError, match=r"^scenario:8: "):
        parse_scenario(f"# one\n\n{HEAD}nonsense\n")


@pytest.mark.parametrize(
    ("script", "line", "words"),
    [
        (HEAD + "2. A leads.\n", 6, "step 2 should be step 1"),
        (HEAD + "1. A leads.\n   > jump m1\n", 7, "the verbs are send, write, read"),
        (HEAD + "1. A leads.\n   > crash\n", 7, "write crash BROKER"),
        (HEAD + "1. A leads.\n   > reassign to A, C\n", 7, "there is no broker 'C'; there are A, B"),
        (HEAD + "1. A leads.\n   > crash C\n", 7, "there is no broker 'C'; there are A, B"),
        (HEAD + "1. A leads.\n   > run 5 minutes\n", 7, "'5 minutes' is not a time like 250 ms or 5 s"),
        (HEAD + "1. A leads.\n   > until the moon is full\n", 7, "conditions are A, B have LEO 2"),
        (HEAD + "1. A leads.\n   > until m1 is acked\n", 7, "record m1 has not been sent"),
        (HEAD + "1. A leads.\n   > expect A: 0:m9\n", 7, "no step writes record m9"),
        (HEAD + "1. A leads.\n   > expect A: HW 1 | HW 2\n", 7, "the hw of A is given twice"),
        (HEAD + STEP + "   > send m1\n", 8, "record m1 was written before, and records are unique"),
        (HEAD + "1. A leads.\n   > send a3..a1\n", 7, "'a3..a1' is neither a record name like m1 nor a range"),
        (HEAD + "1. A leads.\n   > send a1..a3000000000\n", 7, "stands for more than 100000 records"),
        (HEAD + "1. A leads.\n   >\n", 7, "cannot read the command ''"),
        (HEAD + f"1. A leads.\n   > run {'9' * 400} s\n", 7, "is longer than a day"),
        (HEAD + "1. A leads.\n   > [kafka-9.9] write m1\n", 7, "unknown variant 'kafka-9.9'"),
        (HEAD + "1. A leads.\n   > [kafka-4.0 to kafka-0.10] write m1\n", 7, "kafka-4.0 comes after kafka-0.10"),
        (HEAD + STEP + "   And more words.\n", 8, "a step's words come before its commands"),
        (HEAD + STEP + "outcome kafka-2.7: good\n", 8, "an outcome begins like"),
        (HEAD + STEP + OUTCOME + "  the end\n", 12, "an outcome has lines like"),
        (HEAD + STEP + OUTCOME + "  truncations: none\n", 12, "truncations are given twice"),
        (HEAD + STEP + OUTCOME + "  A: HW 2\n", 12, "the hw of this broker was given before, in line 10"),
        (HEAD + STEP + OUTCOME + "2. Too late.\n", 12, "steps come before outcomes"),
        (HEAD + STEP + OUTCOME + "name: y\n", 12, "'name' belongs to the head"),
        (HEAD + STEP + "outcome kafka-2.7: valid\n", 8, "does not say 'truncations: …' (or none)"),
        (HEAD + STEP + "outcome kafka-2.7: valid\n  truncations: none\n", 8, "final log, HW and epochs of A"),
        (HEAD, 5, "a scenario needs at least one step"),
        (HEAD + "given:\n  A: 1:m1 | HW 1\n", 7, "a given replica needs its log, HW and epochs"),
        (HEAD + "given:\n  A: 1:m1 | HW 2 | epochs 1@0\n", 7, "HW 2 lies beyond the log's end 1"),
        (HEAD + "given:\n  A: m1 | HW 0 | epochs none\n", 7, "'m1' is none of: leader, follower, down"),
        ("name: x\ntitle: t\n1. A leads.\n", 3, "the head lacks source, brokers, cluster"),
        ("name: x\nname: y\n", 2, "'name' is given twice"),
        ("names: x\n", 1, "unknown head entry 'names'"),
        ("name: x\n  more\n", 2, "nothing is open that 'more' could belong to"),
        ("brokers: A\ncluster: acks all\n", 2, "the cluster needs its acks and its min ISR"),
        ("brokers: A\ncluster: acks all, min ISR 2\n", 2, "min ISR 2 must lie between 1 and the replication factor 1"),
        ("brokers: A\ncluster: acks all, fast\n", 2, "'fast' is none of: acks, min ISR"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(script, line, words):
    with pytest.raises(ScenarioError) as error:
        parse_scenario(script)

    assert error.value.line == line
    assert str(error.value).startswith(f"scenario:{line}: ")
    assert words in str(error.value)


def test_an_outcome_may_be_told_in_several_blocks():
    scenario = parse_scenario(
        HEAD
        + STEP
        + """\
outcome kafka-2.0 to kafka-2.7: valid
  truncations: none
  A: leader | 0:m1 | HW 1
  B: 0:m1 | HW 1 | epochs 0@0
outcome kafka-2.0, kafka-2.1: valid
  A: epochs 0@0
outcome kafka-2.7: valid
  A: epochs none
  violation stuck
"""
    )

    assert list(scenario.outcomes) == ["kafka-2.0", "kafka-2.1", "kafka-2.7"]
    assert scenario.outcomes["kafka-2.1"].replicas[1].cache == ((0, 0),)
    assert scenario.outcomes["kafka-2.7"].replicas[1].cache == ()
    assert scenario.outcomes["kafka-2.7"].replicas[1].log == ((0, "m1"),)
    assert [anomaly.name for anomaly in scenario.outcomes["kafka-2.7"].anomalies] == ["stuck"]


def test_one_line_may_expect_the_loss_of_several_records():
    expected = parse_scenario(
        HEAD + STEP + OUTCOME + "  permitted lost-write m1, m4..m5 breaks kip-966, durable\n"
    ).outcomes["kafka-2.7"]

    assert [(one.what, one.breaks) for one in expected.anomalies] == [
        ("m1", ("kip-966", "durable")),
        ("m4", ("kip-966", "durable")),
        ("m5", ("kip-966", "durable")),
    ]


def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path):
    path = tmp_path / "mine.scenario"
    path.write_bytes(HEAD.encode() + b"1. A le\xffads.\n")

    with pytest.raises(ScenarioError, match=r"^mine.scenario:6: byte 0xff is not UTF-8 text"):
        read_scenario(path)

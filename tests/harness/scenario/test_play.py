"""What a run tells, and that it tells when the claims of a script are wrong."""

import io
import json

import pytest
from rich.console import Console

from tidemark.checkers import Anomaly
from tidemark.harness.scenario import all_scenarios, find, parse_scenario, run_scenario
from tidemark.harness.scenario.compare import describe
from tidemark.harness.scenario.show import in_names, show_outcome
from tidemark.nodes.core.variant import VariantError

TWO = """\
name: two
title: Two brokers
source: none
brokers: A, B
cluster: acks all, min ISR 1, lag time 5 s
"""
GOOD_END = """\
outcome kafka-2.7: unknown
  truncations: none
  questions of B: none
  A: leader | 0:m1 | HW 1 | epochs 0@0
  B: follower | 0:m1 | HW 1 | epochs 0@0
"""


def run(steps, end=GOOD_END, variant="kafka-2.7"):
    return run_scenario(parse_scenario(TWO + steps + end), variant)


def test_what_is_claimed_rightly_matches():
    outcome = run("1. A leads.\n   > write m1\n   > expect acked m1\n   > expect ISR A, B\n")

    assert outcome.mismatches == []
    assert outcome.matched


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("unknown", "valid", "line 8: the run should be valid, but is unknown"),
        ("truncations: none", "truncations: A from 3 to 1", "the truncations should be A from 3 to 1, but are none"),
        (
            "questions of B: none",
            "questions of B: epoch 0 -> (0, 1)",
            "line 8: B should have asked epoch 0 -> (0, 1), but asked nothing",
        ),
        ("A: leader", "A: follower", "line 11: in the end A should be follower, but is leader"),
        ("B: follower | 0:m1", "B: follower | 1:m1", "line 12: in the end the log of B should be 1:m1, but is 0:m1"),
        (
            "0:m1 | HW 1 | epochs 0@0\n  B",
            "0:m1 | HW 0 | epochs 0@0\n  B",
            "in the end the HW of A should be 0, but is 1",
        ),
        ("epochs 0@0\n  B", "epochs 0@0 1@1\n  B", "the epochs of A should be 0@0 1@1, but are 0@0"),
        (
            "truncations",
            "violation stuck\n  truncations",
            "line 9: there should be a violation stuck, but there is none",
        ),
        (
            "truncations",
            "violation lost-write m1\n  truncations",
            "line 9: there should be a violation lost-write m1, but there is none",
        ),
    ],
)
def test_a_wrong_outcome_is_told(right, wrong, words):
    outcome = run("1. A leads.\n   > write m1\n", GOOD_END.replace(right, wrong))

    assert not outcome.matched
    assert [mismatch for mismatch in outcome.mismatches if words in mismatch]


def test_an_anomaly_that_nobody_expected_is_told():
    text = find("kip-101-data-loss").text.replace("  violation lost-committed-write m2\n", "")
    outcome = run_scenario(parse_scenario(text), "kafka-0.10")

    assert len(outcome.mismatches) == 1
    assert "nobody expected the violation lost-committed-write m2" in outcome.mismatches[0]


def test_a_difference_between_logs_that_are_shown_at_the_end_only_has_no_detail():
    anomaly = Anomaly("divergence", "violation", 9, "t-0", "", evidence={"offset": 1, "nodes": [1, 2]})

    assert describe(all_scenarios()[0], anomaly) == ""


def test_the_promises_a_loss_breaks_are_compared():
    text = find("last-replica-standing-killed").text.replace("breaks durable", "breaks documented")
    outcome = run_scenario(parse_scenario(text), "kafka-4.0")

    assert any("lost-committed-write m3 (breaking documented)" in mismatch for mismatch in outcome.mismatches)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("leader B", "line 8: the leader should be B, but is A"),
        ("ISR A", "line 8: the ISR should be A, but is A, B"),
        ("replicas B", "line 8: the replicas should be B, but are A, B"),
        ("not acked m1", "line 8: m1 should not be acknowledged, but is acked"),
        ("m1 failed with NOT_ENOUGH_REPLICAS", "line 8: m1 should have failed with NOT_ENOUGH_REPLICAS, but is acked"),
        ("to read m1", "line 8: the consumer should have read m1, but was refused"),
        ("A: epoch 7", "line 8: A should know leader epoch 7, but knows 0"),
        ("A: LEO 4", "line 8: the LEO of A should be 4, but is 1"),
    ],
)
def test_a_wrong_claim_inside_a_step_is_told_with_its_line_and_the_run_goes_on(claim, words):
    outcome = run(f"1. A leads.\n   > write m1\n   > expect {claim}\n")

    assert outcome.mismatches == [words]


def test_waiting_has_a_bound_and_says_what_for_and_how_things_stand():
    outcome = run("1. A leads.\n   > send m1\n   > until B leads within 3 s\n   > run 1 s\n")

    standing = "the leader is A, A leader epoch 0 LEO 1 HW 1 log 0:m1; B follower epoch 0 LEO 1 HW 1 log 0:m1"
    assert outcome.mismatches == [
        f"line 8: waited 3 s until B leads; {standing}",
        "the steps after that were not carried out, and the outcome was not compared",
    ]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("delete records before 2", "A does not delete: OFFSET_OUT_OF_RANGE"),
        ("delete records before 1 at B", "B does not delete: NOT_LEADER_OR_FOLLOWER"),
        ("power off A keeping 2 batches", "broker A: it has 1 batches, 0 of them fsynced, so it cannot keep 2"),
        ("release leadership to A", "these messages were not held"),
        (
            "reassign to A, A",
            "the reassignment was refused: a partition has at least one replica, and no broker has two of one partition",
        ),
        ("unblock heartbeats from A", "these messages were not blocked"),
    ],
)
def test_what_cannot_be_done_is_told(command, words):
    outcome = run(f"1. A leads.\n   > write m1\n   > {command}\n")

    assert outcome.mismatches[0] == f"line 8: {words}"


def test_a_log_start_is_part_of_what_is_claimed():
    steps = """\
1. A leads.
   > write m1
   > delete records before 1
   > until A, B have log start 1
   > retention on B drops 1 batches
   > expect A: leader | log start 1 | empty | LEO 1 | epochs 0@1
   > expect B: log start 2
   > crash B
   > expect B: down | log start 1 | empty | LEO 1
   > retention on B drops 1 batches
"""
    outcome = run(steps)

    assert outcome.mismatches == [
        "line 12: the log of B should start at 2, but starts at 1",
        "line 15: broker B is not running",
        "the steps after that were not carried out, and the outcome was not compared",
    ]


def test_a_final_log_begins_at_0_unless_the_script_says_otherwise():
    steps = "1. A leads.\n   > write m1\n   > write m2\n   > delete records before 1\n   > until B has log start 1\n"
    wrong, end = run(steps), GOOD_END.replace("0:m1 | HW 1 | epochs 0@0", "log start 1 | 0:m2 | HW 2 | epochs 0@1")

    assert "line 14: in the end the log of A should start at 0, but starts at 1" in wrong.mismatches
    assert run(steps, end).mismatches == []


def test_a_broker_that_is_down_cannot_be_stopped_again():
    outcome = run("1. A leads.\n   > write m1\n   > crash B\n   > crash B\n")

    assert outcome.mismatches[0] == "line 9: broker B is not running"


def test_held_messages_arrive_in_order_when_they_are_released():
    """B hears that it leads epoch 1, and right after it that A leads epoch 2; its empty epoch 1 goes when it asks A."""
    outcome = run(
        """\
1. A leads.
   > write m1
   > hold leadership to B
   > elect B
   > until the leader is B
   > elect A
   > until A leads epoch 2
   > expect B: follower | epoch 0
   > release leadership to B
   > until B follows A in epoch 2
""",
        """\
outcome kafka-2.7: valid
  truncations: none
  A: leader | epoch 2 | 0:m1 | HW 1 | epochs 0@0 2@1
  questions of B: fetch 1 after epoch 1 -> (0, 1)
  B: follower | epoch 2 | 0:m1 | HW 1 | epochs 0@0
""",
    )

    assert [event[4] for event in outcome.history.trace if event[1:3] == (2, "lead")] == [1]
    assert outcome.mismatches == []


@pytest.mark.parametrize("verbs", [("hold", "release"), ("block", "unblock")])
def test_the_controllers_answers_can_be_held_and_lost(verbs):
    """The ISR is smaller, and A has not heard of it: m1 waits for B, and is acknowledged when A hears."""
    away, back = verbs
    outcome = run(f"""\
1. A leads.
   > {away} ISR answers to A
   > block fetch requests from B
   > send m1
   > until the ISR is A
   > run 20 ms
   > expect A: HW 0
   > {back} ISR answers to A
   > until m1 is acked
   > unblock fetch requests from B
   > until the ISR is A, B
""")

    assert [one for one in outcome.mismatches if "outcome" not in one and "in the end" not in one] == []


def test_a_registration_can_be_held():
    outcome = run(
        """\
1. B comes back.
   > write m1
   > hold registrations from B
   > crash B
   > until B is fenced
   > start B
   > run 2 s
   > until B is fenced within 1 ms
   > release registrations from B
   > until the ISR is A, B
""",
        GOOD_END.replace("unknown", "valid"),
    )

    assert [one for one in outcome.mismatches if "outcome" not in one and "in the end" not in one] == []


def test_a_paused_broker_does_nothing_until_it_resumes():
    outcome = run(
        """\
1. B sleeps for a second.
   > pause B
   > send m1
   > run 1 s
   > expect A: 0:m1
   > expect B: empty
   > resume B
   > until m1 is acked
"""
    )

    assert outcome.mismatches == []


def test_too_few_replicas_in_sync_refuse_a_write():
    text = TWO.replace("min ISR 1", "min ISR 2") + (
        "1. B stops.\n   > stop B\n   > run 1 s\n   > send m1\n   > run 1 s\n"
        "   > expect m1 failed with NOT_ENOUGH_REPLICAS\n   > read\n   > expect to read nothing\n"
    )
    outcome = run_scenario(parse_scenario(text + GOOD_END), "kafka-2.0")

    assert outcome.expected is None
    assert outcome.mismatches == []
    assert [op.error for op in outcome.history.ops if op.type == "fail"] == ["NOT_ENOUGH_REPLICAS"]


def test_a_command_for_other_variants_is_left_out():
    steps = "1. A leads.\n   > write m1\n   > [kafka-0.10, kafka-2.0 to kafka-2.1] crash A\n"

    assert run(steps).narrative[1].did == ("write m1",)
    assert run(steps, variant="kafka-2.1").narrative[1].did == ("write m1", "crash A")


def test_a_variant_nobody_spoke_about_can_be_tried():
    outcome = run_scenario(find("kip-279-scenario-1-n-20"), "kafka-2.0+truncation=kip101")

    assert outcome.expected is None
    assert outcome.matched
    assert {anomaly.name for anomaly in outcome.verdict.anomalies} == {
        "divergence",
        "log-matching",
        "strong-isr",
        "weak-isr",
    }


def test_a_variant_that_does_not_exist_is_refused():
    with pytest.raises(VariantError, match="unknown variant 'kafka-9'"):
        run_scenario(find("kip-279-scenario-2"), "kafka-9")


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.name)
def test_two_runs_are_equal(scenario):
    one, two = run_scenario(scenario, "kafka-2.0"), run_scenario(scenario, "kafka-2.0")

    assert one.digest == two.digest
    assert one.to_json() == two.to_json()
    assert one.history == two.history


def test_the_json_has_the_narrative_and_can_be_written():
    data = json.loads(json.dumps(run_scenario(find("log-divergence"), "kafka-2.0").to_json()))

    assert (data["scenario"], data["variant"], data["matched"]) == ("log-divergence", "kafka-2.0", True)
    assert data["summary"]["truncations"] == "r1 from 2 to 1"
    assert data["narrative"][4]["replicas"]["r1"] == {
        "role": "leader",
        "paused": False,
        "leader_epoch": 1,
        "log": "1:A 1:B",
        "log_start": 0,
        "leo": 2,
        "hw": 1,
        "epochs": [[1, 0]],
    }


def test_the_printed_run_shows_every_replica_after_every_step():
    console = Console(file=io.StringIO(), width=130)
    show_outcome(run_scenario(find("kip-101-data-loss"), "kafka-0.10"), console)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]

    assert "Truncation to the high watermark loses an acknowledged message" in lines
    assert "A  follower  0      0:m1 │ 0:m2   2    1   none" in lines
    assert "A  leader  1      0:m1 1:m3 │   2    2   none" in lines
    assert "  violation lost-committed-write m2, breaks documented, durable" in lines
    assert any(
        line.startswith("    Record m2 of t-0 (offset 1, epoch 0), committed by broker B in epoch 0") for line in lines
    )
    assert lines[-1] == "As expected: invalid."


def test_mismatches_are_printed():
    console = Console(file=io.StringIO(), width=130)
    show_outcome(run("1. A leads.\n   > write m1\n   > expect leader B\n"), console)

    assert console.file.getvalue().endswith("Not as expected:\n  line 8: the leader should be B, but is A\n")


def test_checkers_sentences_are_told_in_the_scripts_names():
    scenario = find("kip-101-data-loss")
    said = in_names(scenario, "Record 2 at broker 1; offset 1 held: 2 (send of p2), 3 (send of p3).")

    assert said == "Record m2 at broker B; offset 1 held: m2 (send of p2), m3 (send of p3)."

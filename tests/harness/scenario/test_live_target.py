"""The target on real processes, here side by side on this machine: everything that needs neither containers nor a firewall."""

from dataclasses import replace

import pytest

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.scenario import find, parse_scenario, run_scenario
from tidemark.harness.scenario.live.target import LiveTarget
from tidemark.harness.scenario.target import CannotPlayError
from tidemark.harness.systems.tidemark import TidemarkSystem

pytestmark = pytest.mark.slow

TIME_SCALE = 0.2
SYSTEM = TidemarkSystem()

HEAD = """\
name: two
title: Two brokers
source: none
brokers: A, B
cluster: acks all, min ISR 1, first epoch 3
"""
END = """\
outcome kafka-2.7: valid
  truncations: none
  A: leader | 3:m1 | HW 1 | epochs 3@0
  B: follower | 3:m1 | HW 1 | epochs 3@0
"""


@pytest.fixture
def play(tmp_path, local_nodes):
    """Acts a script out; further arguments are those of `run_scenario`."""

    def play(scenario, variant="kafka-2.7", system=SYSTEM, target=LiveTarget):
        def set_up(scenario, variant):
            nodes = local_nodes(tmp_path, scenario, variant, TIME_SCALE)
            nodes.system = system
            return target(scenario, variant, nodes, TIME_SCALE)

        return run_scenario(scenario, variant, set_up)

    return play


@pytest.fixture
def play_understood(play):
    """The same; what the nodes traced must be what their files hold."""

    def play_it(*what):
        outcome = play(*what)
        assert outcome.history.meta.keys().isdisjoint({"not_understood", "doubted_nodes"})
        return outcome

    return play_it


def test_given_logs_are_cut_and_answered_as_the_script_says(play_understood):
    outcome = play_understood(find("divergence-case-g"), "kafka-2.1")

    assert outcome.mismatches == []
    assert outcome.digest == ""
    assert outcome.summary["questions"] == {"follower": ["epoch 2 -> (1, 2)"]}
    assert outcome.history.meta["end_us"] == outcome.summary["real_us"] > 0
    times = [event[0] for event in outcome.history.trace]
    assert times == sorted(times)
    assert times[0] == 0


def test_the_bug_shows_where_the_rule_has_it(play_understood):
    outcome = play_understood(find("divergence-case-g"), "kafka-2.0+truncation=kip101")

    assert outcome.mismatches == []
    assert outcome.verdict.valid == "invalid"


@pytest.mark.parametrize("variant", [pytest.param("kafka-2.7", marks=pytest.mark.systems), "kafka-4.0"])
def test_a_controller_fails_and_another_one_takes_over(play_understood, variant):
    steps = """\
1. Nobody elects B while there is no controller.
   > write m1
   > until A, B have HW 1 on disk
   > crash the controller
   > elect B
   > run 1 s
   > expect leader A
   > expect A: leader | epoch 3
   > start the controller
   > elect B
   > until B leads epoch 4

outcome kafka-2.7, kafka-4.0: valid
  truncations: none
  A: follower | 3:m1 | HW 1 | epochs 3@0
  B: leader | 3:m1 | HW 1 | epochs 3@0 4@1
"""
    assert play_understood(parse_scenario(HEAD + steps), variant).mismatches == []


def test_a_controller_that_cannot_fail_alone_cannot_be_played(play):
    class Kept(TidemarkSystem):
        fail_controller = None

    with pytest.raises(CannotPlayError, match="the controller of tidemark cannot fail"):
        play(find("kip-101-data-loss"), "kafka-0.10", Kept())


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("added-replica-fails", "kafka-4.0"),
        pytest.param("added-replica-fails", "kafka-2.1", marks=pytest.mark.systems),
        pytest.param("kafka-15665-leader-moved", "kafka-3.7", marks=pytest.mark.systems),
    ],
)
def test_replicas_move(play_understood, name, variant):
    assert play_understood(find(name), variant).mismatches == []


def test_messages_are_held_lost_and_let_through(play_understood):
    """Rules outlast the process that they are put on. B's restart costs it the ISR, and A a leader epoch."""
    steps = """\
1. Nothing that A answers reaches B, and B cannot ask.
   > block fetch responses
   > send m1
   > until A has LEO 1
   > run 1 s
   > expect not acked m1
   > hold fetch requests from B
   > crash B
   > start B
   > until B follows A in epoch 4
   > run 1 s
   > expect B: follower | empty
   > unblock fetch responses
   > run 1 s
   > expect B: empty
   > release fetch requests from B
   > until the ISR is A, B
   > expect acked m1
   > read
   > expect to read m1
   > read from B
   > expect to read m1

outcome kafka-2.7: valid
  truncations: none
  A: leader | 3:m1 | HW 1 | epochs 3@0 4@1
  B: follower | 3:m1 | HW 1 | epochs 3@0
"""
    outcome = play_understood(parse_scenario(HEAD + steps))

    assert outcome.mismatches == ["line 27: the consumer should have read m1, but was refused"]


def test_processes_stop_pause_lose_power_and_lose_their_disk(play_understood):
    steps = """\
1. B sleeps, stops, loses its disk; A loses what it had not synced.
   > pause B
   > send m1
   > run 1 s
   > expect A: leader | 3:m1 | LEO 1 | HW 0
   > resume B
   > until m1 is acked
   > until A, B have HW 1 on disk
   > stop B
   > expect B: down | 3:m1 | HW 1
   > wipe B
"""
    outcome = play_understood(parse_scenario(HEAD + steps + END))

    assert outcome.mismatches == [
        "line 16: broker B is not running",
        "the steps after that were not carried out, and the outcome was not compared",
    ]
    assert [event[2:5] for event in outcome.history.trace if event[1:3] == (2, "stop")] == [("stop", "", "clean")]
    assert [event[2] for event in outcome.history.trace if event[2] in ("pause", "resume")] == ["pause", "resume"]


def test_power_loss_keeps_what_the_script_says(play_understood):
    steps = """\
1. A loses one batch of two, and B takes over; B's disk is lost, too.
   > write m1
   > write m2
   > until A, B have HW 2 on disk
   > power off A keeping 1 batch
   > expect A: down | 3:m1 | HW 1
   > until B leads within 20 s
   > wipe B
   > expect B: down | empty
   > start A
   > start B
   > elect A uncleanly
   > until all is at rest
"""
    outcome = play_understood(parse_scenario(HEAD + steps + END), "kafka-2.0")

    assert [words for words in outcome.mismatches if not words.startswith("line 20")] == []
    assert [(event[1], event[4]) for event in outcome.history.trace if event[2] == "stop"] == [
        (1, "power"),
        (2, "disk"),
    ]
    lost = [event[6] for event in outcome.history.trace if event[2] == "recovered" and event[1] == 1]
    assert lost[-1] == 1


def test_a_wait_has_its_bound_in_real_time_and_says_how_things_stand(play):
    outcome = play(parse_scenario(f"{HEAD}1. A leads.\n   > write m1\n   > until B leads within 1 s\n{END}"))

    standing = "the leader is A, A leader epoch 3 LEO 1 HW 1 log 3:m1; B follower epoch 3 LEO 1 HW"
    assert outcome.mismatches[0].startswith(f"line 8: waited {TIME_SCALE:g} s until B leads; {standing}")


def test_a_system_that_does_not_understand_its_evidence_makes_the_outcome_unknown(play):
    class Puzzled(TidemarkSystem):
        def interpret(self, found):
            return replace(found, not_understood=["a riddle"])

    outcome = play(parse_scenario(f"{HEAD}1. A leads.\n   > write m1\n{END}"), system=Puzzled())

    assert outcome.history.meta["not_understood"] == ["a riddle"]
    assert (outcome.verdict.valid, outcome.verdict.unknown_because) == (
        "unknown",
        "the replicas' evidence was not understood: a riddle",
    )


def test_a_broker_that_dies_behind_the_scripts_back_is_a_finding(play):
    class Haunted(LiveTarget):
        def run(self, duration_us):
            if self._nodes.died:
                super().run(duration_us)
            else:
                self._nodes.controls[2].kill()

    outcome = play(parse_scenario(f"{HEAD}1. A leads.\n   > write m1\n   > run 1 s\n{END}"), target=Haunted)

    (death,) = outcome.history.meta["died"]
    assert (death["node"], death["incarnation"], death["how"]) == (2, 1, "broken-off")
    assert [event[1:] for event in outcome.history.trace if event[2] == "stop"] == [(2, "stop", "", "crash")]
    assert outcome.verdict.valid == "invalid"
    assert [one.evidence["node"] for one in outcome.verdict.named("broker-crashed")] == [2]


def test_a_machine_that_cannot_be_made_ready_ends_the_run(tmp_path, local_nodes):
    def fail():
        raise NodeError("b1 cannot be cleaned")

    def set_up(scenario, variant):
        nodes = local_nodes(tmp_path, scenario, variant, TIME_SCALE)
        nodes.clean = fail
        return LiveTarget(scenario, variant, nodes, TIME_SCALE)

    with pytest.raises(NodeError, match="b1 cannot be cleaned"):
        run_scenario(find("divergence-case-a"), "kafka-2.7", set_up)


def test_a_client_deletes_a_broker_retains_and_a_consumer_begins_where_the_log_does(play_understood):
    steps = """\
1. A client deletes the first two records; later B's retention drops two batches, and B restarts.
   > write m1
   > write m2..m3
   > write m4
   > until B has HW 4
   > delete records before 2
   > until A, B have log start 2
   > expect A: leader | 3:m3 3:m4 | log start 2 | LEO 4 | HW 4 | epochs 3@2
   > read
   > expect to read m3..m4
   > until B has log start 2 on disk
   > retention on B drops 2 batches
   > until B has log start 3
   > crash B
   > expect B: down | 3:m4 | log start 3 | LEO 4
   > start B
   > until B follows A
   > expect B: follower | 3:m4 | log start 3 | LEO 4
   > delete records before 9
"""
    outcome = play_understood(parse_scenario(HEAD + steps + END))

    assert outcome.mismatches == [
        "line 24: A does not delete: OFFSET_OUT_OF_RANGE",
        "the steps after that were not carried out, and the outcome was not compared",
    ]
    deleted = [(op.type, op.value, op.error) for op in outcome.history.ops if op.f == "delete"]
    assert deleted == [
        ("invoke", (("delete", "t-0", 2),), None),
        ("ok", (("delete", "t-0", 2),), None),
        ("invoke", (("delete", "t-0", 9),), None),
        ("fail", (("delete", "t-0", 9),), "OFFSET_OUT_OF_RANGE"),
    ]
    starts = [(event[1], event[4], event[6]) for event in outcome.history.trace if event[2] == "log-start"]
    assert starts == [(1, 2, "delete-records"), (2, 2, "leader"), (2, 3, "retention"), (2, 3, "recovered")]
    assert outcome.verdict.anomalies == ()


@pytest.mark.parametrize(
    "variant",
    ["kafka-2.1", *(pytest.param(name, marks=pytest.mark.systems) for name in ("kafka-0.10", "kafka-2.1+KAFKA-6975"))],
)
def test_who_comes_back_below_the_log_start_begins_anew(play_understood, variant):
    assert play_understood(find("kafka-6975-deletion-inside-a-batch"), variant).mismatches == []


def test_a_system_whose_retention_nobody_commands_says_so(play):
    class Retentive(TidemarkSystem):
        retain = None

    with pytest.raises(CannotPlayError, match="nobody can tell a broker of tidemark when its retention deletes"):
        play(
            parse_scenario(f"{HEAD}1. A leads.\n   > write m1\n   > retention on A drops 1 batches\n{END}"),
            system=Retentive(),
        )

"""All pairs, played by a stand-in for real brokers: what is kept, resumed, played again, counted."""

import json
import os
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tidemark.harness.conform import kept_pair as format_of
from tidemark.harness.conform import play_all
from tidemark.harness.conform.kept_pair import KeptPair, kept_pair
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.conform.pairs import all_pairs
from tidemark.harness.conform.play_all import play_missing
from tidemark.harness.conform.totals import not_shown, totals
from tidemark.harness.machines.errors import EngineError, NodeError
from tidemark.harness.runs.kept_results import FolderInUseError, KeptResults
from tidemark.harness.scenario import parse_scenario, run_scenario
from tidemark.harness.scenario.simulated import SimulatedTarget
from tidemark.harness.scenario.target import CannotPlayError, ScriptError
from tidemark.harness.systems.kafka.system import KafkaSystem

SCRIPT = """\
name: NAME
title: Two brokers
source: none
brokers: A, B
cluster: acks all, min ISR 1, lag time 5 s

1. B leads.
   > write m1
   > until A, B have HW 1
   > elect B
   > until B leads
   > until A follows B
   > write m2

outcome kafka-0.10, kafka-2.7: unknown
  truncations: none
  A: follower | 0:m1 | HW 1 | epochs 0@0
  B: leader | 0:m1 | HW 1 | epochs 0@0
"""
GIVEN = SCRIPT.replace("\n1. ", "\ngiven:\n  A: 0:g1 | HW 1 | epochs 0@0\n  B: 0:g1 | HW 1 | epochs 0@0\n\n1. ")
SHY = KnownDifference("B is shy", "KAFKA-0", "one", "kafka:2.8.2@*", "HW of B")
LATE = KnownDifference("B is late", "KAFKA-1", "*", "kafka:*", "role of B")


class LowHighWatermark(SimulatedTarget):
    """Says in the end that B's high watermark is 1."""

    def state(self, broker):
        seen = super().state(broker)
        return seen._replace(hw=1) if broker == 2 and seen.leo == 2 else seen


def script(name, text=SCRIPT):
    return parse_scenario(text.replace("NAME", name), name)


def kafka(*names):
    return {name: KafkaSystem.parse(name, {}) for name in names}


class World:
    """Where pairs are played: what each play comes to, in turn (a kind of target, or an error; `SimulatedTarget` when there are no
    more), and what was done.
    """

    def __init__(self, folder):
        self.results = KeptResults(folder)
        self.scripts = [script("one"), script("two")]
        self.systems = kafka("kafka:2.8.2")
        self.deeds = []
        self.played = []
        self.opened = []
        self.renewed = 0

    def pairs(self):
        return [(pair, kept_pair(pair, self.results)) for pair in all_pairs(self.scripts, self.systems)]

    def run(self, *deeds, tries=1):
        """As the command does; gives what is kept by (script, system)."""
        self.deeds, self.played, self.opened, self.renewed = list(deeds), [], [], 0
        pairs = self.pairs()
        watcher = SimpleNamespace(doing=lambda pair, words: None, came_out=lambda pair, kept: None)
        play_missing(pairs, self.results, self.open, watcher, tries=tries)
        return {(kept.scenario, kept.system): kept for _, kept in pairs}

    @contextmanager
    def open(self, on, pairs):
        self.opened.append(on)
        yield SimpleNamespace(name="kafka", repeats=True, play=self.play, renew=self.renew)

    def play(self, pairing, tell):
        self.played.append((pairing.scenario.name, pairing.system))
        tell("starting")
        deed = self.deeds.pop(0) if self.deeds else SimulatedTarget
        if isinstance(deed, BaseException):
            raise deed
        return run_scenario(pairing.scenario, pairing.model, deed, plays=pairing.preset)

    def renew(self):
        self.renewed += 1

    def files(self):
        return {path.name: json.loads(path.read_text()) for path in sorted(self.results.folder.glob("*.json"))}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "results")


OLD, NEW = "kafka:2.8.2@0.10.2", "kafka:2.8.2@2.8"
ALL = [("one", OLD), ("two", OLD), ("one", NEW), ("two", NEW)]


# Which pairs there are


def test_every_script_meets_every_protocol(world):
    told = [(pair.pairing.scenario.name, pair.pairing.system, pair.cannot) for pair, _ in world.pairs()]

    assert told == [
        (
            name,
            f"kafka:2.8.2@{protocol}",
            f"the script says nothing of {preset}" if protocol in {"0.11.0", "2.0", "2.1"} else "",
        )
        for protocol, preset in (
            ("0.10.2", "kafka-0.10"),
            ("0.11.0", "kafka-0.11"),
            ("2.0", "kafka-2.0"),
            ("2.1", "kafka-2.1"),
            ("2.8", "kafka-2.7"),
        )
        for name in ("one", "two")
    ]


def cannot(text, system="kafka:2.8.2@2.8"):
    (pair,) = all_pairs([script("one", text)], kafka(system))
    return pair.cannot


def test_a_script_that_begins_with_given_logs_cannot_be_played():
    assert cannot(GIVEN).startswith("kafka:2.8.2@2.8 cannot begin with given logs")


def test_nor_one_that_the_model_does_not_carry_out():
    assert cannot(SCRIPT.replace("> write m2", "> until A is fenced within 1 s")).startswith(
        "its model, kafka-2.7+KAFKA-14704+KAFKA-9672+KAFKA-13091, does not come to the script's end: line 13: waited"
    )


def test_nor_any_on_a_version_whose_lines_nobody_has_verified():
    assert cannot(SCRIPT, "kafka:2.4.1@0.10.2").startswith("The log lines of Kafka 2.4.1 have not been verified")


def test_what_cannot_be_played_is_kept_with_the_reason_and_not_counted(world):
    kept = world.run().values()

    assert sorted(one.cannot for one in kept if one.cannot) == sorted(
        2 * [f"the script says nothing of {preset}" for preset in ("kafka-0.11", "kafka-2.0", "kafka-2.1")]
    )
    assert (totals(list(kept), ()).pairs, totals(list(kept), ()).cannot) == (4, 6)
    assert len(world.files()) == 10
    assert "the script says nothing of kafka-2.0" in [data["cannot"] for data in world.files().values()]


# Going on


def test_everything_is_played_once_and_then_nothing_is(world):
    first = world.run()

    assert world.played == ALL
    assert world.opened == ["kafka:2.8.2"]
    assert {kept.standing(()) for kept in first.values() if not kept.cannot} == {"equal"}

    second = world.run()

    assert (world.played, world.opened) == ([], [])
    assert {key: kept.to_json() for key, kept in second.items()} == {key: kept.to_json() for key, kept in first.items()}


def test_a_run_that_was_ended_goes_on_with_what_is_missing(world):
    with pytest.raises(KeyboardInterrupt):
        world.run(SimulatedTarget, SimulatedTarget, KeyboardInterrupt())
    assert world.played == ALL[:3]

    world.run()

    assert world.played == ALL[2:]


def test_each_try_is_kept_as_soon_as_it_is_known(world):
    with pytest.raises(KeyboardInterrupt):
        world.run(SimulatedTarget, LowHighWatermark, KeyboardInterrupt(), tries=3)

    kept = world.run(tries=3)

    assert world.played == [ALL[0], *[pair for pair in ALL[1:] for _ in range(3)]]
    (difference,) = kept[ALL[0]].differences([])
    assert (difference.aspect, difference.model, difference.seen) == ("HW of B", "2", "1")
    assert (difference.tries, difference.times) == (1, 3)


def test_more_tries_are_added_to_those_there_are(world):
    world.run()
    kept = world.run(tries=2)

    assert world.played == ALL
    assert [len(one.tries) for one in kept.values() if not one.cannot] == [2, 2, 2, 2]
    assert world.run(tries=1)[ALL[0]].lacks(1) == 0
    assert world.played == []


def test_each_try_leaves_its_history(world):
    world.run(tries=2)
    names = sorted(path.name for path in (world.results.folder / "histories").iterdir())

    assert len(names) == 8
    assert names[:2] == [f"one--kafka-2.8.2@0.10.2--kafka-0.10--try-{n}.jsonl" for n in (1, 2)]


def test_a_result_names_who_played_it_when(world, monkeypatch):
    monkeypatch.setattr(play_all, "commit_of_code", lambda: "0123456789ab+")
    (one,) = world.run()[ALL[0]].tries

    assert (one.commit, one.doubts) == ("0123456789ab+", ())
    assert one.played[4:5] + one.played[-1] == "-Z"
    assert 0 <= one.seconds < 60


# Playing again


def test_a_script_that_changed_is_played_again_and_no_other(world):
    world.run()
    world.scripts[1] = script("two", SCRIPT.replace("title: Two brokers", "title: Another title"))
    world.run()

    assert world.played == [ALL[1], ALL[3]]


def test_a_model_that_ends_otherwise_is_played_again(world, monkeypatch):
    world.run()
    ending = play_all.ending
    monkeypatch.setattr(
        "tidemark.harness.conform.pairs.ending",
        lambda outcome: (
            _with(ending(outcome), "HW of B", "9")
            if outcome.variant == "kafka-2.7+KAFKA-14704+KAFKA-9672+KAFKA-13091"
            else ending(outcome)
        ),
    )
    kept = world.run()

    assert world.played == ALL[2:]
    assert [found.aspect for found in kept[ALL[2]].differences([])] == ["HW of B"]


def _with(told, aspect, text):
    return type(told)({**told.values, aspect: text}, told.elections, told.spent, told.epochs)


def test_another_format_is_played_again(world, monkeypatch):
    world.run()
    monkeypatch.setattr(format_of, "FORMAT", format_of.FORMAT + 1)
    world.run()

    assert world.played == ALL


def test_while_something_is_played_again_what_was_kept_holds_no_more(world):
    world.run()
    world.scripts[0] = script("one", SCRIPT.replace("title: Two brokers", "title: Another title"))
    with pytest.raises(KeyboardInterrupt):
        world.run(KeyboardInterrupt())

    assert [len(data["tries"]) for data in world.files().values() if data["cannot"] is None] == [0, 0, 1, 1]


# What goes wrong


@pytest.mark.parametrize("torn", [b"", b'{"format": 1, "tries": [', b"[1]", b'{"format": 1}', b"\xff\xfe"])
def test_a_file_that_is_no_result_is_none(world, torn):
    world.run()
    victim = world.results.path(world.pairs()[0][0].name)
    victim.write_bytes(torn)
    world.run()

    assert world.played == [ALL[0]]


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_write_that_is_interrupted_leaves_the_result_as_it_was(world, monkeypatch, moment):
    world.run()
    before = world.files()

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os if moment == "fsync" else type(world.results.folder), moment, fail)
        with pytest.raises(OSError, match="No space left"):
            world.results.write(next(iter(before)).removesuffix(".json"), {"half": "a result"})

    assert world.files() == before
    assert [path.name for path in world.results.folder.iterdir() if path.suffix == ".new"] == []


def test_a_pair_that_could_not_be_played_says_why_and_is_tried_again_last(world):
    down = NodeError("b1 does not answer")
    kept = world.run(down, down)

    assert (kept[ALL[0]].failure, kept[ALL[0]].standing(())) == ("b1 does not answer", "not carried out")
    assert world.played == [ALL[0], *ALL]  # begun anew once
    assert world.renewed == 2
    assert totals(list(kept.values()), ()).failed == 1

    with pytest.raises(KeyboardInterrupt):
        world.run(KeyboardInterrupt(), tries=2)
    assert world.played == [ALL[1]]

    assert world.run()[ALL[0]].standing(()) == "equal"
    assert world.played == [ALL[0]]


def test_a_failure_takes_no_try_away(world):
    world.run(SimulatedTarget, ScriptError("nobody votes"), ScriptError("nobody votes"), tries=2)
    kept = world.run(tries=2)[ALL[0]]

    assert world.played == [ALL[0]]
    assert (len(kept.tries), kept.failure) == (2, "")


def test_without_machines_there_is_no_next_pair(world):
    gone = EngineError("there is no engine")
    with pytest.raises(EngineError):
        world.run(SimulatedTarget, gone, gone)
    assert world.played == [ALL[0], ALL[1], ALL[1]]

    world.run()

    assert world.played == ALL[1:]


def test_what_turns_out_to_be_unplayable_is_kept_and_not_counted(world):
    kept = world.run(CannotPlayError("there is no such command"))
    assert kept[ALL[0]].standing(()) == "cannot be played"
    assert world.played == ALL

    again = world.run()
    assert world.played == []
    assert again[ALL[0]].cannot == "there is no such command"
    assert totals(list(again.values()), ()).pairs == 3

    world.scripts[0] = script("one", SCRIPT.replace("title: Two brokers", "title: Another title"))
    world.run()
    assert world.played == [ALL[0], ALL[2]]


def test_who_holds_a_folder_alone_holds_it_alone(world):
    again = KeptResults(world.results.folder)
    for one, other in [(True, True), (True, False), (False, True)]:
        with world.results.held(alone=one), pytest.raises(FolderInUseError, match="another tidemark writes into"):
            again.held(alone=other).__enter__()
    with world.results.held(alone=False), again.held(alone=False):
        pass
    with world.results.held(alone=True):
        pass


def test_a_result_is_claimed_once(world):
    again = KeptResults(world.results.folder)
    with world.results.claimed("a") as ours, again.claimed("a") as too, again.claimed("b") as other:
        assert (ours, too, other) == (True, False, True)
    with again.claimed("a") as ours:
        assert ours


def test_a_pair_that_another_process_plays_is_passed_over(world):
    (first,) = [pair for pair, _ in world.pairs() if (pair.pairing.scenario.name, pair.pairing.system) == ALL[0]]
    with KeptResults(world.results.folder).claimed(first.name):
        found = world.run()
    assert world.played == ALL[1:]
    assert found[ALL[0]].lacks(1)

    world.run()
    assert world.played == [ALL[0]]


def test_what_another_process_has_played_meanwhile_is_not_played_again(world):
    other = World(world.results.folder)
    opened = world.open

    @contextmanager
    def open_late(on, pairs):
        other.run()
        with opened(on, pairs) as player:
            yield player

    world.open = open_late
    found = world.run()
    assert (other.played, world.played) == (ALL, [])
    assert {kept.standing(()) for kept in found.values() if not kept.cannot} == {"equal"}


# How they came out


def test_an_explained_difference_is_one_although_it_was_explained_later(world):
    (kept,) = [one for key, one in world.run(LowHighWatermark).items() if key == ALL[0]]

    assert kept.standing([]) == "unexplained"
    assert kept.standing([SHY]) == "explained"
    assert kept.standing([LATE]) == "unexplained"


def test_totals(world):
    down = ScriptError("nobody votes")
    kept = list(world.run(LowHighWatermark, LowHighWatermark, down, down).values())

    assert totals(kept, [SHY]).to_json() == {
        "pairs": 4,
        "played": 3,
        "equal": 1,
        "explained": 1,
        "unexplained": 1,
        "failed": 1,
        "missing": 0,
        "cannot": 6,
        "tries": 3,
    }
    assert totals([KeptPair.of(pair) for pair, _ in world.pairs()], [SHY]).missing == 4


def test_a_known_difference_that_should_show_and_does_not_is_told(world):
    sometimes = KnownDifference("B is late", "KAFKA-1", "*", "kafka:*", "role of B", always=False)
    elsewhere = KnownDifference("B is late", "KAFKA-1", "*", "kafka:4.*", "role of B")

    assert not_shown(list(world.run(LowHighWatermark).values()), [SHY, LATE, sometimes, elsewhere]) == [LATE]

import json
from functools import partial

import pytest

from tidemark.harness.scenario import parse_scenario, run_scenario
from tidemark.harness.search.explore import search, states
from tidemark.harness.search.explore.bounds import Bounds, BoundsError
from tidemark.harness.search.explore.fingerprints import Fingerprints
from tidemark.harness.search.explore.invariants import Checks
from tidemark.harness.search.explore.moves import Kind
from tidemark.harness.search.explore.priorities import walk
from tidemark.harness.search.explore.script import NoScriptError, as_script
from tidemark.harness.search.explore.search import Limits, explore
from tidemark.harness.search.explore.truth_table import CELLS, cells_with, run_cell
from tidemark.harness.search.explore.words import summary, told
from tidemark.harness.search.explore.world import World
from tidemark.nodes.core.variant import parse_variant

TWO = Bounds(brokers=2, records=2, epochs=3)


def found(variant, bounds, *invariants, **limits):
    return explore(parse_variant(variant), bounds, invariants, Limits(**limits))


@pytest.mark.parametrize("variant", ["kafka-2.1", "kafka-2.7", "kafka-3.7", "kafka-4.0"])
def test_two_brokers_hold_exhaustively_from_2_1_on(variant):
    result = found(variant, TWO, "WeakIsr", "StrongIsr", "LogMatchingHw", "LeaderInIsrOrNone", "OneLeader", "HwInLog")

    assert result.outcome == "holds"
    assert result.states > 1_000


def test_the_shortest_divergence_of_kip_101():
    """PROTOCOL: b1 leads e0, writes; b2 leads e1, writes; b1 leads e2; b2 asks for epoch 1, is told 1, and keeps its record."""
    result = found("kafka-2.0+truncation=kip101", TWO, "LogMatchingHw")

    kinds = [move.kind for move, _ in result.steps]
    assert result.outcome == "broken"
    assert kinds.count(Kind.ELECT) == 2
    assert kinds.count(Kind.APPEND) == 2
    assert kinds.count(Kind.ASK) == 1
    assert "has a record of epoch" in result.why


def test_it_holds_where_the_answer_names_the_epoch():
    assert found("kafka-2.1", TWO, "LogMatchingHw").outcome == "holds"


def test_without_an_epoch_less_there_is_no_divergence():
    assert (
        found("kafka-2.0+truncation=kip101", Bounds(brokers=2, records=2, epochs=2), "LogMatchingHw").outcome == "holds"
    )


def test_merging_brokers_changes_no_answer(monkeypatch):
    """Three names can be given in six ways; the first leader is known by its epoch, so the other two count."""
    small = Bounds(brokers=3, records=1, epochs=2)
    merged, merged_all = found("kafka-2.1+truncation=hw", small, "StrongIsr"), found("kafka-2.7", small, "StrongIsr")
    for module in (states, search):
        monkeypatch.setattr(module, "Fingerprints", partial(Fingerprints, merging=False))
    named, named_all = found("kafka-2.1+truncation=hw", small, "StrongIsr"), found("kafka-2.7", small, "StrongIsr")

    assert len(named.steps) == len(merged.steps)
    assert named_all.outcome == merged_all.outcome == "holds"
    assert 1.5 * merged_all.states < named_all.states <= 6 * merged_all.states


def test_every_step_of_a_counterexample_is_a_move_of_the_world():
    result = found("kafka-2.1+truncation=hw", Bounds(brokers=3, records=1, epochs=2), "StrongIsr")

    state, checks = result.first, Checks(result.world, ("StrongIsr",))
    for move, then in result.steps:
        assert checks.broken(state) is None
        assert (move, then) in result.world.successors(state)
        state = then
    assert checks.broken(state) == (result.invariant, result.why)


@pytest.mark.slow
def test_the_missed_reign_is_found_and_its_script_plays():
    """Kafka's KRaft brokers, with one record: the finding of docs/findings/missed-reign.md, from nothing."""
    bounds = Bounds(brokers=3, records=1, epochs=3)

    result = found("kafka-3.7", bounds, "StrongIsr")

    assert result.outcome == "broken"
    assert len(result.steps) == 11
    heard = [move for move, _ in result.steps if move.kind is Kind.HEAR]
    assert [move.number for move in heard].count(1) == 1
    text, played = as_script(result, "kafka-3.7", bounds)
    assert {"strong-isr", "weak-isr"} <= {anomaly.name for anomaly in played.verdict.anomalies}
    again = run_scenario(parse_scenario(text), "kafka-3.7")
    assert again.matched, again.mismatches


def test_a_short_counterexample_plays_as_a_script():
    bounds = Bounds(brokers=2, records=2, epochs=3, leadership="late")
    variant = "kafka-2.0+truncation=kip101"

    text, played = as_script(found(variant, bounds, "LogMatchingHw"), variant, bounds)

    assert "log-matching" in {anomaly.name for anomaly in played.verdict.anomalies}
    assert run_scenario(parse_scenario(text), variant).matched


def test_what_a_broker_of_zookeepers_cannot_do_is_no_script():
    """The missed reign with ZooKeeper, whose controller tells a broker of every reign."""
    bounds = Bounds(brokers=3, records=1, epochs=3)
    result = found("kafka-2.1", bounds, "StrongIsr")

    assert result.outcome == "broken"
    with pytest.raises(NoScriptError, match="with ZooKeeper a broker hears of every reign"):
        as_script(result, "kafka-2.1", bounds)


def test_a_search_gives_up_and_says_so():
    result = found("kafka-2.1", Bounds(brokers=3, records=2, epochs=3), "StrongIsr", states=100)

    assert result.outcome == "unfinished"
    assert result.states > 100
    assert summary(result, "these").startswith("not finished: ")


def test_two_searches_tell_the_same():
    one = found("kafka-2.1+truncation=hw", Bounds(brokers=3, records=1, epochs=2), "StrongIsr")
    other = found("kafka-2.1+truncation=hw", Bounds(brokers=3, records=1, epochs=2), "StrongIsr")

    assert (one.states, one.moves, told(one)) == (other.states, other.moves, told(other))


def test_a_counterexample_is_told_in_words():
    lines = told(found("kafka-2.1+truncation=hw", Bounds(brokers=3, records=1, epochs=2), "StrongIsr"))

    assert lines[:3] == [
        "0. All know that broker 1 leads epoch 0, and their logs are empty.",
        "1. A producer's record reaches broker 1, which thinks that it leads.",
        "     1: leader | epoch 0 | 0:m1 | LEO 1 | HW 0 | ISR 1, 2, 3 | knows of no follower",
    ]


def test_unclean_elections_lose_what_was_committed():
    bounds = Bounds(brokers=2, records=1, epochs=2, unclean=True)

    result = found("kafka-2.7", bounds, "LeaderCompleteness")

    assert result.outcome == "broken"
    assert Kind.ELECT_UNCLEAN in {move.kind for move, _ in result.steps}
    assert found("kafka-2.7", Bounds(brokers=2, records=1, epochs=2), "LeaderCompleteness").outcome == "holds"


@pytest.mark.parametrize("variant", ["kafka-2.1", "kafka-2.7", "kafka-3.7", "kafka-4.0"])
def test_a_crash_and_a_lapse_lose_nothing_with_two_brokers(variant):
    bounds = Bounds(brokers=2, records=1, epochs=3, crashes=1, lapses=1, leadership="late")

    assert found(variant, bounds, "StrongIsr", "LogMatchingHw", "LeaderCompleteness").outcome == "holds"


def test_leadership_at_once_leaves_nothing_unheard():
    world = World(parse_variant("kafka-2.1"), Bounds(brokers=3, records=1, epochs=2, leadership="at-once"))
    elected = [then for move, then in world.successors(world.first()) if move.kind is Kind.ELECT]

    assert elected
    for state in elected:
        assert all(not world.places.values[number].unheard for number in state[1:])


def test_walks_find_what_is_near_and_are_the_same_each_time():
    bounds = Bounds(brokers=3, records=3, epochs=3)
    one, other = (
        walk(parse_variant("kafka-2.1+truncation=hw"), bounds, ("StrongIsr",), walks=500, depth=40, seed=3)
        for _ in range(2)
    )

    assert one.outcome == "broken"
    assert not one.shortest
    assert told(one) == told(other)
    assert "no fewer" not in summary(one, "these")


def test_walks_prove_nothing():
    result = walk(parse_variant("kafka-2.7"), TWO, ("StrongIsr",), walks=5, depth=10)

    assert result.outcome == "unfinished"


@pytest.mark.parametrize("words", [("hw, StrongIsr",), ("no fences", "3", "StrongIsr", "3/2/3")])
def test_small_cells_of_the_truth_table(words):
    (cell,) = cells_with(words)

    row = run_cell(cell)

    assert row.outcome == cell.expected
    assert not row.differs


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell", [c for c in CELLS if c.bounds.brokers == 2 or c.expected == "broken"], ids=lambda c: c.name + c.variant
)
@pytest.mark.systems
def test_cells_of_the_truth_table_that_take_seconds(cell):
    assert run_cell(cell).outcome == cell.expected


def test_names_of_cells_are_their_own():
    names = [(cell.name, cell.variant) for cell in CELLS]

    assert len(set(names)) == len(names)
    assert json.dumps([cell.bounds.in_words() for cell in CELLS])


@pytest.mark.parametrize("wrong", [{"brokers": 0}, {"brokers": 6}, {"epochs": 0}, {"records": -1}, {"min_isr": 4}])
def test_impossible_bounds_are_refused(wrong):
    with pytest.raises(BoundsError):
        Bounds(**wrong)


def test_faults_happen_as_often_as_they_may():
    """A process that goes on loses its session once; one that crashed loses it for nothing, and both come back."""
    world = World(parse_variant("kafka-2.7"), Bounds(brokers=2, records=0, epochs=4, crashes=1, lapses=1))
    reached, waiting = {world.first(): ()}, [world.first()]
    for state in waiting:
        for move, then in world.successors(state):
            if then not in reached:
                kinds = reached[state]
                reached[then] = (
                    (*kinds, move.kind) if move.kind in (Kind.CRASH, Kind.LAPSE, Kind.RETURN, Kind.START) else kinds
                )
                waiting.append(then)

    assert {kind for kinds in reached.values() for kind in kinds} == {Kind.CRASH, Kind.LAPSE, Kind.RETURN, Kind.START}
    assert max(kinds.count(Kind.CRASH) for kinds in reached.values()) == 1
    assert max(kinds.count(Kind.LAPSE) for kinds in reached.values()) == 2
    assert max(kinds.count(Kind.LAPSE) for kinds in reached.values() if Kind.CRASH not in kinds) == 1

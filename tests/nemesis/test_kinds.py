"""The table of kinds: its rows hang together, and every page and list that names kinds names these."""

import re
from pathlib import Path

import pytest

from tidemark.checkers.replicas.liveness.faults_in_force import _UNTOLD, FaultsInForce
from tidemark.harness.systems.kafka.system import KafkaSystem
from tidemark.harness.systems.outside.adapter import NOT_SUFFERED
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import KINDS, Fault
from tidemark.nemesis.kind import Part, Unit
from tidemark.nemesis.kinds import FAILS_LOG_DIRS, SECOND, by_kind, is_over_at_once

PAGE = (Path(__file__).parents[2] / "docs/faults.md").read_text(encoding="utf-8")
ROWS = [row for row in PAGE.partition("## Kinds")[2].partition("\n\n¹")[0].splitlines() if row.startswith("| `")]


def worlds_of(kind):
    """Where it can strike: the simulator, our own nodes, Kafka's brokers, systems that are seen from outside."""
    needs, real = KINDS[kind].needs, not KINDS[kind].only_simulated
    able = {"retention": "retain", "reassignment": "reassign", "membership": "leave", "settings": "set_min_isr"}
    able["log-directories"], able["dynamic-quorum"] = "move_log", "change_voter"
    if kind in FAILS_LOG_DIRS:
        able["log-directories"] = "fail_log_dir"
    of_nodes = [
        real and all(hasattr(system, method) for need, method in able.items() if need in needs)
        for system in (TidemarkSystem, KafkaSystem)
    ]
    there = (not KINDS[kind].only_real, *of_nodes, kind not in NOT_SUFFERED)
    return "".join(letter for letter, has in zip("SNKO", there, strict=True) if has)


def named(row):
    """The kinds in the first column of a row."""
    return re.findall(r"`([a-z-]+)`", row.split("|")[1])


def test_the_page_has_every_kind_once_and_no_other():
    assert sorted(kind for row in ROWS for kind in named(row)) == sorted(KINDS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: ", ".join(named(row)))
def test_the_page_says_what_the_table_says_of_healing_and_worlds(row):
    healing, where = (cell.strip() for cell in row.rstrip("|").split("|")[-2:])
    for kind in named(row):
        assert ("SNKO" if where == "all" else where) == worlds_of(kind)
        of_one_way_only = ("²" if "lasting-controller" in KINDS[kind].needs else "") + (
            "¹" if KINDS[kind].only_real else ""
        )
        assert KINDS[kind].doing.at_once == (healing == "–")
        assert KINDS[kind].only_simulated == ("⁵" in row)
        assert ("retention" in KINDS[kind].needs) == ("³" in row)
        assert (KINDS[kind].on is Part.TALK) == ("⁴" in row)
        assert of_one_way_only == "".join(mark for mark in "²¹" if mark in row)


def test_what_is_gentler_is_a_kind_and_ends_somewhere():
    for row in KINDS.values():
        steps = [row.word]
        while KINDS[steps[-1]].gentler:
            steps.append(KINDS[steps[-1]].gentler)
            assert len(steps) == len(set(steps))


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        ("lossy", 1000),
        ("delete-records", 2000),
        ("slow", 86_400 * SECOND),
        ("clock-jump", 86_400 * SECOND),
        ("cut-tail", 1000),
        ("flip-bits", 1_000_000),
    ],
)
def test_an_amount_has_a_bound(kind, most):
    assert KINDS[kind].amount.most == most


def test_only_times_of_the_protocol_are_scaled():
    assert {word for word in KINDS if Fault(word, 0).amount_is_time} == {
        *("slow", "late-leadership", "slow-controller", "late-isr-changes", "late-heartbeats", "late-registrations"),
        *("power-metadata", "power-metadata-by-file", "fast-failover", "slow-disk"),
    }
    assert KINDS["clock-jump"].amount.unit is Unit.WALL_TIME


OF_EVERYONE = ("halves", "crash-all", "power-all", "controller-isolated", "controller-crash")
"""The other kinds that such histories can have; one that came later is in none."""


@pytest.mark.parametrize("kind", [*_UNTOLD, *OF_EVERYONE])
@pytest.mark.parametrize(
    "detail", [{"node": 2}, {"node": 0}, {"node": 2, "nodes": [1, 2]}, {"node": 2, "then": 1, "deaf": 3}]
)
def test_a_history_that_does_not_say_whom_a_kind_holds_back_is_judged_as_one_that_does(kind, detail):
    told, untold = FaultsInForce({kind: KINDS[kind].holds_back}), FaultsInForce()
    for now in (told, untold):
        now.step((5, "strike", 0, kind, detail))

    assert [told.touches(node) for node in range(4)] == [untold.touches(node) for node in range(4)]
    assert [told.cuts(node) for node in range(4)] == [untold.cuts(node) for node in range(4)]


def test_the_meta_line_says_it_of_kinds_that_the_checker_never_heard_of():
    now = FaultsInForce({"bridge": "node", "tunnel": "nobody"})
    now.step((5, "strike", 0, "bridge", {"node": 2}))
    now.step((6, "strike", 1, "tunnel", {"node": 1}))

    assert [now.touches(node) for node in range(4)] == [False, False, True, False]
    now.step((7, "strike", 2, "meteor", {"node": 1}))
    assert all(now.touches(node) for node in range(4))


def test_what_a_family_lacks_is_said_of_every_kind_that_needs_it():
    said = by_kind({"controller": "there is none", "late-heartbeats": "never"})

    assert said["late-heartbeats"] == "never"
    assert said["lost-heartbeats"] == said["controller-crash"] == "there is none"
    assert "crash" not in said


def test_a_kind_of_somebody_elses_is_not_over_at_once():
    assert not is_over_at_once("meteor", {})


def test_what_was_synced_matters_where_power_is_lost_files_are_damaged_or_syncs_are_slow():
    assert {kind for kind, row in KINDS.items() if row.of_syncs} >= {
        "power",
        "power-all",
        "flip-bits",
        "cut-tail",
        "slow-disk",
    }
    assert not any(
        KINDS[kind].of_syncs for kind in ("crash", "crash-all", "restart", "disk", "disk-full", "leave", "isolate")
    )

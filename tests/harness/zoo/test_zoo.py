"""The zoo: every bug is a switch, shows itself, and is told of on its page as its file has it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidemark.cli.zoo import zoo_command
from tidemark.harness.scenario import find as find_scenario
from tidemark.harness.scenario import run_scenario, variants_of
from tidemark.harness.search.explore.invariants import INVARIANTS
from tidemark.harness.search.explore.search import Limits, explore
from tidemark.harness.zoo import ZooError, all_entries, find
from tidemark.harness.zoo import zoo_page as page
from tidemark.harness.zoo.detect import by_hunt, by_random_plans, tries_of
from tidemark.nemesis import PROFILES, Plan
from tidemark.nodes.core.variant import BUGS, PRESETS, SWITCHES, Fence, parse_variant

ENTRIES = all_entries()
PLANS = Path(__file__).parent / "plans"
SHOWN_BY_PLAN = sorted(file.stem for file in PLANS.glob("*.json"))
"""The smallest plans found so far; each shows its bug under one noise."""
QUICK = ("KIP-101-loss", "KIP-320-truncation", "KAFKA-13141", "missed-reign")
"""Explored here; the truth table and `bench.zoo` explore the others."""


def by_key(entries):
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.key)


def test_there_are_enough():
    assert len(ENTRIES) == len({entry.key for entry in ENTRIES}) == 51


@by_key(ENTRIES)
def test_its_variant_has_it_and_the_repaired_one_has_not(entry):
    assert entry.is_in(parse_variant(entry.variant))
    assert not entry.is_in(parse_variant(entry.repaired))


@by_key(ENTRIES)
def test_what_it_names_is_there(entry):
    assert entry.state
    assert set(entry.state) <= {"bug", "fence", "truncation", "keeps_epochs", *SWITCHES}
    assert entry.profile in PROFILES
    assert entry.explore is None or entry.explore.invariant in INVARIANTS
    assert set(entry.had) <= set(PRESETS) - set(entry.presets())
    entry.cluster_spec()
    assert all((entry.wrong, entry.affected, entry.fixed, entry.code, entry.sources))


def test_every_bug_and_every_fence_is_in_it():
    assert {entry.state.get("bug") for entry in ENTRIES} - {None} == set(BUGS)
    assert {entry.state.get("fence") for entry in ENTRIES} - {None} == set(Fence)


@by_key([entry for entry in ENTRIES if entry.scenario])
def test_its_script_comes_out_otherwise_without_it(entry):
    """What the script claims of a variant with the bug does not come true of one that has not got it."""
    scenario = find_scenario(entry.scenario)
    having = [v for v in variants_of(scenario) if entry.is_in(parse_variant(v))]
    without = [v for v in variants_of(scenario) if not entry.is_in(parse_variant(v))]

    assert any(
        _told(scenario.outcomes[one]) != _told(scenario.outcomes[other]) or _goes_otherwise(scenario, one, other)
        for one in having
        for other in without
    )


def _goes_otherwise(scenario, one, other):
    played = run_scenario(scenario, other, plays=one)
    return bool(played.claims_broken or played.stopped)


def _told(outcome):
    return (outcome.verdict, {(a.verdict, a.name) for a in outcome.anomalies}, outcome.truncations)


@pytest.mark.parametrize("key", SHOWN_BY_PLAN)
def test_a_plan_shows_it_and_the_repaired_variant_is_free_of_it(key):
    entry = find(key)
    plan = Plan.from_json(json.loads((PLANS / f"{key}.json").read_text(encoding="utf-8")))
    tried = tries_of(entry)

    assert tried(plan).caught is not None
    assert tried.is_clean(plan)


@by_key(ENTRIES)
def test_it_is_shown_by_a_script_or_a_plan_or_says_why_not(entry):
    assert entry.scenario or entry.key in SHOWN_BY_PLAN or entry.explore or entry.missing


@by_key([entry for entry in ENTRIES if entry.key in QUICK])
def test_a_search_of_everything_comes_to_it(entry):
    variant = parse_variant(entry.variant + entry.explore.beside)
    found = explore(variant, entry.explore.bounds(), (entry.explore.invariant,), Limits())

    assert found.outcome == "broken"


def test_a_hunt_finds_a_bug_and_its_control_is_clean():
    entry = find("KIP-320-truncation")
    found = by_hunt(entry, 0, 60)

    assert found.found
    assert tries_of(entry).is_clean(found.plan)


def test_a_search_that_is_given_up_has_found_nothing():
    found = by_random_plans(find("KAFKA-13141"), 0, 0)

    assert (found.found, found.plan) == (False, None)


def test_a_bug_that_the_repaired_variant_shows_as_well_is_not_found():
    """The control: under one and the same variant no plan counts."""
    entry = find("KIP-101-loss")
    plan = by_hunt(entry, 0, 60).plan
    same = replace(tries_of(entry), repaired=entry.variant)

    assert same(plan).caught is None


# The page and the command


def test_the_page_is_as_the_files_have_it():
    text = page.PAGE.read_text(encoding="utf-8")

    assert page.written_anew(text) == text, "python -m tidemark.harness.zoo.zoo_page writes it anew"


@by_key(ENTRIES)
def test_the_page_has_a_section_of_it(entry):
    text = page.PAGE.read_text(encoding="utf-8")
    section = text.partition(f"### {entry.key}\n")[2].partition("\n##")[0]

    assert entry.title in section
    for fact in (entry.affected, entry.fixed, f"`{entry.variant}`", f"`{entry.repaired}`", *entry.commands()):
        assert fact in section


def test_the_command_lists_them_all():
    told = CliRunner().invoke(zoo_command, [], standalone_mode=False).output

    assert "51 bugs" in told
    assert "KAFKA-7128" in told


@pytest.mark.parametrize("key", ["KAFKA-7128", "kafka-7128", "7128"])
def test_the_command_tells_of_one(key):
    told = CliRunner().invoke(zoo_command, [key], standalone_mode=False).output

    assert "A replica joins the ISR" in told
    assert "tidemark scenario kafka-7128-isr-expansion" in told


def test_the_command_speaks_json():
    told = json.loads(CliRunner().invoke(zoo_command, ["--json"], standalone_mode=False).output)

    assert [one["key"] for one in told] == [entry.key for entry in ENTRIES]
    assert all(one["commands"] for one in told)


def test_a_bug_that_is_not_there_is_answered_with_those_that_come_close():
    with pytest.raises(ZooError, match=r"no bug 'KAFKA-7129'.*KAFKA-7128"):
        find("KAFKA-7129")

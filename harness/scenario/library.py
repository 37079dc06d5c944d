"""The scenarios that come with Tidemark: the scripts in ``harness/scenario/scripts``."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.parser import parse_scenario


class UnknownScenarioError(LookupError):
    """There is no scenario of this name; the message names those that come close."""


@cache
def _library() -> tuple[Scenario, ...]:
    folder = files("tidemark.harness.scenario") / "scripts"
    scripts = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".scenario")), key=lambda e: e.name)
    return tuple(parse_scenario(script.read_text(encoding="utf-8"), script.name) for script in scripts)


def all_scenarios() -> list[Scenario]:
    """All of them, in order of file name.

    Raises:
        ScenarioError: one of the scripts cannot be read.
    """
    return list(_library())


def find(name: str) -> Scenario:
    """One of them by name, whatever the case of its letters.

    Raises:
        UnknownScenarioError: with the names that come close, or all of them.
    """
    known = {scenario.name.lower(): scenario for scenario in _library()}
    found = known.get(name.lower())
    if found is None:
        close = get_close_matches(name.lower(), list(known), n=3, cutoff=0.4) or sorted(known)
        meant = ", ".join(known[one].name for one in close)
        raise UnknownScenarioError(f"there is no scenario {name!r}; did you mean: {meant}?")
    return found

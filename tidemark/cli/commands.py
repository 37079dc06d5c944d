"""Where each command is. It is loaded when it is typed: all of them would take half a second."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    import click

_PLACES = {
    "anomalies": "vocabulary:anomalies_command",
    "canary": "canary:canary_command",
    "check": "check:check_command",
    "cluster": "cluster:cluster_group",
    "compare": "compare:compare_command",
    "conform": "conform:conform_command",
    "doctor": "doctor:doctor_command",
    "evidence": "evidence:evidence_command",
    "explore": "explore:explore_command",
    "export": "export:export_command",
    "faults": "vocabulary:faults_command",
    "hunt": "hunt:hunt_command",
    "images": "images:images_group",
    "import": "import_histories:import_command",
    "list": "campaigns:list_command",
    "report": "report:report_command",
    "run": "run:run_command",
    "runs": "runs:runs_command",
    "scan": "scan:scan_command",
    "scenario": "scenario:scenario_command",
    "serve": "serve:serve_command",
    "shrink": "shrink:shrink_command",
    "soak": "soak:soak_command",
    "sql": "sql:sql_command",
    "systems": "systems:systems_command",
    "variants": "variants:variants_command",
    "watch": "watch:watch_command",
    "zoo": "zoo:zoo_command",
}
"""Command → its file in this folder, and its name there."""


class Commands(UserDict[str, "click.Command"]):
    """The commands of ``tidemark`` by what is typed, as click takes them.

    >>> len(Commands()) == len(_PLACES), Commands()["zoo"].name
    (True, 'zoo')
    """

    def __init__(self) -> None:
        super().__init__()
        self.data = cast("dict[str, click.Command]", dict.fromkeys(_PLACES))  # so far they are nothing but names

    def __getitem__(self, name: str) -> click.Command:
        """Load it, if nobody has yet."""
        if self.data.get(name) is None:
            file, _, command = _PLACES[name].partition(":")
            self.data[name] = getattr(import_module(f"tidemark.cli.{file}"), command)
        return self.data[name]


def load(arguments: Sequence[str]) -> None:
    """The command that is typed, or, for ``--help`` tells of each, all of them."""
    commands = Commands()
    typed = next((word for word in arguments if not word.startswith("-")), None)
    if typed is not None:
        commands.get(typed)
    elif "--version" not in arguments:
        for name in commands:
            commands.get(name)

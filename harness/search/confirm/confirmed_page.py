"""The page about a confirmation, self-contained like the reports, and the same in Markdown."""

from __future__ import annotations

from pathlib import Path

from tidemark.harness.report.environment import written
from tidemark.harness.report.glossary import GLOSSARY, PROMISES
from tidemark.harness.search.confirm.tries import Confirmation, Modelled

CAREFUL = (
    "All tries are of one script or plan, on one machine. They say what these servers can do, and nothing about how often it "
    "happens in practice."
)
COLUMNS = ("replica", "role", "epoch", "log", "LEO", "HW", "epochs")


def write_page(confirmation: Confirmation, out: Path) -> None:
    """Write the page.

    Raises:
        OSError: it cannot be written.
    """
    written(
        out,
        "confirmed.html.j2",
        "tidemark.harness.search.confirm",
        found=confirmation.modelled,
        confirmation=confirmation,
        scenes=_scenes(confirmation),
        columns=COLUMNS,
        by_plan=_by_plan(confirmation.modelled),
        careful=CAREFUL,
        glossary=GLOSSARY,
        promises=PROMISES,
    )


def _scenes(confirmation: Confirmation) -> list[dict[str, object]]:
    """What the model did, step by step, with every replica in a row."""
    narrative = confirmation.modelled.outcome.get("narrative", ())
    return [
        {
            "number": scene["step"],
            "words": scene["words"],
            "did": scene["did"],
            "rows": [
                (name, one["role"], one["leader_epoch"], one["log"], one["leo"], one["hw"], _cache(one["epochs"]))
                for name, one in scene["replicas"].items()
            ],
        }
        for scene in narrative
    ]


def _cache(entries: list[list[int]]) -> str:
    return " ".join(f"{epoch}@{start}" for epoch, start in entries) or "none"


def summary(confirmation: Confirmation) -> str:
    """In Markdown."""
    found = confirmation.modelled
    lines = [
        f"# {found.anomaly} on {confirmation.system}",
        "",
        f"**{confirmation.in_words}.** {CAREFUL}",
        "",
        f"In the model, {found.variant}: {found.anomaly}, because {found.cause}.",
        "",
        *(f"    {line}" for line in found.plan),
        "",
        *(_script(found) if found.script else [f"{_by_plan(found)}", ""]),
        f"| try | on {confirmation.system} | found | otherwise than the model |",
        "|---|---|---|---|",
    ]
    for one in confirmation.tries:
        told, differs = "; ".join(one.anomalies) or "–", "; ".join(one.differences) or "–"
        lines.append("| " + " | ".join(_cell(words) for words in (str(one.number), one.in_words, told, differs)) + " |")
    first = next((one for one in confirmation.tries if one.seen), None)
    if first is not None:
        lines += ["", f"Try {first.number}: {first.message}"]
    return "\n".join([*lines, "", "Again:", "", *(f"    {command}" for command in found.commands), ""])


def _script(found: Modelled) -> list[str]:
    return [
        "The script that was written from it and played; the simulator shows it, and so do",
        f"{found.sturdy[0]} of {found.sturdy[1]} simulated worlds with slow hands and slow messages:",
        "",
        "```",
        found.script.rstrip(),
        "```",
        "",
    ]


def _by_plan(found: Modelled) -> str:
    shown, of = found.sturdy
    noises = f"{shown} of {of} noises, at its own times and at these"
    return f"The plan was played at the system's times. The model shows it under {noises}."


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")

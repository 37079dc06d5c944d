"""How templates are found and filled, and how they write numbers."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tidemark.checkers.acknowledged import CLAUSES, of_acknowledged
from tidemark.checkers.known_anomalies import meaning
from tidemark.checkers.verdict.alike import alike
from tidemark.checkers.verdict.visible import visible
from tidemark.harness.report import words
from tidemark.harness.report.broker_states import states_at, states_of_both
from tidemark.harness.report.comparison import DERIVED
from tidemark.harness.report.fault_words import in_general
from tidemark.harness.report.what_ran import what_ran


@cache
def environment(*packages: str) -> Environment:
    """With everything escaped that is not our own markup; made once, as a template is compiled for each.

    Args:
        packages: whose templates are looked for first; those of reports are always there.
    """
    found = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "tidemark.harness.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    filters: dict[str, Callable[..., Any]] = {
        "alike": alike,
        "percent": lambda share: _unbroken(words.percent(share)),
        "interval": lambda rate: _unbroken(words.interval(rate)),
        "bounds": lambda rate: _unbroken(words.bounds(rate)),
        "seconds": lambda time, digits=2: _unbroken(words.seconds(time, digits)),
        "rounds": lambda variant: _unbroken(words.rounds(variant)),
        "recovered": lambda time, recovery: _unbroken(words.recovered(time, recovery)),
        "milliseconds": lambda time: _unbroken(words.milliseconds(time)),
        "length_of": lambda time: _unbroken(f"{time / words.SECOND:g} s"),
        "came": lambda time, otherwise: otherwise if time is None else _unbroken(words.seconds(time, 3)),
        "evidence": _evidence,
        "p_of": lambda pair: _unbroken(words.p_of(pair)),
        "clearly": words.clearly,
        "mark_in_short": words.mark_in_short,
        "points": lambda pair: _unbroken(words.points(pair)).replace("\N{NO-BREAK SPACE}(", " ("),
        "primary": words.primary_words,
        "asked": words.asked_words,
        "compared": words.compared,
        "fault_meaning": in_general,
        "of_acknowledged": of_acknowledged,
        "clause_meaning": lambda clause: CLAUSES.get(clause, ""),
    }
    found.filters |= filters
    found.globals |= {"meaning": lambda name: DERIVED.get(name) or meaning(name), "what_ran": what_ran}
    found.globals |= {"zoom_script": Markup(ZOOM), "filter_script": Markup(FILTER)}  # noqa: S704  our own scripts
    found.globals |= {"unfold_script": Markup(UNFOLD), "steps_script": Markup(STEPS)}  # noqa: S704  the same
    found.globals |= {"states_at": states_at, "states_of_both": states_of_both}
    found.globals |= {"script_policy": Markup(SCRIPT_POLICY)}  # noqa: S704  digests
    return found


def written(out: Path, template: str, /, *packages: str, **values: Any) -> Path:  # noqa: ANN401 - a template takes anything
    """Fill a template, which is looked for as `environment` says, and write the page.

    Raises:
        OSError: it cannot be written.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(environment(*packages).get_template(template).render(**values), encoding="utf-8")
    return out


def _script(name: str) -> str:
    return files("tidemark.harness.report").joinpath(f"templates/{name}").read_text(encoding="utf-8")


def digest_of(script: str) -> str:
    """As a Content-Security-Policy names a script."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"


ZOOM: Final = _script("whole_run.js")
FILTER: Final = _script("runs.js")
UNFOLD: Final = _script("unfold.js")
STEPS: Final = _script("steps.js")
"""The scripts of pages: one zooms into a run, one filters a list of runs, one unfolds what a link leads to, one steps through a
story. Without them a page has all that it has with them.
"""

SCRIPT_POLICY: Final = " ".join(f"'{digest_of(script)}'" for script in (ZOOM, FILTER, UNFOLD, STEPS))
"""What a page's policy lets a browser run: these scripts, by their digests, and nothing else."""


def _visible(value: object) -> object:
    """What is shown, without what a browser or a terminal would obey; our own markup is left as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _unbroken(text: str) -> str:
    """A number and its unit stay on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


_MOST_OF_EVIDENCE = 4000


def _evidence(evidence: Mapping[str, Any]) -> str:
    """JSON, as much of it as anybody would read on a page."""
    text = json.dumps(evidence, ensure_ascii=False, indent=1)
    return text if len(text) <= _MOST_OF_EVIDENCE else f"{text[:_MOST_OF_EVIDENCE]}\n… (--json has all of it)"

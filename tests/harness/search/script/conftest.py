"""Plans that were found by search and shrunk, and the scripts that come of them."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tidemark.checkers import Verdict
from tidemark.harness.search.script import Written, write_script
from tidemark.harness.search.shrink import Cause, causes_of
from tidemark.harness.search.shrink.choice import chosen
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Plan

PLANS = Path(__file__).parent / "plans"


class Known(NamedTuple):
    """A plan, the rule that it breaks, and why."""

    plan: Plan
    variant: str
    cause: Cause
    verdict: Verdict


@cache
def known(name):
    data = json.loads((PLANS / f"{name}.json").read_text())
    plan = Plan.from_json(data["plan"])
    run = execute(plan, data["variant"])
    anomaly = chosen(run.verdict, data["anomaly"])
    return Known(plan, data["variant"], causes_of(anomaly, run.verdict, run.history)[0], run.verdict)


@cache
def written(name) -> Written:
    one = known(name)
    return write_script(one.plan, one.variant, one.cause, name=name)

"""Variants that should keep their promises, on clusters of unusual shapes, under ten profiles: nothing but what a page explains.

    python -m bench unusual_shapes                                       2,000 runs
    python -m bench.unusual_shapes --runs 50000 --processes 2 --to FILE  all of them; the same again goes on where it was
    python -m bench.unusual_shapes --variants raft,kafka-2.7 --first 70000 --runs 100 --processes 1
    python -m bench.unusual_shapes --plan 1234 > plan.json               the plan of a number, for `tidemark run --plan`

Run `n` is plan `n // len(variants)` under variant `n % len(variants)`. Brokers are 1, 2, 4 or 5, replicas half of them or more, min
ISR any number of these; ten profiles take turns, from plan 6,000 on all of them, and in a third of the plans power losses take
back what the file system had not committed (`power-metadata`). A violation is told as it comes. It is explained if the same plan
passes with one bug repaired that the variant has and a page tells of (each that would do is named), or with all of them; or if
somebody has read it, and a page tells of what no switch repairs (`READ_BY_HAND`). Else it is a finding about model, checkers or
variant.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import signal
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tidemark.harness.simulator.execute import execute
from tidemark.harness.why.candidates import candidates
from tidemark.nemesis import PROFILES, Fault, Plan, Trigger, generate_plan
from tidemark.nemesis.kinds import REAL_ONLY
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS, Settings
from tidemark.nodes.core.variant import Variant
from tidemark.nodes.families import parse_variant

RUNS = 2_000
SEED = 28
BLOCK = 25
PATIENCE_S = 300
BROKERS = (1, 2, 4, 5)
TURNS = tuple(PROFILES)[:10]
"""Those that there were when plans got their numbers; plans from `ALL_FROM` on have all."""
ALL_FROM = 6_000
VARIANTS = (
    "kafka-2.1+bounce-detection",
    "kafka-2.7",
    "kafka-3.7",
    "kafka-4.0",
    "kafka-4.0+forget-log-ends+rebuild-epochs+begin-anew",
    "raft",
    "quorum-hwm+repaired",
    "reconciliation+own-generation",
    "bookkeeper",
)
"""What keeps its promises, but for what the findings and the zoo tell of Kafka's."""
FINDINGS = {
    "forget-log-ends": "missed-reign",
    "rebuild-epochs": "forgotten-log-start",
    "begin-anew": "cut-at-a-log-start",
    "log-start-with-cut": "stale-log-start",
    "log-start-first": "forgotten-log-start",
    "keep-last-epoch": "back-below-its-log-start",
    "cut-ends-at-batch": "hole-behind-a-cut",
    "failover-sees-bounces": "a bounce behind a failover (docs/protocol.md)",
}
"""What repairs the bugs that today's Kafka has; the zoo has the others."""
READ_BY_HAND = {
    (SEED, 1588, "kafka-2.1+bounce-detection"): "late-leadership-after-removal",
    (SEED, 1588, "kafka-2.7"): "late-leadership-after-removal",
    (SEED, 1769, "kafka-2.7"): "reassignment-replaced, with ZooKeeper",
    (SEED, 3419, "kafka-2.7"): "reassignment-replaced, with ZooKeeper",
}
"""Seed, plan and variant → the page of docs/findings that tells of it."""


class Block(NamedTuple):
    """Runs that are done in one go: numbers, the variants among which they turn, and the seed of the plans."""

    first: int
    runs: int
    variants: tuple[str, ...]
    seed: int


class HungError(Exception):
    """A run took longer than `PATIENCE_S`."""


def main(runs: int | str = RUNS, *more: str) -> None:
    """Run, and tell what was violated; with exit code 1 if anything is left that nothing explains."""
    parser = argparse.ArgumentParser(prog="python -m bench.unusual_shapes")
    parser.add_argument("--runs", type=int, default=int(runs))
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--to", type=Path, help="a file of JSON lines; what it has is not run again")
    parser.add_argument("--plan", type=int, help="print the plan of this number, and run nothing")
    options = parser.parse_args(more)
    if options.plan is not None:
        print(json.dumps(plan_of(options.seed, options.plan).to_json(), indent=1))
        return
    variants = tuple(options.variants.split(","))
    blocks = [
        Block(first, min(BLOCK, options.first + options.runs - first), variants, options.seed)
        for first in range(options.first, options.first + options.runs, BLOCK)
    ]
    told = _told(options.to)
    tally = Counter[str]()
    for line in told:
        _count(tally, line)
    done = {(line["first"], line["runs"], tuple(line["variants"]), line["seed"]) for line in told if "first" in line}
    left = [block for block in blocks if block not in done]
    began, lines = time.monotonic(), options.to.open("a", encoding="utf-8") if options.to else None
    with multiprocessing.get_context("fork").Pool(options.processes, _listen) as pool:
        for number, found in enumerate(pool.imap_unordered(_run_block, left), start=1):
            for line in found:
                _count(tally, line)
                if lines:
                    print(json.dumps(line), file=lines, flush=True)
                if "first" not in line:
                    print(_sentence(line), flush=True)
            spent = time.monotonic() - began
            rest = spent / number * (len(left) - number)
            print(f"\r{tally['runs']:>7} runs, {rest / 60:.0f} min left ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for name, count in sorted(tally.items()):
        print(f"{name:<90}{count:>7}")
    unexplained = sum(count for name, count in tally.items() if name.endswith(_NOT))
    print(f"violations that nothing explains: {unexplained}   (bar: 0)")
    if unexplained:
        sys.exit(1)


_NOT = "explained by nothing"


def _told(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]


def _count(tally: Counter[str], line: dict[str, Any]) -> None:
    if "first" in line:
        tally["runs"] += line["runs"]
        for valid, count in line["valid"].items():
            tally[f"  {valid}"] += count
    else:
        tally[f"{line['variant']}, {', '.join(line['anomalies'])}: {_why(line)}"] += 1


def _why(line: dict[str, Any]) -> str:
    return f"explained by {line['explained']}" if line["explained"] else _NOT


def _sentence(line: dict[str, Any]) -> str:
    return f"run {line['run']}, plan {line['plan']} of seed {line['seed']}, {line['variant']}: {line['message']} ({_why(line)})"


def plan_of(seed: int, index: int) -> Plan:
    """A plan on a cluster of an unusual shape, of the profile whose turn it is."""
    rng = Random(f"unusual shapes/{seed}/{index}")
    brokers = rng.choice(BROKERS)
    replicas = rng.randint(max(1, brokers // 2), brokers)
    cluster = ClusterSpec(
        brokers,
        replicas,
        rng.choice((1, 1, 2, 3)),
        rng.choice(("all", "all", "all", "1")),
        Settings(min_isr=rng.randint(1, replicas)),
    )
    turns = TURNS if index < ALL_FROM else tuple(name for name in PROFILES if name != "files")
    plan = generate_plan(seed, index, turns[index % len(turns)], cluster)
    faults = [fault for fault in plan.faults if fault.kind not in REAL_ONLY]
    if rng.random() < 1 / 3:
        faults += [_power(rng, plan) for _ in range(rng.randint(1, 3))]
    return replace(plan, faults=tuple(sorted(faults, key=lambda fault: fault.at_us)))


def _power(rng: Random, plan: Plan) -> Fault:
    """A power loss of one broker that takes back up to 3 s; half of them wait for a truncation, a checkpoint, a new leader."""
    at = rng.randrange(plan.faults_end_us // 8, plan.faults_end_us)
    after = Trigger(rng.choice(("truncate", "hw", "lead", "log-start", "append")), rng.randrange(1, 12), 0)
    return Fault(
        "power-metadata",
        at,
        rng.randrange(300 * MS, 3_000 * MS),
        rng.choice(("leader", "follower", "any")),
        rng.randrange(12),
        rng.randrange(plan.cluster.partitions),
        rng.randrange(5 * MS, 3_000 * MS),
        after=after if rng.random() < 0.5 else None,
    )


def _listen() -> None:
    signal.signal(signal.SIGALRM, _hung)


def _hung(*_: object) -> None:
    raise HungError


def _run_block(block: Block) -> list[dict[str, Any]]:
    """The violations, and last a line of all."""
    found, valid = [], Counter[str]()
    for number in range(block.first, block.first + block.runs):
        index, turn = divmod(number, len(block.variants))
        variant, plan = block.variants[turn], plan_of(block.seed, index)
        anomalies = _violations(plan, variant)
        valid[anomalies.pop("")] += 1
        if anomalies:
            line = {
                "run": number,
                "plan": index,
                "seed": block.seed,
                "variant": variant,
                "anomalies": sorted(anomalies),
            }
            explained = READ_BY_HAND.get((block.seed, index, variant)) or _explanation(plan, variant, min(anomalies))
            found.append({**line, "explained": explained, "message": min(anomalies.values())})
    told = {**block._asdict(), "valid": dict(valid)}
    return [*found, told]


def _violations(plan: Plan, variant: str) -> dict[str, str]:
    """Name → sentence of the first; and of nothing the verdict."""
    signal.alarm(PATIENCE_S)
    try:
        verdict = execute(plan, variant).verdict
    except HungError:
        return {"hung": f"it took more than {PATIENCE_S} s", "": "hung"}
    except Exception as error:  # noqa: BLE001  whatever comes is what is counted
        return {"failed": f"{type(error).__name__}: {error}", "": "failed"}
    finally:
        signal.alarm(0)
    violations = [one for one in verdict.anomalies if one.verdict == "violation"]
    return {one.name: one.message for one in reversed(violations)} | {"": verdict.valid}


def _explanation(plan: Plan, variant: str, anomaly: str) -> str:
    """The bugs that the variant has, and without one of which the plan passes; or all of them together."""
    if not isinstance(parse_variant(variant), Variant):
        return ""
    repairs = {word: bug for word, bug in FINDINGS.items() if word not in variant.split("+")}
    for one in candidates(variant, anomaly):
        if one.entry is not None and one.variant.startswith(f"{variant}+"):
            repairs.setdefault(one.variant.removeprefix(f"{variant}+"), one.entry.key)
    each = [bug for word, bug in repairs.items() if len(_violations(plan, f"{variant}+{word}")) == 1]
    if each:
        return " or ".join(each)
    together = len(_violations(plan, "+".join([variant, *repairs]))) == 1
    return f"{', '.join(repairs.values())} together" if together else ""


if __name__ == "__main__":
    main(RUNS, *sys.argv[1:])

"""Run all benchmarks, or those named; ``kafka:VERSION`` measures against that version."""

from __future__ import annotations

import sys

from bench import (
    checking,
    cluster,
    containers,
    corruptions,
    determinism,
    exploring,
    foreign,
    hunting,
    kafka,
    linearizability,
    rechecking,
    scripting,
    shrinking,
    simulator,
    spreading,
    throughput,
    zoo,
)

BENCHMARKS = {
    "simulator": simulator.main,
    "checking": checking.main,
    "cluster": cluster.main,
    "corruptions": corruptions.main,
    "linearizability": linearizability.main,
    "hunting": hunting.main,
    "spreading": spreading.main,
    "rechecking": rechecking.main,
    "determinism": determinism.main,
    "shrinking": shrinking.main,
    "scripting": scripting.main,
    "throughput": throughput.main,
    "exploring": exploring.main,
    "containers": containers.main,
    "foreign": foreign.main,
    "kafka": kafka.main,
    "zoo": zoo.main,
}
KAFKA = "kafka:"


def main() -> int:
    """Run what was asked for; unknown names are refused with the known ones."""
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS and not name.startswith(KAFKA)]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 254
    for name in names:
        print(f"== {name}")
        if name.startswith(KAFKA):
            kafka.main(name.removeprefix(KAFKA))
        else:
            BENCHMARKS[name]()
    return 0


sys.exit(main())

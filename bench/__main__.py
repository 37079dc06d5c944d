"""Run all benchmarks, or those named; ``kafka:VERSION`` measures against that version, ``stored:RUNS`` so many stored runs,
``poison:PLANS``, ``campaigns:RUNS`` and ``memory:RUNS`` so large a campaign, ``rechecking:OPERATIONS`` so many stored operations.
"""

from __future__ import annotations

import sys

from bench import (
    campaigns,
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
    memory,
    poison,
    rechecking,
    scripting,
    shrinking,
    simulator,
    spreading,
    stored,
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
    "campaigns": campaigns.main,
    "poison": poison.main,
    "memory": memory.main,
    "stored": stored.main,
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
SIZED = {
    "kafka": kafka.main,
    "stored": stored.main,
    "poison": poison.main,
    "campaigns": campaigns.main,
    "rechecking": rechecking.main,
    "memory": memory.main,
}
"""What is told after a colon how much of it."""


def main() -> int:
    """Run what was asked for; unknown names are refused with the known ones."""
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS and name.partition(":")[0] not in SIZED]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 254
    for name in names:
        print(f"== {name}")
        which, _, size = name.partition(":")
        if size:
            SIZED[which](size)
        else:
            BENCHMARKS[name]()
    return 0


sys.exit(main())

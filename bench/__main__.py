"""Run all benchmarks, or those named."""

from __future__ import annotations

import sys

from bench import checking, containers, determinism, simulator, throughput

BENCHMARKS = {
    "simulator": simulator.main,
    "checking": checking.main,
    "determinism": determinism.main,
    "throughput": throughput.main,
    "containers": containers.main,
}


def main() -> int:
    """Run what was asked for; unknown names are refused with the known ones."""
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 254
    for name in names:
        print(f"== {name}")
        BENCHMARKS[name]()
    return 0


sys.exit(main())

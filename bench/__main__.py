"""Run all benchmarks, or those named; ``kafka:VERSION`` measures against that version, ``stored:RUNS`` so many stored runs,
``corrupted_files:FILES`` with so many of those, ``poison:PLANS``, ``unusual_shapes:RUNS``, ``campaigns:RUNS`` and ``memory:RUNS``
so large a campaign, ``rechecking:OPERATIONS`` so many stored operations, ``adversary:EACH`` so many histories of each kind,
``bad_inputs:TRIES`` so many of those;
``forgeries:all`` cuts after every line, ``porcupine:PATH`` takes a checkout of anishathalye/porcupine.
``against REV NAME…`` compares this tree with another revision (`bench/against.py`).
"""

from __future__ import annotations

import sys
from importlib import import_module

from bench import against

ORDER = """simulator checking cluster corruptions corrupted_files linearizability transactions hunting spreading rechecking
campaigns poison memory stored unusual_shapes determinism forgeries shrinking scripting throughput exploring containers foreign
kafka zoo adversary porcupine bad_inputs mutants"""
BENCHMARKS = ORDER.split()
"""Each is a module, with a function `main`."""
SIZED = (
    *("adversary", "bad_inputs", "campaigns", "corrupted_files", "forgeries", "kafka", "memory", "poison", "porcupine"),
    *("rechecking", "stored", "unusual_shapes"),
)
"""What is told after a colon how much of it."""


def main() -> int:
    """Run what was asked for; unknown names are refused with the known ones."""
    names = sys.argv[1:] or BENCHMARKS
    if names[0] == "against":
        return against.main(*names[1:])
    unknown = [name for name in names if name not in BENCHMARKS and name.partition(":")[0] not in SIZED]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 254
    for name in names:
        print(f"== {name}")
        which, _, size = name.partition(":")
        import_module(f"bench.{which}").main(*([size] if size else []))
    return 0


sys.exit(main())

"""Porcupine's test data: each history judged by our models, beside the verdict that its own tests expect; CPU time, one core.

PATH is a checkout of anishathalye/porcupine. What is expected is read from its ``porcupine_test.go``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from time import process_time

from tidemark.checkers import read_any
from tidemark.checkers.objects.workloads import Asked, checker_named

_EXPECTED = re.compile(r'check(Jepsen|Kv)\(t, (?:(\d+)|"([\w-]+)"), (true|false)')


def main(path: str = "") -> None:
    """Print how many verdicts agree, which do not, and the seconds of the longest."""
    if not path:
        print("porcupine: not measured: python -m bench porcupine:PATH, of a checkout of anishathalye/porcupine")
        return
    folder = Path(path)
    expected = {
        folder / "test_data" / (f"jepsen/etcd_{int(number):03d}.log" if number else f"kv/{name}.txt"): legal == "true"
        for _, number, name, legal in _EXPECTED.findall((folder / "porcupine_test.go").read_text(encoding="utf-8"))
    }
    agree, seconds = 0, {}
    for file, legal in expected.items():
        etcd = file.suffix == ".log"
        checker = checker_named(
            "cas-register" if etcd else "key-value", "listed", asked=Asked(initial=None if etcd else "")
        )
        ops = read_any(file, rows=True).ops
        start = process_time()
        valid = checker(ops).valid
        seconds[file.name] = process_time() - start
        if valid == ("valid" if legal else "invalid"):
            agree += 1
        else:
            print(f"{file}: Porcupine expects {'legal' if legal else 'illegal'}, and the verdict is {valid}")
    slowest = sorted(seconds, key=lambda name: -seconds[name])[:3]
    told = ", ".join(f"{name} {seconds[name]:.3f} s" for name in slowest)
    print(f"{agree} of {len(expected)} verdicts agree; {sum(seconds.values()):.2f} s in all; the slowest: {told}")
    if agree < len(expected):
        sys.exit(1)

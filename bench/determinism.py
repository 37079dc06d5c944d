"""Byte-identical histories: 200 plans under every preset, in two processes with different hash seeds."""

from __future__ import annotations

import os
import subprocess
import sys

from tidemark.nodes.core.variant import PRESETS

PLANS = 200

CHILD = """
import hashlib, sys
from tidemark.checkers import history_lines
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
profiles = ["intact", "destructive"]  # what the simulator can do all of
for index in range(int(sys.argv[1])):
    plan = generate_plan(3, index, profiles[index % len(profiles)], ClusterSpec(partitions=1 + index % 2))
    for variant in sys.argv[2:]:
        run = execute(plan, variant)
        digest = hashlib.sha256()
        for line in history_lines(run.history):
            digest.update(line.encode())
        print(index, variant, run.digest, digest.hexdigest(), flush=True)
"""


def main() -> None:
    """Run both processes and compare line by line."""
    children = []
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-c", CHILD, str(PLANS), *PRESETS]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        children.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    outputs = [child.communicate()[0].splitlines() for child in children]
    if any(child.returncode for child in children):
        print("a process failed")
        sys.exit(1)
    differing = sum(one != other for one, other in zip(*outputs, strict=True))
    print(f"{len(outputs[0])} histories in two processes with PYTHONHASHSEED 1 and 2: {differing} differ   (bar: 0)")
    if differing:
        sys.exit(1)

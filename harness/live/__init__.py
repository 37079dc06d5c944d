"""A run on real machines: faults carried out and healed, processes started and killed, the cluster observed, the history recorded.

The phases are those of a simulated run. What runs on the machines is a system (:mod:`tidemark.harness.systems`).
"""

"""Apache Kafka in a node: the sidecar, a process beside the broker's JVM that reads its log lines and its files.

``python3 -m tidemark.nodes.sidecar --config FILE`` runs a broker, or the controller's machine, and shows the harness what a
node process of our own would show: a trace file (docs/history.md) and an admin port. See :mod:`tidemark.nodes.sidecar.sidecar`.
"""

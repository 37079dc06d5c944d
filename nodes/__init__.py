"""What runs on a cluster's machines.

:mod:`tidemark.nodes.core` is the protocol as state machines without I/O, :mod:`tidemark.nodes.formats` are Kafka's file and
wire formats,
:mod:`tidemark.nodes.process` is our own node, a process around the core, and :mod:`tidemark.nodes.sidecar` is what stands
beside a real broker and
watches it. :mod:`tidemark.nodes.admin` is what the last two have in common: what the harness may ask of every node.
"""

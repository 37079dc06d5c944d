"""Raft's log replication (Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", 2014).

See docs/families/raft.md.
"""

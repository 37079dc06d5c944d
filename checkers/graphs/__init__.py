"""Graphs of operations as columns of numbers, whatever the operations are: their edges, and what lies on cycles."""

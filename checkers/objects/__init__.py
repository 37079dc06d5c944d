"""Checkers of objects other than logs: registers, sets, queues, counters."""

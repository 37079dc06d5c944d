"""Checkers of the replicas' trace: what each held, believed and lost, and which promise judges it."""

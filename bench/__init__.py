"""Benchmarks: ``make bench``, or ``python -m bench NAME``. Every figure is a ratio of two things measured in one run."""

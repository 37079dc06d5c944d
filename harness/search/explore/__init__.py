"""Bounded exhaustive search of the core: every order of messages, elections and faults, without a clock (docs/exploring.md)."""

"""Tidemark: find out whether a replicated log keeps its promises."""

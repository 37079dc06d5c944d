"""From a plan to a script: steps with conditions instead of times, which plays wherever scripts do."""

from tidemark.harness.search.script.writer import NoScriptError, Written, write_script

__all__ = ["NoScriptError", "Written", "write_script"]

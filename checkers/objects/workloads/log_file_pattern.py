"""Lines of the nodes' logs that must not be there. Jepsen's ``checker/log-file-pattern``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.workloads.halves import counted
from tidemark.checkers.verdict.result import Result

NAME = "log-file-pattern"


def log_file_pattern(pattern: str, logs: Mapping[str, Iterable[str]]) -> Callable[[Sequence[Op]], Result]:
    """A checker that searches the lines of each node's log for a regular expression (of Python's).

    Args:
        pattern: searched anywhere in a line.
        logs: node → lines; a node without a log has none.

    Raises:
        re.error: the pattern is none.
    """
    wanted = re.compile(pattern)

    def check(_: Sequence[Op]) -> Result:
        matches = [
            {"node": node, "line": line.rstrip("\n")}
            for node, lines in logs.items()
            for line in lines
            if wanted.search(line)
        ]
        evidence = {"count": len(matches), "matches": matches}
        if matches:
            message = f"{counted(len(matches), 'line')} like {pattern}, the first of {matches[0]['node']}"
            return Result(NAME, "invalid", message, None, evidence)
        return Result(NAME, "valid", f"no line like {pattern} in {counted(len(logs), 'log')}", None, evidence)

    return check

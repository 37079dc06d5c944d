"""EDN, the notation in which Jepsen writes histories: its forms, a reader that streams, a writer, and the operations in a file.

Source: https://github.com/edn-format/edn, and what Clojure prints beyond it (``##NaN``, hexadecimal, metadata, records as
``#jepsen.history.Op{…}``).
"""

from __future__ import annotations

from tidemark.checkers.history.edn.forms import (
    Char,
    EdnList,
    EdnMap,
    EdnSet,
    Form,
    Keyword,
    Long,
    Precise,
    Symbol,
    Tagged,
)
from tidemark.checkers.history.edn.operations import EdnOp, operations
from tidemark.checkers.history.edn.reader import EdnError, elements, read_all
from tidemark.checkers.history.edn.writer import written

__all__ = [
    "Char",
    "EdnError",
    "EdnList",
    "EdnMap",
    "EdnOp",
    "EdnSet",
    "Form",
    "Keyword",
    "Long",
    "Precise",
    "Symbol",
    "Tagged",
    "elements",
    "operations",
    "read_all",
    "written",
]

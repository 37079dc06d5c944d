"""EDN, the notation in which Jepsen writes histories: its forms, a reader that streams, a writer, and the operations in a file.

Source: https://github.com/edn-format/edn, and what Clojure prints beyond it (``##NaN``, hexadecimal, metadata, records as
``#jepsen.history.Op{…}``).
"""

from __future__ import annotations

from checkers.edn.forms import Char, EdnList, EdnMap, EdnSet, Form, Keyword, Long, Precise, Symbol, Tagged
from checkers.edn.operations import EdnOp, operations
from checkers.edn.reader import EdnError, elements, read_all
from checkers.edn.writer import written

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

r"""The operations in the lines that Jepsen once logged, as Porcupine's test data and Horn's linearizability checker have them.

A line is ``INFO  jepsen.util - PROCESS TYPE F VALUE``, with tabs or spaces between. There are no times: the lines' order is that of
events. Lines of others, such as ``:nemesis``, are left out. As in Porcupine's test of etcd, a ``cas`` that failed was compared with
another value, and a read that failed is one that nobody answered. Source: ``porcupine_test.go`` of anishathalye/porcupine.

>>> import io
>>> log = b"INFO  jepsen.util - 2 :invoke :cas [1 0]\nINFO  jepsen.util - 2 :fail :cas [1 0]\n"
>>> read_jepsen_log(io.BytesIO(log))[1]
Op(time=0, process='2', type='ok', f='cas', value=[1, 0, False], error=None, acks=None, final=False)
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO

from tidemark.checkers.history.edn.reader import EdnError, read_all
from tidemark.checkers.history.edn_ops import plain_form
from tidemark.checkers.history.history import Op
from tidemark.checkers.history.line_shapes import ShapeError

_BEGIN = re.compile(rb"\s*INFO\s+jepsen\.util\s+-\s")
_LINE = re.compile(r"INFO\s+jepsen\.util\s+-\s+(\d+)\s+:(invoke|ok|fail|info)\s+:([\w-]+)\s+(\S.*?)\s*")


def begins_as_jepsen_log(begin: bytes) -> bool:
    """Whether a file that begins so is such a log."""
    return _BEGIN.match(begin) is not None


def read_jepsen_log(file: BinaryIO) -> list[Op]:
    """The operations, each half at its line; all times are 0.

    Raises:
        EdnError: a line is not UTF-8, or its value is no EDN.
        OSError: it cannot be read.
    """
    ops = []
    for number, line in enumerate(file, start=1):
        try:
            found = _LINE.fullmatch(line.decode().strip())
            if found:
                process, type_, f, value = found.groups()
                (form,) = read_all(value)
                ops.append(_op(process, type_, f, plain_form(form)))
        except ValueError as error:
            why = "no line of a Jepsen log"
            if isinstance(error, EdnError):
                why = error.sentence
            elif isinstance(error, ShapeError):
                why = str(error)
            raise EdnError(number, None, why) from None
    return ops


def _op(process: str, type_: str, f: str, value: Any) -> Op:  # noqa: ANN401 - whatever EDN can say
    error = None
    if value == "timed-out":
        value, error = None, value
    if type_ == "fail" and f == "cas" and isinstance(value, list):
        type_, value = "ok", [*value, False]
    elif type_ == "fail" and f == "read":
        type_ = "info"
    return Op(0, process, type_, f, value, error)

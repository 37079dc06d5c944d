"""Linearizability of registers, stores and logs: `linearizable` judges a history by a model.

`checkers.linearizability.search` tells how.
"""

from __future__ import annotations

from checkers.linearizability.append_log import AppendLog
from checkers.linearizability.cas_register import CasRegister
from checkers.linearizability.check import linearizable
from checkers.linearizability.key_value import KeyValue
from checkers.linearizability.model import Machine, Model
from checkers.linearizability.operation import Operation, operations
from checkers.linearizability.register import Register

__all__ = [
    "AppendLog",
    "CasRegister",
    "KeyValue",
    "Machine",
    "Model",
    "Operation",
    "Register",
    "linearizable",
    "operations",
]

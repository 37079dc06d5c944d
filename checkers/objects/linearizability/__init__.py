"""Linearizability of registers, stores and logs: `linearizable` judges a history by a model.

`tidemark.checkers.objects.linearizability.search` tells how.
"""

from __future__ import annotations

from tidemark.checkers.objects.linearizability.append_log import AppendLog
from tidemark.checkers.objects.linearizability.cas_register import CasRegister
from tidemark.checkers.objects.linearizability.check import linearizable
from tidemark.checkers.objects.linearizability.key_value import KeyValue
from tidemark.checkers.objects.linearizability.model import Machine, Model
from tidemark.checkers.objects.linearizability.operation import Operation, operations
from tidemark.checkers.objects.linearizability.register import Register

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

"""Transactions of keys in a line each, and what was found in them.

``"p1 ok: a x 1, r y 1 2"`` is a transaction of p1 that appended 1 to x and read the list 1 2 of y; ``"p1 fail: w x 1, r y _"`` is
one of registers. Transactions without a process have one of their own, and without an outcome are ok.
"""

from tidemark.checkers import Op
from tidemark.checkers.objects.transactions.check import list_append, rw_register

F = {"a": "append", "w": "w", "r": "r"}


def value(words, *, lists):
    made = []
    for micro in filter(None, (one.strip() for one in words.split(","))):
        f, key, *rest = micro.split()
        elements = [int(one) for one in rest if one != "_"]
        one = elements[0] if elements else None
        answer = one if f != "r" or not lists else None if rest == ["_"] else elements
        made.append([F[f], key, answer])
    return made


def completed(*lines, lists):
    """Completions that nobody invoked: of nothing is known when it began."""
    found = []
    for number, line in enumerate(lines):
        head, _, words = line.rpartition(":")
        process, _, type_ = head.partition(" ")
        found.append(Op(number, process or f"p{number}", type_ or "ok", "txn", value(words, lists=lists)))
    return found


def in_turn(*lines, lists):
    """Each is over before the next begins."""
    found = []
    for op in completed(*lines, lists=lists):
        asked = [[f, key, None if f == "r" else answer] for f, key, answer in op.value]
        found += [op._replace(time=2 * op.time, type="invoke", value=asked), op._replace(time=2 * op.time + 1)]
    return found


def names(result):
    return sorted(result.parts)


def weakest(result):
    return result.evidence["refuted"]["weakest"]


def of_lists(*lines, promised="serializable", how=completed):
    return list_append(how(*lines, lists=True), promised=promised)


def of_registers(*lines, promised="serializable", how=completed, keys_are=()):
    return rw_register(how(*lines, lists=False), promised=promised, keys_are=keys_are)

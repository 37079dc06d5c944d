"""A run in which nothing goes wrong, long enough to measure the checkers with; and histories in a line: what each process did, in
the order in which it happened.
"""

from collections.abc import Callable

import pytest

from tidemark.checkers import History, Op, polled, sent

KEY = "t-0"
PER_TERM = 33


def orderly_history(terms: int = 4) -> History:
    """Three brokers lead in turn; each leader writes, both followers fetch, and nobody loses a committed record.

    Each term ends with a record that only the leader has, which it truncates when it follows the next leader.
    """
    time, nodes = 0, (1, 2, 3)
    trace, ops, log, values = [], [], 0, iter(range(10**6))
    epochs = {}
    for node in nodes:
        trace += [(0, node, "start", "", 1), (0, 0, "register", "", node, 1, True)]
    for term in range(1, terms + 1):
        leader = nodes[(term - 1) % 3]
        others = [node for node in nodes if node != leader]
        how = "initial" if term == 1 else "online"
        trace.append((time, 0, "elect", KEY, leader, term, nodes, (), how, True, term))
        trace.append((time, leader, "lead", KEY, term, log, log, nodes))
        epochs[term] = log
        for node in others:
            trace.append((time, node, "follow", KEY, term, leader, log, log))
            if term > 1 and node == nodes[(term - 2) % 3]:
                trace += [
                    (time, node, "ask", KEY, leader, term - 1),
                    (time, node, "truncate", KEY, log, log + 1, "epoch", term),
                ]
            trace.append((time, node, "fetched", KEY, term, leader))
        for _ in range(PER_TERM):
            value = next(values)
            ops.append(Op(time, "p1", "invoke", "send", (("send", KEY, value),), None, "all"))
            for node in (leader, *others):
                trace.append((time + 1, node, "append", KEY, log, term, (value,)))
            log += 1
            for step in range(7):
                node = (leader, *others)[step % 3]
                trace.append((time + 2, node, "hw", KEY, log, term, node == leader))
            ops.append(sent(time + 3, "p1", KEY, value, log - 1))
            ops.append(Op(time + 3, "c1", "invoke", "poll", (("poll", {}),)))
            ops.append(polled(time + 4, "c1", KEY, (log - 1, value)))
            trace += [(time + 4, leader, "isr", KEY, nodes, nodes, term)] * 5
            time += 10
        if term < terms:
            trace.append((time, leader, "append", KEY, log, term, (next(values) + 500_000,)))
    batches = []
    for op in ops:
        if op.f == "send" and op.type == "ok":
            offset, value = op.value[0][2]
            epoch = max(term for term, start in epochs.items() if start <= offset)
            batches.append((offset, epoch, (value,)))
    trace.append((time, 0, "converged", KEY, True, ""))
    for node in nodes:
        role = "leader" if node == leader else "follower"
        trace.append((time, node, "final", KEY, role, terms, log, log, tuple(epochs.items()), tuple(batches)))
    meta = {
        "variant": "orderly", "contract": "documented", "replicas": {KEY: list(nodes)}, "min_isr": 2, "acks": "all",
        "unclean_election": False, "faults_end_us": time - 100, "end_us": time, "plan": 0, "seed": 0,
    }  # fmt: skip
    return History(meta, ops, [], trace)


@pytest.fixture
def orderly() -> Callable[..., History]:
    """The function that makes such a run."""
    return orderly_history


@pytest.fixture
def history():
    def made(*halves):
        """Each half ``(process, type, f, value)``; they are a millisecond apart."""
        return [Op(1000 * place, *half) for place, half in enumerate(halves, start=1)]

    return made


@pytest.fixture
def alone(history):
    def made(*done):
        """Each ``(process, f, asked, answered)`` from its invocation to its end, one after the other."""
        halves = []
        for process, f, asked, answered in done:
            halves += [(process, "invoke", f, asked), (process, "ok", f, answered)]
        return history(*halves)

    return made

"""What `python -m bench against` has two trees do: pieces of work of about a CPU second, and what they need made first.

Both trees run this file, so both do the same. It imports little, and late: what a tree lacks is then said for that work only.
``python -m bench.works NAME`` prepares the work, does it once, and then once more for each line that it reads; it answers with a
line of JSON, CPU seconds and those of the processes that it started and waited for.
"""

from __future__ import annotations

import gc
import io
import json
import resource
import sys
from collections.abc import Callable, Iterator
from functools import partial

Work = Callable[[], object]
KEYS = 20


def main() -> int:
    """Serve the process that compares; 1 if this tree does not have what the work needs."""
    try:
        work = WORKS[sys.argv[1]]()
        work()
    except (ImportError, AttributeError, TypeError) as error:
        print(json.dumps({"lacks": str(error)}), flush=True)
        return 1
    print(json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin:
        gc.collect()
        began = _spent()
        work()
        print(json.dumps({"seconds": _spent() - began}), flush=True)
    return 0


def simulating() -> Work:
    """Simulated runs, with their digests."""
    from tidemark.harness.simulator import simulate
    from tidemark.nemesis import generate_plan
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.core.variant import parse_variant

    plans = [generate_plan(1, i, ("intact", "destructive")[i % 2], ClusterSpec()) for i in range(200)]
    variants = [parse_variant(name) for name in ("kafka-2.1", "kafka-2.7", "kafka-4.0")]
    return lambda: [simulate(plan, variants[i % 3]).events for i, plan in enumerate(plans)]


def checking() -> Work:
    """Verdicts about simulated runs."""
    from tidemark.checkers import check
    from tidemark.harness.simulator import simulate
    from tidemark.nemesis import generate_plan
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.core.variant import parse_variant

    variant = parse_variant("kafka-2.7")
    plans = [generate_plan(1, i, ("intact", "destructive")[i % 2], ClusterSpec()) for i in range(300)]
    histories = [simulate(plan, variant).history for plan in plans]
    return lambda: [check(history).valid for history in histories]


def reading(lines: Callable[[int], list[str]], operations: int) -> Work:
    """A history of an unknown system, from its bytes."""
    from tidemark.checkers import read_stream

    data = "\n".join(lines(operations)).encode() + b"\n"
    return lambda: read_stream(io.BytesIO(data))


def judging() -> Work:
    """The verdict about such a history, when it has been read."""
    from tidemark.checkers import check, read_stream

    history = read_stream(io.BytesIO("\n".join(json_lines(100_000)).encode()))
    return lambda: [check(history) for _ in range(12)]


def exploring() -> Work:
    """All states within small bounds, in one process."""
    from tidemark.harness.search.explore.bounds import Bounds
    from tidemark.harness.search.explore.search import explore
    from tidemark.nodes.core.variant import parse_variant

    bounds = Bounds(brokers=3, records=1, epochs=3)
    variant = parse_variant("kafka-2.7+forget-log-ends")
    return lambda: explore(variant, bounds, ("StrongIsr", "LogMatchingHw")).states


def hunting() -> Work:
    """Rounds of a hunt that finds nothing."""
    from tidemark.harness.search.hunt import Hunt, Quarry
    from tidemark.harness.search.hunt.hunt import Attempt
    from tidemark.nodes.core.cluster import ClusterSpec

    def hunt() -> int:
        found = Hunt(Attempt("kafka-2.7", Quarry(("divergence",))), "intact", ClusterSpec(), 1, free=True)
        return next(progress.tries for progress in found.rounds() if progress.tries >= 100)

    return hunt


def shrinking() -> Work:
    """A plan that breaks a rule, made smaller."""
    from bench.shrinking import SEED
    from tidemark.harness.search.shrink import Budget, causes_of, shrink
    from tidemark.harness.search.shrink.choice import chosen
    from tidemark.harness.simulator.execute import execute
    from tidemark.nemesis import generate_plan
    from tidemark.nodes.core.cluster import ClusterSpec

    for index in range(1000):
        plan = generate_plan(SEED, index, "intact", ClusterSpec())
        run = execute(plan, "kafka-0.10")
        anomaly = chosen(run.verdict)
        if anomaly is not None:
            break
    cause = causes_of(anomaly, run.verdict, run.history)[0]
    return lambda: shrink(plan, cause, lambda one: execute(one, "kafka-0.10"), budget=Budget(200))


def linearizability() -> Work:
    """Histories of registers and of a key-value store."""
    from bench.linearizability import _history
    from tidemark.checkers.objects.linearizability import CasRegister, KeyValue, linearizable

    short = [_history(seed, 75, 5, None, 5) for seed in range(80)]
    long = [_history(seed, 2000, 50, 10, 5) for seed in range(12)]
    return lambda: [
        linearizable(ops, model).valid for those, model in ((short, CasRegister()), (long, KeyValue())) for ops in those
    ]


def transactions() -> Work:
    """Transactions of lists and of registers."""
    from bench.transactions import TransactionalStore
    from tidemark.checkers.objects.transactions.check import list_append, rw_register

    lists, registers = (
        TransactionalStore(1, lists=kind, keys=30, processes=20, writes=32).play(40_000) for kind in (True, False)
    )
    return lambda: (list_append(lists), rw_register(registers))


def json_lines(operations: int) -> list[str]:
    """A correct history, two lines an operation: a record is sent to each key, and then each key polled."""
    lines = [json.dumps({"kind": "meta", "line": 1, "lines": 2 * operations + 1})]
    for nth, (send, key, offset) in enumerate(_operations(operations)):
        asked, answered = (
            (["send", key, offset], ["send", key, [offset, offset]])
            if send
            else (["poll", {}], ["poll", {key: [[offset, offset]]}])
        )
        op = {"process": nth % KEYS, "f": "send" if send else "poll"}
        for half, (kind, value) in enumerate((("invoke", asked), ("ok", answered)), 2 * nth):
            told = {"kind": "op", "line": half + 2, "time": 10 * half, **op, "type": kind, "value": [value]}
            lines.append(json.dumps(told | {"error": None, "acks": None, "final": False}, separators=(",", ":")))
    return lines


def edn_lines(operations: int) -> list[str]:
    """The same, as Jepsen writes it."""
    lines = []
    for nth, (send, key, offset) in enumerate(_operations(operations)):
        asked = f'[:send "{key}" {offset}]' if send else "[:poll]"
        answered = f'[:send "{key}" [{offset} {offset}]]' if send else f'[:poll {{"{key}" [[{offset} {offset}]]}}]'
        op = f":process {nth % KEYS}, :f :{'send' if send else 'poll'}"
        for half, (kind, value) in enumerate((("invoke", asked), ("ok", answered)), 2 * nth):
            lines.append(f"{{:type :{kind}, {op}, :value [{value}], :time {10_000 * half}, :index {half}}}")
    return lines


def _operations(many: int) -> Iterator[tuple[bool, str, int]]:
    """Whether it sends, the key, the record's offset."""
    for nth in range(many):
        in_turn, key = divmod(nth, KEYS)
        yield in_turn % 2 == 0, str(key), in_turn // 2


WORKS: dict[str, Callable[[], Work]] = {
    "simulator": simulating,
    "checking": checking,
    "foreign-json": partial(reading, json_lines, 40_000),
    "foreign-edn": partial(reading, edn_lines, 30_000),
    "foreign-judged": judging,
    "exploring": exploring,
    "hunting": hunting,
    "shrinking": shrinking,
    "linearizability": linearizability,
    "transactions": transactions,
}
"""Name → what prepares the work and gives it."""


def _spent() -> float:
    mine, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in (mine, theirs))


if __name__ == "__main__":
    sys.exit(main())

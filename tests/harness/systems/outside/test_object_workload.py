"""A workload beside the log, on objects in memory: what keeps its promise is valid, and what breaks it is not."""

import json
import threading

import pytest

from tidemark import Outcome
from tidemark.checkers import History, check
from tidemark.harness.clients.counters import Counters
from tidemark.harness.clients.workload import WorkloadOrder
from tidemark.harness.systems.outside import object_workload
from tidemark.harness.systems.outside.object_workload import MODELS, ObjectClients
from tidemark.nemesis import ObjectWorkload, Plan, WorkloadSpec
from tidemark.nemesis.object_workload import OBJECTS, Operations
from tidemark.nodes.core.cluster import ClusterSpec

PATIENCE_S = 20.0


class Store:
    """Everything in memory, under one lock."""

    def __init__(self):
        self.lock, self.values, self.elements = threading.Lock(), {}, []

    def open(self, address):
        pass

    def close(self):
        pass

    def invoke(self, f, value):
        with self.lock:
            return Outcome("ok", self.do(f, value))

    def do(self, f, value):
        if f in ("enqueue", "dequeue"):
            return self.elements.append(value) if f == "enqueue" else self.elements.pop(0) if self.elements else None
        if f == "generate":
            self.elements.append(0)
            return len(self.elements)
        if f == "txn":
            return [self.micro(*one) for one in value]
        if f == "add":
            return self.elements.append(value)
        if f == "read":
            return list(self.elements) if value is None else self.values.get(value)
        key, what = value
        if f == "cas":
            old, what = what
            if self.values.get(key) != old:
                return False
        self.values[key] = what
        return True

    def micro(self, what, key, value):
        held = self.values.get(key, [])
        if what == "append":
            self.values[key] = [*held, value]
            return what, key, value
        return what, key, held


class Counter(Store):
    """The same, of a counter."""

    def do(self, f, value):
        if f == "add":
            return self.elements.append(value)
        return sum(self.elements)


class Forgetful(Store):
    """Forgets what was written, once."""

    def __init__(self, after=60):
        super().__init__()
        self.done, self.after = 0, after

    def do(self, f, value):
        self.done += 1
        if self.done == self.after:
            self.values.clear()
            self.elements.clear()
        return super().do(f, value)


class ForgetfulCounter(Forgetful, Counter):
    """Likewise."""


def keeping(kind):
    return Counter() if kind == "counter" else Store()


def forgetting(kind):
    if kind == "group-offsets":
        return Forgetful(after=140)  # what is read in the end only has been written again since
    return ForgetfulCounter() if kind == "counter" else Forgetful()


class Lying(Store):
    """Does what it is asked, and says that it did not."""

    def invoke(self, f, value):
        outcome = super().invoke(f, value)
        changes = f in ("write", "add", "enqueue") or (f == "txn" and any(what == "append" for what, _, _ in value))
        return Outcome("fail", error="no") if changes else outcome


def run(kind, store, operations=150, read_until=1 << 39):
    """A history of two clients on a store, told as that of a system seen from outside."""
    ops, moment, enough = [], iter(range(1, 1 << 40)), threading.Event()

    def record(op):
        ops.append(op)
        if len(ops) == 2 * operations:
            enough.set()

    spec = WorkloadSpec(producers=1, consumers=1, interval_us=100, object=ObjectWorkload.usual(kind))
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), spec, (), 1)
    order = WorkloadOrder(
        plan=plan, variant=None, addresses={1: "here:1"}, clock=lambda: next(moment), record=record,
        counters=Counters(), library="confluent", log=None,
    )  # fmt: skip
    workload = ObjectClients(order, lambda: store)
    workload.start()
    assert enough.wait(PATIENCE_S)
    workload.stop()
    read = workload.final_read(read_until)
    meta = {"untold": True, "isr": False, "contract": "majority", "faults": 0, "read_back": read}
    return History.of(ops=ops, workload=kind, model=MODELS[kind], **meta)


@pytest.mark.parametrize("kind", OBJECTS)
def test_what_keeps_its_promise_is_valid(kind):
    verdict = check(run(kind, keeping(kind)))
    assert (verdict.valid, verdict.anomalies, verdict.unknown_because) == ("valid", (), None)


@pytest.mark.parametrize("kind", OBJECTS)
def test_what_forgets_is_invalid(kind):
    verdict = check(run(kind, forgetting(kind)))
    assert verdict.valid == "invalid"
    assert {one.verdict for one in verdict.anomalies} == {"violation"}


@pytest.mark.parametrize(
    ("kind", "found"),
    [("register", "not-linearizable"), ("list-append", "G1a"), ("set", "set-full"), ("queue", "total-queue")],
)
def test_who_says_that_nothing_was_done_is_held_to_it(kind, found):
    assert found in {one.name for one in check(run(kind, Lying())).anomalies}


@pytest.mark.parametrize("kind", OBJECTS)
def test_operations_are_begun_in_the_order_of_the_plan(kind):
    history = run(kind, keeping(kind))
    asked = [(op.f, op.value) for op in history.ops if op.type == "invoke" and not op.final]
    meant = Operations(ObjectWorkload.usual(kind), 1)
    expected = [next(meant) for _ in asked]
    assert asked == [(one.f, one.value if one.key is None else (one.key, one.value)) for one in expected]


@pytest.mark.parametrize("kind", OBJECTS)
def test_a_stored_history_is_judged_as_the_run_was(kind, tmp_path):
    from tidemark.checkers import write_history
    from tidemark.harness.runs.folder import load_history

    history = run(kind, forgetting(kind))
    write_history(history, tmp_path / "history.jsonl")
    again = check(load_history(tmp_path))
    assert json.dumps(again.to_json()) == json.dumps(check(history).to_json())


def test_what_was_taken_and_comes_again_is_a_violation():
    class Twice(Store):
        def do(self, f, value):
            if f == "dequeue" and self.elements and self.elements[0] == 3 and not self.values:
                self.values["came"] = True
                return 3
            return super().do(f, value)

    history = run("queue", Twice())
    (anomaly,) = check(history).anomalies
    put, *taken = [f"{op.process} at {op.time / 1e6:.6f} s" for op in history.ops if op.type == "ok" and op.value == 3]
    assert anomaly.name == "total-queue"
    assert anomaly.message == (
        f"1 element came out more often than it was put in. Element 3, for one: enqueued by {put}; "
        f"taken by {taken[0]}, by {taken[1]}."
    )


def test_of_a_queue_that_loses_one_element_is_told():
    from tidemark.harness.report.story import choose_anomaly, tell

    history = run("queue", Forgetful())
    verdict = check(history)
    story = tell(history, choose_anomaly(verdict))
    lost = verdict.anomalies[0].evidence["lost"][0]
    assert story.value == lost
    assert [moment.sentence.split(" ", 2)[2] for moment in story.moments if moment.node == -1] == [
        f"enqueues element {lost}.",
        f"told that element {lost} is in the queue (acknowledged).",
    ]
    assert verdict.anomalies[0].message.endswith("; never taken.")


def test_a_queue_that_was_not_emptied_has_lost_nothing(monkeypatch):
    monkeypatch.setattr(object_workload, "AGAIN_S", 0.0001)

    class Stuck(Store):
        def do(self, f, value):
            if f == "dequeue" and len(self.elements) < 9:
                raise PermissionError("others hold what is left")
            return super().do(f, value)

    history = run("queue", Stuck(), read_until=1_500)
    verdict = check(history)
    assert (history.meta["read_back"], verdict.valid, verdict.anomalies) == (False, "unknown", ())
    assert "never came out" in verdict.unknown_because


def test_a_run_has_a_page(tmp_path):
    from tidemark.harness.report.pages import render_run

    history = run("list-append", Store())
    history.meta["variant"] = "store"
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(object=ObjectWorkload("list-append")), (), 1)
    verdict = check(history)
    render_run(plan.to_json(), history, verdict, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert f"{verdict.stats['operations']['ok']} operations were answered while 0 faults struck" in page


def test_whose_operation_may_yet_be_carried_out_is_another_process_afterwards():
    class Slow(Store):
        def do(self, f, value):
            if f != "read":
                raise TimeoutError("slow")
            return super().do(f, value)

    ops = run("register", Slow(), 20).ops
    unsure = [op.process for op in ops if op.type == "info"]
    assert len(unsure) == len(set(unsure)) > 0
    for process in unsure:
        assert [op.type for op in ops if op.process == process][-1] == "info"

"""Real time, decided in one thread and carried out in lanes."""

import threading

import pytest

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live.access import Access
from tidemark.harness.live.run_loop import RunLoop
from tidemark.harness.machines.errors import NodeError


@pytest.fixture
def run_loop():
    run_loop = RunLoop()
    yield run_loop
    run_loop.close()


def test_what_is_due_happens_in_order_of_time_and_then_of_the_calls(run_loop):
    done = []
    for at, name in ((2_000, "c"), (1_000, "a"), (1_000, "b"), (3_600_000_000, "never")):
        run_loop.call_at(at, lambda name=name: done.append(name))
    run_loop.run_until(3_000)

    assert done == ["a", "b", "c"]
    assert run_loop.now_us() >= 3_000


def test_what_is_late_still_happens(run_loop):
    done = []
    run_loop.call_at(-5_000, lambda: done.append("late"))
    run_loop.run_until(run_loop.now_us())

    assert done == ["late"]


def test_other_threads_wake_the_run_loop(run_loop):
    """It would sleep for an hour."""
    here = []

    def stop():
        here.append(threading.current_thread())
        raise RunError("enough")

    thread = threading.Thread(target=lambda: run_loop.post(stop))
    run_loop.call_at(1_000, thread.start)
    with pytest.raises(RunError, match="enough"):
        run_loop.run_until(3_600_000_000)
    thread.join()

    assert here == [threading.current_thread()]


def test_a_lane_does_one_thing_after_the_other(run_loop):
    done = []
    go = threading.Event()
    run_loop.submit("b1", "wait", lambda: (go.wait(5), done.append("first")))
    run_loop.submit("b1", "follow", lambda: done.append("second"))
    run_loop.submit("b2", "overtake", lambda: (done.append("other lane"), go.set()))
    run_loop.settle(5)

    assert done == ["other lane", "first", "second"]


def test_a_failure_in_a_lane_fails_the_run_with_words(run_loop):
    def fail():
        raise NodeError("b1 is on fire")

    run_loop.submit("b1", "stop b1", fail)
    with pytest.raises(RunError, match=r"^cannot stop b1: b1 is on fire$"):
        run_loop.settle(5)


def test_a_mistake_of_ours_in_a_lane_fails_the_run_as_well(run_loop):
    run_loop.submit("b1", "stop b1", lambda: {}["missing"])
    with pytest.raises(RunError, match=r"^cannot stop b1: KeyError: 'missing'$"):
        run_loop.settle(5)


def test_settling_is_bounded(run_loop):
    go = threading.Event()
    run_loop.submit("b1", "wait", lambda: go.wait(5))
    with pytest.raises(RunError, match=r"is not done after 0\.05 s"):
        run_loop.settle(0.05)
    go.set()


def test_what_waits_in_a_lane_is_dropped_at_the_end(run_loop):
    done = []
    go = threading.Event()
    run_loop.submit("b1", "wait", lambda: go.wait(5))
    dropped = run_loop.submit("b1", "follow", lambda: done.append("done"))
    dropped.add_done_callback(lambda _: go.set())
    run_loop.close()

    assert done == []
    with pytest.raises(RunError, match=r"^cannot start b1: the run is over$"):
        run_loop.submit("b1", "start b1", lambda: None)


def test_the_end_waits_for_what_is_being_done_and_not_for_what_was_dropped(run_loop, monkeypatch):
    waited_for = []
    monkeypatch.setattr("tidemark.harness.live.run_loop.wait_for", lambda futures, within_s: waited_for.extend(futures))
    begun, go = threading.Event(), threading.Event()
    doing = run_loop.submit("b1", "wait", lambda: (begun.set(), go.wait(5)))
    run_loop.submit("b1", "follow", lambda: None)
    assert begun.wait(5)
    run_loop.close()
    go.set()

    assert waited_for == [doing]


def test_time_begins_anew(run_loop):
    run_loop.call_at(1_000, lambda: None)
    run_loop.run_until(1_000)
    run_loop.begin()

    assert run_loop.now_us() < 1_000


def test_access_is_shared_or_exclusive():
    access = Access()
    order = []
    inside, go = threading.Event(), threading.Event()

    def alone():
        with access.exclusive():
            order.append("alone")
            inside.set()
            go.wait(5)
            order.append("done")

    def shared():
        with access.shared():
            order.append("shared")

    with access.shared(), access.shared():
        breaker = threading.Thread(target=alone)
        breaker.start()
        order.append("held")
    assert inside.wait(5)
    reader = threading.Thread(target=shared)
    reader.start()
    go.set()
    breaker.join()
    reader.join()

    assert order == ["held", "alone", "done", "shared"]

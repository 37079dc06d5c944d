"""A Ctrl-C waits until what must be removed is removed; a kill is a Ctrl-C where it is asked to be."""

import os
import signal
import threading

import pytest

from tidemark.harness.machines.interrupts import held_interrupts, terminated_like_interrupted


@pytest.fixture(autouse=True)
def ctrl_c_interrupts():
    """As in a terminal; a shell starts what it puts in the background with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(done, error=None):
    """Twice, inside, and inside of that."""
    with held_interrupts(), held_interrupts():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        done.append("inside")
        if error is not None:
            raise error


def test_what_is_inside_runs_to_its_end_and_then_the_interrupt_comes():
    done = []

    with pytest.raises(KeyboardInterrupt):
        interrupted(done)

    assert done == ["inside"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_nothing_happens():
    with held_interrupts():
        pass

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_inside_is_not_hidden_by_an_interrupt():
    with pytest.raises(ValueError, match="why"):
        interrupted([], ValueError("why"))


def test_other_threads_leave_the_handler_alone():
    seen = []

    def look():
        with held_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    assert seen == [signal.default_int_handler]


def killed(done):
    with terminated_like_interrupted():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            done.append("removed")


def test_a_kill_lets_us_remove_what_has_to_be_removed():
    before = signal.getsignal(signal.SIGTERM)
    done = []

    with pytest.raises(KeyboardInterrupt):
        killed(done)

    assert done == ["removed"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_other_threads_leave_the_handler_of_a_kill_alone():
    before = signal.getsignal(signal.SIGTERM)
    seen = []

    def look():
        with terminated_like_interrupted():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    assert seen == [before]


def test_a_kill_waits_for_what_must_not_be_interrupted():
    done = []

    def remove():
        with held_interrupts():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("removed")

    with terminated_like_interrupted(), pytest.raises(KeyboardInterrupt):
        remove()

    assert done == ["removed"]


def test_a_forked_process_is_ended_by_a_kill_as_usual():
    with terminated_like_interrupted():
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(0)
        _, status = os.waitpid(child, 0)

    assert os.WTERMSIG(status) == signal.SIGTERM

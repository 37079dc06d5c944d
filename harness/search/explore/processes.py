"""Several processes of this machine that do the same work in step, this one among them."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from itertools import combinations
from multiprocessing.connection import Connection
from typing import TypeVar

from tidemark.harness.machines.interrupts import hear_them, kept_from_new_processes
from tidemark.harness.search.explore.mesh import Mesh

R = TypeVar("R")
_PR_SET_PDEATHSIG = 1


class ProcessEndedError(RuntimeError):
    """One of the processes was ended from outside; the message says how many there were."""


def in_step(work: Callable[[Mesh], R], jobs: int) -> R:
    """Do the work in so many processes, each with its links to the others.

    Returns:
        What it came to in this one.

    Raises:
        ProcessEndedError: see there. Whatever the work raises, in whichever process.
    """
    if jobs == 1:
        return work(Mesh())
    fork = multiprocessing.get_context("fork")  # they have all that is loaded, rules of the reader's own too
    links: list[dict[int, Connection]] = [{} for _ in range(jobs)]
    for one, other in combinations(range(jobs), 2):
        links[one][other], links[other][one] = fork.Pipe()
    pipes = [fork.Pipe(duplex=False) for _ in range(1, jobs)]
    command = os.getpid()

    def other_process(rank: int) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what Ctrl-C means is the command's to say
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        hear_them()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != command:
            return
        _close_all_but(links, rank)
        try:
            work(Mesh(rank, links[rank]))
        except (EOFError, OSError):
            return  # another has ended, and the command says why
        except Exception as error:  # noqa: BLE001 (it is the command's to raise)
            with suppress(OSError):
                pipes[rank - 1][1].send(error)

    children = [fork.Process(target=other_process, args=(rank,), daemon=True) for rank in range(1, jobs)]
    try:
        with kept_from_new_processes():
            for child in children:
                child.start()
        _close_all_but(links, 0)
        return work(Mesh(0, links[0]))
    except (EOFError, ConnectionError):
        for child in children:
            child.join()
        raise _why(pipes, jobs) from None
    finally:
        for link in links[0].values():
            link.close()
        for child in children:
            child.terminate()
            child.join()


def _why(pipes: list[tuple[Connection, Connection]], jobs: int) -> Exception:
    """What one of the processes that have all ended has said last."""
    for receiving, sending in pipes:
        sending.close()
        with suppress(EOFError):
            error: Exception = receiving.recv()
            return error
    return ProcessEndedError(
        f"one of the {jobs} processes was ended from outside, as a machine does that has no memory left"
    )


def _close_all_but(links: list[dict[int, Connection]], rank: int) -> None:
    """A process that ends is noticed by the others only if nobody else has its ends of the links."""
    for process, own in enumerate(links):
        if process != rank:
            for link in own.values():
                link.close()

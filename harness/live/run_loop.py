"""Real time for a run: one thread decides, others act.

The *run_loop* is whoever calls :meth:`RunLoop.run_until`. Everything that decides (the injector, what follows a trace event, a
process that ended) happens in its thread, in order of time, as it would in the simulator. What takes long is done in *lanes*: one
thread each, so that what happens to one part of one machine happens in order, and machines do not wait for each other.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from heapq import heappop, heappush

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.machines.errors import ContainerWorldError


def monotonic_us() -> int:
    """CLOCK_MONOTONIC."""
    return time.monotonic_ns() // 1_000


class RunLoop:
    """The time of a run, what is due when, and the lanes.

    Attributes:
        began_us: CLOCK_MONOTONIC at time 0 of the run; :meth:`begin` sets it.
    """

    def __init__(self) -> None:
        self.began_us = monotonic_us()
        self._news = threading.Condition()
        self._posted: deque[Callable[[], None]] = deque()
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._seq = 0
        self._lanes: dict[str, ThreadPoolExecutor] = {}
        self._under_way: set[Future[None]] = set()
        self._closed = False

    # Time

    def begin(self) -> None:
        """Time is 0 now."""
        self.began_us = monotonic_us()

    def now_us(self) -> int:
        """µs since the run began."""
        return monotonic_us() - self.began_us

    def call_at(self, at_us: int, deed: Callable[[], None]) -> None:
        """Do something at a time, in the run_loop's thread; what is due at the same time happens in the order of the calls."""
        with self._news:
            self._seq += 1
            heappush(self._heap, (at_us, self._seq, deed))
            self._news.notify_all()

    def post(self, deed: Callable[[], None]) -> None:
        """Do something as soon as possible, in the run_loop's thread; may be called from any."""
        with self._news:
            self._posted.append(deed)
            self._news.notify_all()

    def run_until(self, until_us: int) -> None:
        """Do what is due until then, and return then.

        Raises:
            RunError: a deed failed, here or in a lane.
        """
        while (deed := self._following(until_us)) is not None:
            deed()

    def _following(self, until_us: int) -> Callable[[], None] | None:
        with self._news:
            while True:
                if self._posted:
                    return self._posted.popleft()
                now = self.now_us()
                due = self._heap[0][0] if self._heap else until_us
                if self._heap and due <= min(now, until_us):
                    return heappop(self._heap)[2]
                if now >= until_us:
                    return None
                self._news.wait((min(due, until_us) - now) / 1e6)

    # Lanes

    def submit(self, lane: str, what: str, deed: Callable[[], None]) -> Future[None]:
        """Do something in a lane, after all that was given to it before. If it fails, so does the run.

        Args:
            lane: its name.
            what: words for a failure, such as ``stop broker 2``.
            deed: what to do.
        """

        def carry_out() -> None:
            try:
                deed()
            except ContainerWorldError as error:
                self._fail(RunError(f"cannot {what}: {error}"))
            except Exception as error:  # noqa: BLE001 - whatever it is, the run is not what was planned
                self._fail(RunError(f"cannot {what}: {type(error).__name__}: {error}"))

        with self._news:
            if self._closed:
                raise RunError(f"cannot {what}: the run is over")
            if lane not in self._lanes:
                self._lanes[lane] = ThreadPoolExecutor(1, thread_name_prefix=lane)
            future = self._lanes[lane].submit(carry_out)
            self._under_way.add(future)
        future.add_done_callback(self._done)
        return future

    def _done(self, future: Future[None]) -> None:
        with self._news:
            self._under_way.discard(future)
            self._news.notify_all()

    def _fail(self, error: RunError) -> None:
        def fail() -> None:
            raise error

        self.post(fail)

    def settle(self, within_s: float) -> None:
        """Wait until the lanes have nothing to do, doing meanwhile what is due.

        Raises:
            RunError: a deed failed, or they are not done in time.
        """
        deadline = time.monotonic() + within_s
        while True:
            self.run_until(self.now_us())
            with self._news:
                if not self._under_way and not self._posted:
                    return
                left = deadline - time.monotonic()
                if left <= 0:
                    raise RunError(f"what was begun on the machines is not done after {within_s:g} s")
                self._news.wait(min(left, 0.05))

    def close(self, within_s: float = 30.0) -> None:
        """End the lanes, when what they are doing is done or the time is over. Failures do not matter any more."""
        with self._news:
            self._closed = True
            lanes, self._lanes = list(self._lanes.values()), {}
            under_way = set(self._under_way)
            self._heap.clear()
            self._posted.clear()
        for lane in lanes:
            lane.shutdown(wait=False, cancel_futures=True)
        # What was dropped counts as under way for ever: nobody is left to take note that it was cancelled.
        wait_for([future for future in under_way if not future.cancelled()], within_s)

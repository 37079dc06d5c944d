"""Which tests are left out beside those marked by hand.

By `make check` what took long when it was measured last (`tests/slow.txt`); by `make test` what does again, for seconds, what a
quicker one does (`tests/systems.txt`), which `make test-systems` has.
"""

import resource
import time
from pathlib import Path

import pytest

FILE = Path(__file__).parent.parent / "slow.txt"
SYSTEMS = FILE.with_name("systems.txt")
LONG_S = 0.2
"""Of processor time, its children's included, or of waiting for anything but a processor, which other work on the machine had."""


def names():
    """The ids of those tests."""
    return set(FILE.read_text(encoding="utf-8").splitlines())


def mark(items):
    """Mark them."""
    slow, systems = names(), {*SYSTEMS.read_text(encoding="utf-8").splitlines()}
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)
        if item.nodeid in systems:
            item.add_marker(pytest.mark.systems)


class Measured:
    """Adds to the file what takes long in this run, and takes out what its file does not have any more."""

    def __init__(self):
        self.there, self.long = set(), set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        """Before marks deselect any."""
        self.there = {item.nodeid for item in items}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """With its fixtures: where a file shares one, the first test pays; `make measure` goes on until nothing is added."""
        processor, clock = _processor_s(), _clock_s()
        found = yield
        if max(_processor_s() - processor, _clock_s() - clock) >= LONG_S:
            self.long.add(item.nodeid)
        return found

    def pytest_sessionfinish(self):
        """Write the file."""
        asked = {name.partition("::")[0] for name in self.there}
        others = {name for name in names() if name in self.there or name.partition("::")[0] not in asked}
        FILE.write_text("".join(f"{name}\n" for name in sorted(others | self.long)), encoding="utf-8")


def _processor_s():
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def _clock_s():
    """Without the time in which this thread could have gone on and had no processor (``proc(5)``: schedstat, in ns)."""
    waited_ns = int(Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()[1])
    return time.monotonic() - waited_ns / 1e9

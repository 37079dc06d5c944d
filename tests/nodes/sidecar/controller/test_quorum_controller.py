"""One of several controllers: what it traces of what is committed, what it shows, and what it is asked for."""

import asyncio
import time

import pytest

from tidemark.nodes.sidecar.config import SidecarConfig
from tidemark.nodes.sidecar.controller.quorum_controller import QuorumController
from tidemark.nodes.sidecar.quorum_place import QuorumPlace


class Voter:
    """A controller whose log a test writes."""

    def __init__(self, folder, metadata):
        log = folder / "kafka" / "__cluster_metadata-0"
        log.mkdir(parents=True)
        given = {
            "node": 0, "incarnation": 1, "version": "4.3.1", "role": "kraft-controller", "properties": {}, "heap": "1m",
            "libs": "/libs", "partitions": {"t-0": [1, 2, 3]}, "kafka": "127.0.0.1:1", "controls": "127.0.0.1:1",
            "quorum": True, "admin": "127.0.0.1:2", "data": str(folder / "kafka"), "trace": str(folder / "trace"),
            "process": str(folder / "pid"),
        }  # fmt: skip
        self.place, self.trace, self.shown, self.failed = QuorumPlace(), [], [], []
        config = SidecarConfig.from_json(given)
        self.controller = QuorumController(config, self.trace.extend, self.failed.append, self.place, self.shown.extend)
        self._path, self._metadata, self._written = log / f"{0:020}.log", metadata, 0

    def log(self, *records, time_ms=None):
        """Written, and not committed yet; now, unless told otherwise."""
        time_ms = time.time_ns() // 1_000_000 if time_ms is None else time_ms
        with self._path.open("ab") as file:
            file.write(self._metadata.batch(self._written, *records, time_ms=time_ms))
        self._written += len(records)

    def commit(self):
        self.place.hw = self._written
        return self.controller.status()["controller"]


@pytest.fixture
def voter(tmp_path, metadata):
    made = Voter(tmp_path, metadata)
    made.log(metadata.topic(), metadata.partition())
    return made


def now_us():
    return time.monotonic_ns() // 1000


def test_what_is_committed_is_traced_with_its_place_in_the_log_and_shown(voter, metadata):
    assert voter.controller.status()["controller"]["partitions"] == {}
    assert voter.trace == []

    state = voter.commit()

    assert state["partitions"]["t-0"]["leader"] == 1
    assert (state["offset"], state["epoch"], state["leads"]) == (2, -1, False)
    ((at_us, *traced),) = voter.trace
    assert traced == [0, "quorum-decided", "t-0", 1, 0, "elect", [1, 0, (1, 2, 3), (), "initial", True, 0]]
    ((shown_us, *shown),) = voter.shown
    assert shown == [0, "elect", "t-0", 1, 0, (1, 2, 3), (), "initial", True, 0, 1, 0]
    assert at_us == shown_us <= now_us()


def test_it_is_the_active_controller_only_once_it_knows_what_is_committed(voter):
    voter.place.epoch, voter.place.leads = 4, True
    assert not voter.controller.status()["controller"]["leads"]
    assert voter.commit()["leads"]


@pytest.mark.parametrize("jump_ms", [-60_000, 60_000])
def test_the_clock_of_whoever_wrote_a_record_may_have_been_moved(voter, metadata, jump_ms):
    voter.commit()
    before_us = now_us()
    voter.controller.status()
    voter.log(metadata.change(isr=(1, 2)), time_ms=time.time_ns() // 1_000_000 + jump_ms)
    voter.controller.status()
    seen_us = now_us()
    voter.commit()

    assert before_us <= voter.trace[-1][0] <= seen_us


def test_an_order_is_traced_as_asked_for_before_what_it_brings_about(voter, metadata):
    voter.commit()

    class Asked:
        async def reassign(self, partition, replicas, *, wait):
            voter.log(metadata.change(replicas=(1, 2, 3, 4), adding=(4,)))
            voter.commit()

    voter.controller._operations = Asked()
    asyncio.run(voter.controller.reassign("t-0", (1, 2, 3, 4), wait=False))

    order, moved = voter.trace[1:]
    assert order[1:] == (0, "quorum-ordered", "t-0", (1, 2, 3, 4), True)
    assert moved[2:4] == ("quorum-decided", "t-0")
    assert moved[6] == "reassign"
    assert order[0] <= moved[0]


def test_a_log_that_cannot_be_read_ends_the_node(voter):
    voter._path.unlink()
    voter._path.mkdir()
    voter.commit()

    assert voter.failed[0].startswith("the metadata log cannot be read")

"""The order of things in a step: disk, trace, then the wire; one step at a time; and every way to end."""

import asyncio
import errno
import json

import pytest

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.admin.trace_file import Trace
from tidemark.nodes.core.actions import Append, Delete, Halt, Send, SetTimer, Sync
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.events import TimerFired
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.variant import parse_variant
from tidemark.nodes.process.config import NodeConfig
from tidemark.nodes.process.node_driver import BUG, CLEAN, FATAL, NodeDriver

FULL = OSError(errno.ENOSPC, "No space left on device")
BATCH = Batch(0, 0, [1])


class Script:
    """A core that answers each event with the actions it stands for."""

    def __init__(self, done):
        self.out = []
        self.done = done

    def step(self, now_us, event):
        self.done.append(("step", event))
        self.out.clear()
        self.out += SCRIPT.get(event, [])
        return self.out


SCRIPT = {
    "talk": [Send(2, "a"), Append("t-0", BATCH), (5, 1, "hw", "t-0", 1, 0, True), Send(3, "b")],
    "append": [Append("t-0", BATCH)],
    "remove": [(5, 1, "removed", "t-0", 1, 0), Delete("t-0"), Append("t-1", BATCH), Send(2, "done")],
    "sync": [Sync("t-0"), Send(2, "synced")],
    "halt clean": [Send(2, "bye"), Halt("clean")],
    "halt fatal": [Halt("fatal")],
    "timer": [SetTimer(1_000, TimerFired("tick"))],
}


class Driver(NodeDriver):
    def __init__(self, config, loop, trace):
        super().__init__(config, loop, trace)
        self.done = []
        self.core = Script(self.done)
        self.disk_error = None
        self.send_error = None
        self.on_send = lambda message: None

    def write(self, now, action):
        if self.disk_error is not None:
            raise self.disk_error
        self.done.append(("disk", type(action).__name__))
        return (now, 1, "isr", "t-0", []) if isinstance(action, Append) else None

    def send(self, to, message):
        if self.send_error is not None:
            raise self.send_error
        self.done.append(("send", message, len(self.traced())))
        self.on_send(message)

    def stepped(self, entries):
        self.done.append(("stepped", len(entries)))

    def traced(self):
        return [json.loads(line)[2:] for line in self.config.trace.read_text().splitlines()]


@pytest.fixture
def drive(tmp_path):
    """Runs a coroutine function with a driver."""
    addresses = {n: Address("127.0.0.1", 1) for n in range(4)}
    config = NodeConfig(
        node=1,
        incarnation=1,
        variant=parse_variant("kafka-2.7"),
        cluster=ClusterSpec(),
        first_leader_epoch=0,
        listeners={},
        peers=addresses,
        hosts=addresses,
        admin=addresses[0],
        data=None,
        volatile=None,
        trace=tmp_path / "trace.jsonl",
    )

    def run(case):
        async def with_driver():
            trace = Trace(config.trace)
            driver = Driver(config, asyncio.get_running_loop(), trace)
            try:
                await asyncio.wait_for(case(driver), 5)
            finally:
                trace.close()

        asyncio.run(with_driver())

    return run


def test_a_log_is_told_to_be_gone_before_it_is_deleted(drive):
    """Who is killed in between finds it again and tells so; the other way round a log would be gone and nobody had told."""

    async def case(driver):
        then = []
        write = driver.write

        def watch(now, action):
            then.append((type(action).__name__, [entry[0] for entry in driver.traced()]))
            return write(now, action)

        driver.write = watch
        driver.deliver("remove")

        assert then == [("Delete", ["removed"]), ("Append", ["removed"])]
        assert [entry[0] for entry in driver.traced()] == ["removed", "isr"]
        assert driver.done[-2:] == [("send", "done", 2), ("stepped", 2)]

    drive(case)


def test_a_log_that_cannot_be_deleted_ends_the_process_and_nothing_is_told_twice(drive):
    async def case(driver):
        driver.disk_error = FULL
        driver.deliver("remove")

        assert [entry[0] for entry in driver.traced()] == ["removed", "fatal", "stop"]
        assert await driver.ended == FATAL

    drive(case)


def test_disk_then_trace_then_wire(drive):
    async def case(driver):
        driver.deliver("talk")
        assert driver.done == [("step", "talk"), ("disk", "Append"), ("send", "a", 2), ("send", "b", 2), ("stepped", 2)]
        assert driver.traced() == [["isr", "t-0", []], ["hw", "t-0", 1, 0, True]]

    drive(case)


def test_an_event_during_a_step_waits_for_its_end(drive):
    async def case(driver):
        driver.on_send = lambda message: driver.deliver("append") if message == "a" else None
        driver.deliver("talk")
        kinds = [entry[:2] for entry in driver.done]
        assert kinds.index(("step", "append")) == kinds.index(("stepped", 2)) + 1

    drive(case)


def test_a_change_is_carried_out_like_a_step(drive):
    async def case(driver):
        def change(now):
            assert now > 0
            assert driver.core.out == []
            driver.core.out.append(Send(2, "duplicate"))

        driver.deliver("append")
        driver.perform(change)
        assert driver.done[-2:] == [("send", "duplicate", 1), ("stepped", 0)]

    drive(case)


@pytest.mark.parametrize("failing", ["disk_error", "send_error"])
def test_a_disk_that_fails_ends_the_node_and_nothing_is_sent(drive, failing):
    async def case(driver):
        setattr(driver, failing, FULL)
        driver.deliver("talk")
        driver.deliver("append")
        assert await driver.ended == FATAL
        assert not [entry for entry in driver.done if entry[0] in ("send", "stepped")]
        assert ("step", "append") not in driver.done
        *_, fatal, stop = driver.traced()
        assert fatal == ["fatal", "", "the disk failed: [Errno 28] No space left on device"]
        assert stop == ["stop", "", "fatal"]

    drive(case)


def test_a_trace_that_fails_ends_the_node_and_nothing_is_sent(drive, monkeypatch):
    async def case(driver):
        def fail(entries):
            raise FULL

        monkeypatch.setattr(driver.trace, "write", fail)
        driver.deliver("talk")
        assert await driver.ended == FATAL
        assert not [entry for entry in driver.done if entry[0] in ("send", "stepped")]

    drive(case)


@pytest.mark.parametrize(("event", "code", "how"), [("halt clean", CLEAN, "clean"), ("halt fatal", FATAL, "fatal")])
def test_the_core_halts(drive, event, code, how):
    async def case(driver):
        driver.deliver(event)
        assert driver.over
        assert await driver.ended == code
        assert driver.traced() == [["stop", "", how]]
        assert [entry for entry in driver.done if entry[0] == "send"] == ([("send", "bye", 1)] if code == CLEAN else [])
        driver.give_up("again", code=BUG)
        assert driver.traced() == [["stop", "", how]]

    drive(case)


def test_timers_come_back(drive):
    async def case(driver):
        driver.deliver("timer")
        while ("step", TimerFired("tick")) not in driver.done:  # noqa: ASYNC110 (no event tells)
            await asyncio.sleep(0.001)

    drive(case)


def test_a_slow_disk_holds_up_the_step_and_what_comes_after(drive):
    async def case(driver):
        driver.slow_disk_us = 20_000
        driver.deliver("sync")
        driver.deliver("talk")
        assert driver.done == [("step", "sync")]
        driver.slow_disk_us = 0
        while len(driver.done) < 8:  # noqa: ASYNC110 (no event tells)
            await asyncio.sleep(0.001)
        assert driver.done[1:4] == [("disk", "Sync"), ("send", "synced", 0), ("stepped", 0)]
        assert driver.done[4] == ("step", "talk")

    drive(case)

"""The controller's machine as its sidecar sees it: traces what the controller decides, and asks it for an operator's deeds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any
from uuid import UUID

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.admin.port import CommandError
from tidemark.nodes.admin.trace_file import Entry
from tidemark.nodes.sidecar.clock_difference import ClockDifference
from tidemark.nodes.sidecar.config import SidecarConfig
from tidemark.nodes.sidecar.controller.controller_log import ControllerLog
from tidemark.nodes.sidecar.controller.decisions import FORCED, PREFERRED, UNCLEAN
from tidemark.nodes.sidecar.controller.find_log import open_controller_log, traced_before
from tidemark.nodes.sidecar.operations import Operations
from tidemark.nodes.sidecar.request_connection import OperationError

INTERNAL_PORT = 9092
LOOK_S = 0.01
SEEN_S = 10.0
"""For a decision that was answered to be in the log."""
RAISE_S = 1.0
"""From one try to raise features to the next."""
PERHAPS_TAKEN = frozenset(
    {"", "NOT_CONTROLLER", "REQUEST_TIMED_OUT", "UNKNOWN_SERVER_ERROR", "REASSIGNMENT_IN_PROGRESS"}
)
"""After these errors an order to reassign may have been taken. Empty: nobody answered. The last: it was taken, and called off."""


class ClusterController:
    """What the sidecar of node 0 needs beside a broker's sidecar: the state of the cluster, and deeds on it.

    Args:
        config: of the machine.
        write: takes trace entries.
        fail: is told why the log cannot be read.
        operations: to ask the controller; of this machine unless given.
        decisions: the controller's log; found by the configuration unless given.

    Attributes:
        ordered: what an order of a reassignment is called in the trace.
    """

    ordered = "ordered"

    def __init__(
        self,
        config: SidecarConfig,
        write: Callable[[list[Entry]], None],
        fail: Callable[[str], None],
        operations: Operations | None = None,
        decisions: ControllerLog | None = None,
    ) -> None:
        """Nothing is read yet.

        Raises:
            OSError: the trace of an earlier sidecar cannot be read.
        """
        peers = {node: Address(host, INTERNAL_PORT) for host, node in config.peers.items()}
        self._node = config.node
        self._trace = config.trace
        self._write = write
        self._fail = fail
        self._operations = operations or Operations(config.kafka, config.node, peers)
        self._log = open_controller_log(config) if decisions is None else decisions
        self._raises_features = config.raises_features
        self._told_of, self._coordinators = config.partitions, config.coordinators
        self._tasks: list[asyncio.Task[None]] = []
        self._clocks = ClockDifference()
        self._latest_us = 0
        self._held: list[Entry] = []
        self._holds = False
        self._one_at_a_time = asyncio.Lock()

    async def start(self) -> None:
        """Read what there is, and watch; in an upgrade, raise what the cluster can do as soon as it may be."""
        self._look()
        loop = asyncio.get_running_loop()
        self._tasks.append(loop.create_task(self._watch()))
        if self._raises_features:
            self._tasks.append(loop.create_task(self._raise_features()))

    async def close(self) -> None:
        """Read to the end, and watch no more."""
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._tasks.clear()
        self._holds = False
        self._look()

    def status(self) -> dict[str, Any]:
        """``partitions`` and ``sessions``, as :mod:`tidemark.nodes.process.status` shows a controller's."""
        self._look()
        return {"partitions": self._log.partitions, "sessions": self._log.sessions}

    def begin_again(self, empty_trace: Callable[[], None]) -> None:
        """Tell who is registered and live, in a trace that is empty.

        Raises:
            OSError: it cannot be noted how much was told before.
        """
        self._look()
        standing = self._log.standing()
        empty_trace()
        traced_before(self._trace).write_text(str(self._log.told - len(standing)))
        now_us = self._asked_us()
        self._write([(now_us, self._node, *event) for event in standing])

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            self._look()

    async def _raise_features(self) -> None:
        """Kafka refuses as long as a broker of an older release is registered."""
        while True:
            await asyncio.sleep(RAISE_S)
            try:
                await self._operations.raise_features()
            except OperationError:
                continue
            return

    def _look(self) -> None:
        """Trace what was decided. The times are those of the log, so that a decision comes before what it brings about."""
        try:
            found = self._log.poll_timed()
        except OSError as e:
            self._fail(f"the controller's log cannot be read: {e}")
            return
        ahead = self._clocks.ahead_us()
        now = time.monotonic_ns() // 1000
        for wall_us, event in found:
            self._latest_us = max(self._latest_us, min(wall_us - ahead, now))
            self._held.append((self._latest_us, self._node, *event))
        self._write_held()

    def _write_held(self) -> None:
        if self._held and not self._holds:
            entries, self._held = self._held, []
            self._write(entries)

    # An operator's deeds

    async def create_topics(self, partitions: Mapping[str, Sequence[int]], config: Mapping[str, Any]) -> dict[str, Any]:
        """Create the topics of these partitions: partition → its replicas. Ends when each of which the log is to tell has a
        leader.

        Raises:
            CommandError: Kafka refused, or did not answer.
        """
        settings = {name: str(value) for name, value in config.items()}
        await self._asked(self._operations.create_topics(partitions, settings))
        told = [name for name in partitions if name in self._told_of]
        await self._until(lambda: all(self._state(name).get("leader", -1) >= 0 for name in told))
        return {}

    async def delete_topics(self, topics: Collection[str]) -> dict[str, Any]:
        """Delete topics. Ends when the controller has none of their partitions; brokers delete their logs later.

        Raises:
            CommandError: Kafka refused, or did not answer.
        """
        await self._asked(self._operations.delete_topics(topics))
        await self._until(lambda: not any(name.rpartition("-")[0] in topics for name in self._log.partitions))
        return {}

    async def set_min_isr(self, topics: Collection[str], min_isr: int) -> dict[str, Any]:
        """Set these topics' min ISR.

        Raises:
            CommandError: Kafka refused, or did not answer.
        """
        await self._asked(self._operations.set_min_isr(topics, min_isr))
        self._look()
        return {}

    async def allow_unclean(self, topics: Collection[str], *, on: bool) -> dict[str, Any]:
        """Allow these topics' unclean elections, or forbid them.

        Raises:
            CommandError: Kafka refused, or did not answer.
        """
        await self._asked(self._operations.allow_unclean(topics, on=on))
        self._look()
        return {}

    async def switch_elr(self, *, on: bool) -> dict[str, Any]:
        """Switch ELR on or off.

        Raises:
            CommandError: Kafka refused, or did not answer.
        """
        await self._asked(self._operations.switch_elr(on=on))
        self._look()
        return {}

    async def change_voter(self, node: int, directory: UUID, listener: tuple[str, str, int] | None) -> dict[str, Any]:
        """Put a controller into the voters of the quorum, or, without a listener, take it out.

        Raises:
            CommandError: Kafka refused, or did not answer.
        """
        ask = self._operations
        await self._asked(
            ask.remove_voter(node, directory) if listener is None else ask.add_voter(node, directory, listener)
        )
        self._look()
        return {}

    async def reassign(self, partition: str, replicas: Sequence[int], *, wait: bool = True) -> dict[str, Any]:
        """Give a partition other replicas, or another order of them. That it was ordered is traced, unless it was refused.

        Args:
            partition: such as ``t-0``.
            replicas: the preferred leader first; none to take back what is under way.
            wait: until it is done; else until it is under way.

        Raises:
            CommandError: Kafka refused, or did not answer, or it took too long.
        """
        async with self._one_at_a_time:
            await self._order(partition, replicas, wait=wait)
            if not replicas:
                await self._until(lambda: not any(map(self._state(partition).get, ("adding", "removing"))))
            elif wait:
                await self._until(lambda: tuple(self._state(partition).get("replicas", ())) == tuple(replicas))
            else:
                await self._until(lambda: self._target(partition) == set(replicas))
        return self._outcome(partition)

    async def _order(self, partition: str, replicas: Sequence[int], *, wait: bool) -> None:
        """Ask for it. What the controller logs meanwhile is traced when it has answered, behind the order that brings it about."""
        self._look()
        asked_us = self._asked_us()
        self._holds = True
        refused = answered = False
        try:
            await self._operations.reassign(partition, replicas, wait=wait)
            answered = True
        except OperationError as e:
            refused = e.kafka not in PERHAPS_TAKEN
            raise CommandError(str(e)) from e
        finally:
            if not refused:
                self._held.insert(0, (asked_us, self._node, self.ordered, partition, tuple(replicas), answered))
            self._holds = False
            self._look()

    def _asked_us(self) -> int:
        """Now, and no decision that is traced later is of a time before."""
        self._latest_us = max(self._latest_us, time.monotonic_ns() // 1000)
        return self._latest_us

    def _target(self, partition: str) -> set[int]:
        """Whom a partition will have as replicas when what is under way has ended."""
        state = self._state(partition)
        return set(state.get("replicas", ())) - set(state.get("removing", ()))

    async def elect(self, partition: str, how: str, target: int) -> dict[str, Any]:
        """An operator's election; leader and leader epoch after it. Coordinators go where an operator sends the leader.

        Kafka elects the first replica that may lead, so for another target the replicas are given another order for as long as it
        takes. With ZooKeeper each change of the order raises the leader epoch by one more.

        Args:
            partition: such as ``t-0``.
            how: ``preferred``, ``forced`` or ``unclean``.
            target: the broker that shall lead; of no account with ``preferred``.

        Raises:
            CommandError: Kafka refused, or would refuse, or did not answer.
        """
        async with self._one_at_a_time:
            try:
                await self._elect(partition, how, target)
            finally:
                if how != UNCLEAN:
                    await self._move_coordinators(how, target)
        return self._outcome(partition)

    async def _elect(self, partition: str, how: str, target: int) -> None:
        self._look()
        state = self._state(partition)
        replicas = tuple(state.get("replicas", ()))
        if not replicas:
            raise CommandError(f"there is no partition {partition}")
        if how == PREFERRED:
            target = replicas[0]
        self._check(partition, how, target, state)
        self._log.expect(partition, how, target)
        try:
            await self._asked(self._elect_first(partition, how, target, replicas))
        finally:
            self._log.forget(partition)

    async def _move_coordinators(self, how: str, target: int) -> None:
        """The same of partitions of which nothing is traced. Where Kafka refuses it all stays as it is; where nobody answers, that
        is the end of it.
        """
        for partition, replicas in self._coordinators.items():
            try:
                await self._move(partition, replicas, how, target)
            except OperationError as e:
                if not e.kafka:
                    return

    async def _move(self, partition: str, replicas: tuple[int, ...], how: str, target: int) -> None:
        first = replicas[0] if how == PREFERRED or target not in replicas else target
        async with self._with_first(partition, first, replicas) if first != replicas[0] else nullcontext():
            await self._operations.elect_preferred(partition)

    def _check(self, partition: str, how: str, target: int, state: Mapping[str, Any]) -> None:
        """Refuse what Kafka would refuse, before anything is changed for it."""
        leader = state["leader"]
        if target not in state["replicas"]:
            raise CommandError(f"target must be a replica of {partition}, not {target!r}")
        if leader == target:
            raise CommandError(f"broker {target} leads {partition} already")
        if how == UNCLEAN and leader >= 0:
            raise CommandError(
                f"Kafka holds an unclean election only where nobody leads, and broker {leader} leads {partition}"
            )
        if how == FORCED and target not in (*state["isr"], *state["elr"]):
            raise CommandError(f"broker {target} is not in sync, so Kafka cannot make it the leader of {partition}")
        session = self._log.sessions.get(str(target))
        if session is None or not session["live"]:
            raise CommandError(f"broker {target} is not live, so it cannot lead {partition}")

    async def _elect_first(self, partition: str, how: str, target: int, replicas: tuple[int, ...]) -> None:
        reordered = self._first_choice(how, replicas) != target
        state = self._state(partition)
        if reordered and (state["adding"] or state["removing"]):
            raise CommandError(
                f"{partition} is being reassigned, and the other order of replicas that elects broker {target} would end that"
            )
        async with self._with_first(partition, target, replicas) if reordered else nullcontext():
            unclean = how == UNCLEAN
            ask = self._operations.elect_unclean if unclean else self._operations.elect_preferred
            await ask(partition)
            await self._until(lambda: self._state(partition)["leader"] == target)

    @asynccontextmanager
    async def _with_first(self, partition: str, first: int, replicas: tuple[int, ...]) -> AsyncIterator[None]:
        """Meanwhile this broker is the first of the replicas."""
        await self._operations.reassign(partition, (first, *(broker for broker in replicas if broker != first)))
        try:
            yield
        finally:
            await self._operations.reassign(partition, replicas)
            await self._until(lambda: tuple(self._state(partition).get("replicas", replicas)) == replicas)

    def _first_choice(self, how: str, replicas: tuple[int, ...]) -> int:
        """Whom Kafka would elect with the replicas in this order."""
        if how != UNCLEAN:
            return replicas[0]
        sessions = self._log.sessions
        return next((b for b in replicas if str(b) in sessions and sessions[str(b)]["live"]), -1)

    def _state(self, partition: str) -> dict[str, Any]:
        return self._log.partitions.get(partition, {})

    def _outcome(self, partition: str) -> dict[str, Any]:
        state = self._state(partition)
        return {"leader": state["leader"], "leader_epoch": state["leader_epoch"]}

    async def _until(self, true: Callable[[], bool]) -> None:
        """Wait for the log to say so; if it does not, that is left for others to see."""
        deadline = time.monotonic() + SEEN_S
        self._look()
        while not true() and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_S)
            self._look()

    async def _asked(self, operation: Any) -> None:  # noqa: ANN401 (any operation's coroutine)
        try:
            await operation
        except OperationError as e:
            raise CommandError(str(e)) from e

"""A share group as part of a workload (KIP-932): members that take records and acknowledge them, and in the end one that takes what
is left.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from tidemark.harness.clients.client_threads import ClientThreads
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.journal import Journal
from tidemark.harness.clients.share_connection import ACCEPT, REJECT, RELEASE, Delivered, ShareConnection
from tidemark.harness.clients.share_limits import DELIVERIES, lock_ms
from tidemark.harness.clients.share_member import GROUP, ShareMember
from tidemark.harness.clients.wire_client import Address, NoAnswerError, RefusedError, addresses_in
from tidemark.nemesis.plan import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

MOST, MOST_LEFT = 10, 500
"""So many records a poll takes at most, if batches allow; and one of what is left."""
FEW = 3
"""A record that was given less often may be given back, or left to its lock; others are accepted."""
REJECTED, RELEASED = 0.05, 0.15
"""Shares of records that are rejected, and given back."""
LEFT, OVERDUE, PARTLY = 0.04, 0.04, 0.12
"""Shares of polls after which a member breaks off its connections without a word, acknowledges after its locks have expired, and
acknowledges only the last of the records: the others are left to their locks.
"""
RESTARTING = 0.25
"""A share of groups whose members are all killed and started again from time to time, as an application is that is deployed."""
RUNS_S, AWAY_S = (1.0, 5.0), (0.3, 1.5)
"""So long they run, and are away."""
REASSIGNED = 0.5
"""A share of those who are killed: what they hold is of a partition that was assigned to another one."""
POLLS = 4
"""So many polls a member does for one of a consumer that reads alone."""
SLACK_S = 2.0
OPENING_S = REST_S = 60.0
PAUSE_S = 0.1
NEVER = (float("inf"), float("inf"))


def restarts(seed: int) -> Iterator[tuple[float, float]]:
    """When all members of a group are killed, and when they are back, in s since they began; with most seeds they never are."""
    noise = Random(f"{seed}/restarts")
    if noise.random() >= RESTARTING:
        return
    at = 0.0
    while True:
        dies = at + noise.uniform(*RUNS_S)
        at = dies + noise.uniform(*AWAY_S)
        yield dies, at


def open_group(addresses: Sequence[Address], cluster: ClusterSpec, feature: Mapping[str, int]) -> None:
    """Before anything is sent: have a group that begins with each partition's first record, and its state written down.

    Args:
        addresses: of the brokers.
        cluster: whose partitions.
        feature: what has to be switched on first, to which level.

    Raises:
        ClientsError: it did not come about in time.
    """
    deadline = time.monotonic() + OPENING_S
    member = _member("opening", addresses, cluster, Journal(lambda: 0, lambda _: None, "all"), 0)
    left = set(range(cluster.partitions))
    settings = False
    while left and time.monotonic() < deadline:
        try:
            if not settings:
                with ShareConnection(addresses[0], member.patience_s) as asked:
                    for name, level in feature.items():
                        asked.enable(name, level)
                    asked.configure(GROUP, {"share.auto.offset.reset": "earliest"})
                settings = True
        except (NoAnswerError, RefusedError) as error:
            member.trouble = str(error)
            time.sleep(PAUSE_S)
            continue
        if member.keep_up():
            left -= member.poll(MOST)[1]
        time.sleep(PAUSE_S)
    member.leave()
    if left:
        raise ClientsError(f"the share group did not begin within {OPENING_S:g} s: {member.trouble}")


class ShareGroup:
    """The members ``m1`` … of the group, a thread for each.

    Args:
        bootstrap: the brokers' addresses.
        cluster: partitions and times.
        spec: how many members, and how busy.
        journal: takes what they do.
        seed: names the noise streams.
    """

    def __init__(self, bootstrap: str, cluster: ClusterSpec, spec: WorkloadSpec, journal: Journal, seed: int) -> None:
        self._addresses = addresses_in(bootstrap)
        self._cluster, self._spec, self._journal, self._seed = cluster, spec, journal, seed
        self._lock_s = lock_ms(cluster.settings) / 1000
        self._threads = ClientThreads("A member")
        self._drained = False
        self._began = 0.0

    def start(self) -> None:
        """Begin to take records."""
        self._began = time.monotonic()
        for number in range(1, self._spec.share_members + 1):
            name = f"m{number}"
            self._threads.begin(name, partial(self._work, name))

    def stop(self) -> None:
        """Let every member finish what it does, and leave.

        Raises:
            ClientsError: one did not end, or had ended before its time.
        """
        self._threads.stop()

    def take_the_rest(self) -> None:
        """Accept everything until nothing has come for longer than a lock lasts, whoever held it, or `REST_S` are over."""
        member = _member("rest", self._addresses, self._cluster, self._journal, self._seed, final=True)
        heard: dict[int, float] = {}
        """Partition → since when all that was said of it is that there is nothing."""
        try:
            deadline = time.monotonic() + REST_S
            while time.monotonic() < deadline:
                if not member.keep_up():
                    time.sleep(PAUSE_S)
                    continue
                held, answered = member.poll(MOST_LEFT)
                member.accept_all(held)
                now = time.monotonic()
                given = {one.partition for one in held}
                heard = {
                    one: heard.get(one, now) for one in range(self._cluster.partitions) if one in answered - given
                } | {one: since for one, since in heard.items() if one not in answered | given}
                if not answered:
                    heard = {}
                if len(heard) == self._cluster.partitions and now - max(heard.values()) > self._lock_s + SLACK_S:
                    self._drained = True
                    return
        finally:
            member.leave()

    def told(self) -> dict[str, Any]:
        """For the meta line (docs/history.md)."""
        return {"share_group": {"drained": self._drained, "deliveries": DELIVERIES, "lock_us": int(self._lock_s * 1e6)}}

    def _work(self, name: str) -> None:
        member = _member(name, self._addresses, self._cluster, self._journal, self._seed)
        noise = Random(f"{self._seed}/{name}")
        pause_s, stopping = self._spec.poll_us / POLLS / 1e6, self._threads.stopping
        killed = restarts(self._seed)
        dies, returns = next(killed, NEVER)

        def decide(one: Delivered) -> str:
            drawn = noise.random()
            if one.deliveries >= FEW:
                return ACCEPT
            return REJECT if drawn < REJECTED else RELEASE if drawn < REJECTED + RELEASED else ACCEPT

        try:
            while not stopping.wait(pause_s * (0.5 + noise.random())):
                if not member.keep_up() and not member.assigned:
                    continue
                held, _ = member.poll(1 + int(noise.random() * MOST))
                drawn = noise.random()
                if (now := time.monotonic() - self._began) > dies:
                    if drawn < REASSIGNED:
                        member.forget(held)
                    member.walk_away()
                    stopping.wait(max(0.0, returns - now))
                    dies, returns = next(killed, NEVER)
                    continue
                spare = bool(held) and all(one.deliveries < FEW for each in held for one in each.records)
                if spare and drawn < LEFT:
                    member.walk_away()
                    continue
                if spare and drawn < LEFT + OVERDUE:
                    stopping.wait(self._lock_s * (1 + noise.random() / 2))
                elif spare and drawn < LEFT + OVERDUE + PARTLY:
                    held = [one._replace(records=one.records[int(noise.random() * len(one.records)) :]) for one in held]
                for each in held:
                    member.acknowledge(each, decide)
        finally:
            member.leave()


def _member(
    name: str, addresses: Sequence[Address], cluster: ClusterSpec, journal: Journal, seed: int, *, final: bool = False
) -> ShareMember:
    topic = next(iter(cluster.assignment())).rpartition("-")[0]
    patience_s = cluster.settings.request_timeout_us / 1e6
    return ShareMember(name, topic, addresses, patience_s, journal, Random(f"{seed}/{name}/asks"), final=final)

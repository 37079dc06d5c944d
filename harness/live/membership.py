"""The operator of groups whose members change, on real processes: asks whoever leads, again and again, until the members are those
that are wanted. It means what :mod:`tidemark.harness.simulator.membership` means, and lives in a thread of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress

from tidemark.harness.live.observation import Observation
from tidemark.harness.live.state_among import servers_among
from tidemark.harness.machines.admin_channel import AdminReply
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.runs.group import is_as_wanted, leader_among
from tidemark.harness.systems.capabilities import VotesItself

ASKS_EVERY_S = 0.1
PATIENCE_S = 0.5
"""How long a server has to say how it stands."""


class LiveOperator:
    """Knows what is wanted, and nothing else that the servers do not say.

    Args:
        system: whose servers they are.
        controls: of all servers; who does not run, or cannot be reached, is not asked.
        first: partition → its members at the beginning, which are wanted until others are.
    """

    def __init__(
        self, system: VotesItself, controls: Mapping[int, NodeControl], first: Mapping[str, tuple[int, ...]]
    ) -> None:
        self.wanted = dict(first)
        self._system = system
        self._controls = controls
        self._observation = Observation(controls)
        self._asking: set[str] = set()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def want(self, partition: str, members: tuple[int, ...]) -> None:
        """From now on these are wanted, the preferred leader first; what was wanted before is not any more."""
        with self._lock:
            self.wanted[partition] = members
            self._asking.add(partition)
            if self._thread is None:
                self._thread = threading.Thread(target=self._ask_on, name="operator of members", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Ask nobody any more."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _ask_on(self) -> None:
        while not self._over.is_set():
            with self._lock:
                asking = sorted(self._asking)
            if asking:
                statuses = self._observation.statuses(self._controls, PATIENCE_S)
                for partition in asking:
                    self._ask(partition, statuses)
            self._over.wait(ASKS_EVERY_S)

    def _ask(self, partition: str, statuses: Mapping[int, AdminReply | None]) -> None:
        servers = servers_among(partition, statuses)
        leader = leader_among(servers)
        with self._lock:
            wanted = self.wanted[partition]
            if is_as_wanted(wanted, servers):
                self._asking.discard(partition)
                return
        if leader is not None and self._controls[leader.node_id].admin.is_open:
            with suppress(NodeError):  # it ends just now: the next leader is asked
                self._system.change_members(self._controls[leader.node_id], partition, wanted)

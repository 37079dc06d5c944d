"""Containers for as long as a command needs them: brought up for the first run, used again by the next, gone at the end."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tidemark.checkers import History
from tidemark.checkers.history.history_file import history_lines
from tidemark.harness.live.going_on import MOST_RUNS, NodesLeft
from tidemark.harness.live.progress import RunProgress
from tidemark.harness.machines.cluster import Cluster
from tidemark.harness.machines.errors import ClusterError, ContainerWorldError
from tidemark.harness.machines.said_again import said_again
from tidemark.harness.runs.folder import store_plan
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.systems.system import System
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Plan
from tidemark.nodes.families import AnyVariant

if TYPE_CHECKING:
    from docker import DockerClient


class ContainerSession:
    """A cluster of containers (or of hosts that exist) and the runs on it.

    Args:
        brokers: the most brokers a run may want.
        clients: the workload's client library, ``confluent`` or ``aiokafka``.
        hosts: a hosts file, to use machines that exist instead of containers.
        system: what runs on the machines; Tidemark's own nodes, unless told otherwise.
        tell: says one sentence to the person about what takes long.
        go_on: let nodes go on from a run that was valid into the next, where they can.

    Attributes:
        progress: what the run under way is doing.
    """

    def __init__(
        self,
        brokers: int,
        *,
        clients: str = "confluent",
        hosts: Path | None = None,
        tell: Callable[[str], None],
        system: System | None = None,
        go_on: bool = False,
    ) -> None:
        self._brokers = brokers
        self._clients = clients
        self._hosts = hosts
        self._tell = tell
        self.system = system or TidemarkSystem()
        self._cluster: Cluster | None = None
        self._engine: DockerClient | None = None
        self._left = NodesLeft() if go_on else None
        self.progress = RunProgress()

    def __enter__(self) -> Self:
        """Bring the machines up."""
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Remove everything that was brought up."""
        self.close()

    def open(self) -> Cluster:
        """The machines; brought up if there are none.

        Raises:
            ContainerWorldError: no engine, no image, or a machine that does not answer.
        """
        if self._cluster is None:
            self.progress.phase = "bringing the machines up"
            self._cluster = self._containers() if self._hosts is None else self._machines(self._hosts)
        return self._cluster

    def _containers(self) -> Cluster:
        from tidemark.harness.machines.cluster import ContainerCluster
        from tidemark.harness.machines.docker_engine import connect

        if self._engine is None:
            self._engine = connect()
        with said_again(self._tell, f"getting ready what {self.system.name} runs from") as tell:
            image = self.system.install(self._engine, tell)
        run_id = f"{os.getpid()}-{secrets.token_hex(3)}"
        return ContainerCluster.up(
            self._brokers, run_id=run_id, image=image, client=self._engine, needs=self.system.needs
        )

    def _machines(self, hosts: Path) -> Cluster:
        from tidemark.harness.machines.hosts_file import HostsCluster

        if not self.system.runs_on_hosts:
            raise ClusterError(f"{self.system.name} runs in containers only; leave --hosts away")
        cluster = HostsCluster.from_file(hosts)
        cluster.prepare(self._tell)
        return cluster

    def execute(self, plan: Plan, variant: AnyVariant, contract: str | None = None, *, folder: Path) -> JudgedRun:
        """Run a plan and check it. Plan and history are in ``folder`` before checking starts, and whatever happens.

        Raises:
            ContainerWorldError: the run could not be carried out as planned; its evidence is in ``folder``. The machines are
                replaced for the next run.
        """
        from tidemark.harness.live.contained_run import run_plan

        plan = self.system.as_it_takes(plan)
        store_plan(folder, plan)
        self.progress = RunProgress()
        try:
            done = run_plan(
                plan,
                variant,
                contract,
                cluster=self.open(),
                system=self.system,
                clients=self._clients,
                progress=self.progress,
                folder=folder,
                left=self._left,
            )
        except BaseException:
            with suppress(ContainerWorldError):
                self.close()
            raise
        self.progress.phase = "checking"
        verdict = self.system.judge(done.history)
        if self._left and (verdict.valid != "valid" or self._left.runs >= MOST_RUNS):
            self._left.none()
        return JudgedRun(done.history, verdict, digest(done.history), done.events, done.duration_us)

    def close(self) -> None:
        """Remove the machines; nothing happens if there are none."""
        cluster, self._cluster = self._cluster, None
        if self._left:
            self._left.none()
        engine, self._engine = self._engine, None
        try:
            if cluster is not None:
                self.progress.phase = "removing the machines"
                cluster.down()
        finally:
            if engine is not None:
                engine.close()


def digest(history: History) -> str:
    """Names a history. Unlike a simulated run's digest it cannot be had again."""
    found = blake2b(digest_size=16)
    for line in history_lines(history):
        found.update(line.encode())
    return found.hexdigest()

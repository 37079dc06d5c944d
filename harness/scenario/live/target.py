"""The target in real time: node processes with sockets and files, acted upon from outside.

Between two looks at a process anything may happen, so ``until`` ends a little after something holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tidemark.harness.clients.wire_client import NoAnswerError, RefusedError
from tidemark.harness.evidence.collect import fetch_all
from tidemark.harness.evidence.partition_disk import Disk
from tidemark.harness.live.run_loop import monotonic_us
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.scenario.links import LeaderAnswer, Link
from tidemark.harness.scenario.live.clients import BatchSender, Clients
from tidemark.harness.scenario.live.cluster_view import ClusterView
from tidemark.harness.scenario.live.ending import LOOK_S, Chronicle, LiveEnding
from tidemark.harness.scenario.live.epoch_numbers import EpochNumbers
from tidemark.harness.scenario.live.nodes import Nodes
from tidemark.harness.scenario.live.observation import carried_out
from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.snapshots import Glance, ReplicaSnapshot
from tidemark.harness.scenario.target import PARTITION, PATIENCE_US, CannotPlayError, ScriptError, ScriptTarget
from tidemark.harness.systems.capabilities import (
    CANNOT_CHANGE_SETTINGS,
    CANNOT_REASSIGN,
    HAS_ONE_LOG_DIRECTORY,
    NO_ELECTIONS,
    AllowsUnclean,
    ChangesSettings,
    Elects,
    HandsOverController,
    LaysOutLogs,
    MovesLogs,
    Reassigns,
    Retains,
    VotesItself,
    refuses_given_logs,
    refuses_retention,
)
from tidemark.harness.systems.speaks_kafka import SpeaksKafka
from tidemark.harness.systems.system import refuses_messages
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families import AnyVariant

EFFECTS = {"cut": "drop", "hold": "hold"}
"""What a transport calls what is done to messages."""
SEEN_WITHIN_S = 2
"""A claim has so long to come true: what is seen of a process is a little late, and its next step may be on its way."""


class LiveTarget(ScriptTarget):
    """A target on node processes.

    Args:
        scenario: in the script's own times.
        variant: the protocol.
        nodes: the processes, already configured for this scenario.
        time_scale: every time of the script is multiplied by it; the nodes' settings are already.
        folder: where the nodes' files are kept, and what came of the run; nowhere, if there is none.
    """

    world = "docker"

    def __init__(
        self, scenario: Scenario, variant: AnyVariant, nodes: Nodes, time_scale: float, folder: Path | None = None
    ) -> None:
        super().__init__(scenario, variant, nodes)
        self.folder = folder
        self._nodes = nodes
        self._system = nodes.system
        self._sight = self.view_of(nodes)
        self.time_scale = time_scale
        self._epochs = EpochNumbers(scenario.first_epoch) if self._system.renumbers_epochs else None
        self.spends_epochs = self._epochs is not None
        self._chronicle = Chronicle()
        patience_us = int(scenario.cluster.settings.produce_timeout_us * time_scale)
        self._clients = self.clients_of(nodes, patience_us)
        self._throttled: set[int] = set()
        """Brokers whose moves are."""
        self._ended: tuple[ReplicaSnapshot, ...] = ()
        self._ending = LiveEnding(
            self._chronicle,
            nodes,
            self._sight,
            read=self._read_back,
            give_up=self._give_up,
            remember=self._remember,
            folder=folder,
        )

    def view_of(self, nodes: Nodes) -> ClusterView:
        """What looks at the replicas."""
        return ClusterView(self.scenario, nodes, in_memory=self.family.store is not None)

    def clients_of(self, nodes: Nodes, patience_us: int) -> Clients:
        """The scenario's clients."""
        return Clients(nodes.machines, self._chronicle.now_us, self.ops, PARTITION, patience_us)

    # The run

    def prepare(self) -> None:
        """Clean the machines, and put the given logs on their disks.

        Raises:
            NodeError: it could not be done.
        """
        self._nodes.clean()
        for given in self.scenario.given:
            self._chronicle.given[given.broker] = batches = list(self.tell_given(given))
            disk = Disk(batches, given.cache, given.hw)
            if not isinstance(self._system, LaysOutLogs):
                raise CannotPlayError(refuses_given_logs(self._system.name))
            self._system.lay_out(self._nodes.controls[given.broker], PARTITION, disk)
        self._chronicle.began_us = monotonic_us()

    def boot(self) -> None:
        """Start the controller, or the metadata store, then all brokers at once. Without either the preferred leader starts last:
        it stands for election at once, and asks when the others can hear.
        """
        nodes = self._nodes
        first, *others = nodes.brokers()
        with carried_out():
            if nodes.has_node_0:
                controllers = self._system.controllers
                if len(controllers) > 1:
                    nodes.all_at_once(nodes.start, nodes.ids)
                else:
                    nodes.start(CONTROLLER)
                if self._epochs is not None:
                    for node in controllers:
                        nodes.controls[node].admin.watch(["elect"], self._epochs.heard)
                if len(controllers) == 1:
                    nodes.all_at_once(nodes.start, nodes.brokers())
            else:
                nodes.all_at_once(nodes.start, others)
                nodes.start(first)
            nodes.after_start()
        self.wait("every replica knows the first leader", lambda: all(map(self._knows_leader, self.replicas())))
        if nodes.has_controller:
            self.wait("the first leader knows the topic", lambda: self._clients.is_served(max(self.leader(), 1)))

    def _knows_leader(self, broker: int) -> bool:
        seen = self.glance(broker)
        return seen.epoch >= 0 if self._nodes.has_controller else seen.role in ("leader", "follower")

    def dispose(self) -> None:
        """End the processes, and the clients that still wait for them. Of a run that came to no end, keep what can be had."""
        self._nodes.close()
        if self.folder is not None and self._ending.collected is None:
            with suppress(ContainerWorldError):
                fetch_all(self._nodes.controls, self.folder)
        self._give_up()

    def measures(self) -> dict[str, int]:
        return {"real_us": self.now_us}

    def described(self) -> dict[str, Any]:
        return self._system.describe(self.variant)

    @property
    def now_us(self) -> int:
        """Since the machines were ready, until the evidence was collected."""
        return self._chronicle.now_us()

    # Looking

    def glance(self, broker: int) -> Glance:
        found = self._sight.glance(broker)
        return found if self._epochs is None else found._replace(epoch=self._epochs.number(found.epoch))

    def state(self, broker: int) -> ReplicaSnapshot:
        """One replica now, with the log that is in its file; after the end, as it was then."""
        if self._ended:
            return self._ended[broker - 1]
        found = self._sight.state(broker)
        return found if self._epochs is None else self._epochs.of_replica(found)

    def fenced(self, broker: int) -> bool:
        if not self._nodes.has_controller:
            raise ScriptError("there is no controller that could fence anybody")
        return not self._nodes.observation.controller()["sessions"][str(broker)]["live"]

    # Time

    def run(self, duration_us: int) -> None:
        time.sleep(duration_us * self.time_scale / 1e6)

    def wait(self, what: str, condition: Callable[[], bool], within_us: int = PATIENCE_US) -> None:
        within_s = within_us * self.time_scale / 1e6
        deadline = time.monotonic() + within_s
        while not condition():
            if time.monotonic() > deadline:
                raise ScriptError(f"waited {within_s:g} s until {what}; {self.standing()}")
            time.sleep(LOOK_S)

    def claim(self, wrong: Callable[[], list[str]]) -> None:
        """Look until nothing is wrong, but not for long."""
        deadline = time.monotonic() + SEEN_WITHIN_S
        while wrong() and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        super().claim(wrong)

    # Clients

    def send(self, names: tuple[str, ...], broker: int | None, acks: str | None) -> BatchSender:
        to = self.addressee(names, broker)
        values = tuple(map(self.scenario.records.number, names))
        acks = acks or self.scenario.cluster.acks
        certain = self._system.refusals(acks) if isinstance(self._system, SpeaksKafka) else frozenset()
        sender = self._clients.sender(values, acks, certain)
        self.sends.update(dict.fromkeys(names, sender))
        if self._epochs is not None:
            self._epochs.sent(names, to, self._sight.glance(to).epoch)
        self._clients.send(sender, to)
        return sender

    def read(self, broker: int | None) -> None:
        reader = self._clients.reader()
        to = self.leader() if broker is None else broker
        self.last_read = None
        if to > 0:
            try:
                self.last_read = tuple(map(self.scenario.records.name, reader.read(self._clients.address(to))))
            except RefusedError:
                return
            except NoAnswerError as error:
                raise ScriptError(f"the consumer has no answer from {self.name(to)}: {error}") from None

    def ask_to_delete(self, offset: int, broker: int) -> Callable[[], str]:
        deleter = self._clients.delete(offset, broker)
        return lambda: "" if deleter.state in ("sent", "ok") else deleter.state

    # Processes

    def end_process(self, broker: int, how: str, keep: int = 0) -> None:
        nodes = self._nodes
        with carried_out():
            if nodes.gone(broker):
                raise ScriptError(f"broker {self.name(broker)} is not running")
            self.disturb_process(broker, how)
            if how == "clean":
                nodes.terminate(broker)
                self.wait(f"broker {self.name(broker)} has shut down", partial(nodes.gone, broker))
                return
            nodes.kill(broker)
            self._note(broker, "stop", how)
            if how == "power":
                nodes.controls[broker].power_loss(keep=keep)
            elif how == "disk":
                nodes.controls[broker].wipe((PARTITION,))

    def start(self, broker: int) -> None:
        with carried_out():
            self._nodes.start_if_gone(broker)
        self.mend("start", f"node {broker}")

    def pause(self, broker: int) -> None:
        self.disturb("pause", f"node {broker}", {"node": broker})
        self._nodes.observation.status(broker)
        with carried_out():
            self._nodes.pause(broker)
        self._note(broker, "pause")

    def resume(self, broker: int) -> None:
        self._note(broker, "resume")
        with carried_out():
            self._nodes.resume(broker)
        self.mend("pause", f"node {broker}")

    def crash_controller(self) -> None:
        if not self._nodes.has_node_0:
            raise ScriptError("there is no controller")
        if not isinstance(self._system, HandsOverController):
            raise CannotPlayError(
                f"the controller of {self._system.name} cannot fail apart from node 0, where the script looks"
            )
        self.disturb("controller-crash", "controller", {"node": CONTROLLER, "nodes": [CONTROLLER]})
        with carried_out():
            self._system.fail_controller(self._nodes.controls)

    def start_controller(self) -> None:
        with carried_out():
            self._elect_controller()
        self.mend("controller-crash", "controller")

    def _elect_controller(self) -> None:
        if isinstance(self._system, HandsOverController):
            self._system.elect_controller(self._nodes.controls)

    def retain(self, broker: int, batches: int) -> None:
        if not isinstance(self._system, Retains):
            raise CannotPlayError(refuses_retention(self._system.name))
        if not self._nodes.has_controller:
            raise ScriptError("there is no log start: nothing is deleted")
        if self._nodes.gone(broker):
            raise ScriptError(f"broker {self.name(broker)} is not running")
        self.disturb("retention", f"retention {broker}", {"node": broker})
        with carried_out():
            self._system.retain(self._nodes.controls[broker], PARTITION, batches)

    def elect(self, how: str, broker: int) -> None:
        if how == "unclean" and not self._nodes.has_controller:
            raise ScriptError("nobody can make a server lead that a majority does not vote for")
        self.disturb(f"{how}-election", "elect", {"node": broker})
        with carried_out():
            if not self._nodes.has_controller:
                self._stand(broker)
                return
            refused = NO_ELECTIONS
            if isinstance(self._system, Elects):
                refused = self._system.elect(self._nodes.controls, PARTITION, how, broker)
        if refused:
            raise ScriptError(refused)

    def _stand(self, broker: int) -> None:
        """Whoever does not run hears nothing, and who is paused hears it when it goes on."""
        if not self._nodes.gone(broker) and isinstance(self._system, VotesItself):
            self._system.stand(self._nodes.controls[broker], PARTITION, wait=broker not in self._nodes.paused)

    def reassign(self, replicas: tuple[int, ...]) -> None:
        operator = self._nodes.operator
        if operator is not None:
            self.disturb("reassignment", "reassign", {"replicas": list(replicas)})
            operator.want(PARTITION, replicas)
            return
        if not self._nodes.has_controller:
            raise ScriptError("there is no controller that could reassign a partition, and the members never change")
        if not isinstance(self._system, Reassigns):
            raise CannotPlayError(f"{self._system.name} {CANNOT_REASSIGN}")
        self.disturb("reassignment", "reassign", {"replicas": list(replicas)})
        with carried_out():
            refused = self._system.reassign(self._nodes.controls, PARTITION, replicas)
        if refused:
            raise ScriptError(f"the reassignment was refused: {refused}")

    def set_min_isr(self, min_isr: int) -> None:
        system = self._with_settings()
        self.disturb("min-isr", "min ISR", {"min_isr": min_isr})
        with carried_out():
            refused = system.set_min_isr(self._nodes.controls, {PARTITION.rpartition("-")[0]}, min_isr)
        if refused:
            raise ScriptError(f"min ISR was not changed: {refused}")

    def allow_unclean(self, *, on: bool) -> None:
        if not isinstance(self._system, AllowsUnclean):
            raise CannotPlayError(f"{self._system.name} {CANNOT_CHANGE_SETTINGS}")
        self.disturb_unclean(on=on)
        with carried_out():
            refused = self._system.allow_unclean(self._nodes.controls, {PARTITION.rpartition("-")[0]}, on=on)
        if refused:
            raise ScriptError(f"unclean elections were not {'allowed' if on else 'forbidden'}: {refused}")

    def switch_elr(self, *, on: bool) -> None:
        system = self._with_settings()
        self.disturb_elr(on=on)
        with carried_out():
            refused = system.switch_elr(self._nodes.controls, on=on)
        if refused:
            raise ScriptError(f"ELR was not switched: {refused}")

    def move_log(self, broker: int) -> None:
        system = self._with_log_directories()
        if self._nodes.gone(broker):
            raise ScriptError(f"broker {self.name(broker)} is not running")
        self.disturb("move-log-dir", f"move {broker}", {"node": broker})
        with carried_out():
            refused = system.move_log(self._nodes.controls, broker, PARTITION)
        if refused:
            raise ScriptError(f"the log of {self.name(broker)} is not moved: {refused}")

    def throttle_moves(self, broker: int, rate: int) -> None:
        system = self._with_log_directories()
        with carried_out():
            refused = system.throttle_moves(self._nodes.controls, broker, rate)
        if refused:
            raise ScriptError(f"the moves of {self.name(broker)} are not throttled: {refused}")
        self._throttled.add(broker)

    def _with_log_directories(self) -> MovesLogs:
        if not isinstance(self._system, MovesLogs):
            raise CannotPlayError(
                f"{self._system.name} {HAS_ONE_LOG_DIRECTORY}: play this script with --system kafka:VERSION"
            )
        return self._system

    def _with_settings(self) -> ChangesSettings:
        if not isinstance(self._system, ChangesSettings):
            raise CannotPlayError(f"{self._system.name} {CANNOT_CHANGE_SETTINGS}")
        return self._system

    # Messages

    def stop_messages(self, kind: str, link: Link) -> None:
        """Links without a kind are cut by the receiver's firewall; messages of a kind are told apart by their sender."""
        with carried_out():
            if link.kind is None and link.source is not None and link.to is not None:
                self._nodes.cut(f"{kind} {link}", link.source, link.to)
                return
            if link.kind is not None and not self._system.tells_apart(link.kind):
                raise CannotPlayError(refuses_messages(self._system, link.kind))
            rule = {"kind": link.kind, "to": link.to, "effect": EFFECTS[kind], "amount": 0}
            senders = self._nodes.ids if link.source is None else (link.source,)
            self._nodes.put_rules(f"{kind} {link}", {node: [rule] for node in senders})

    def let_messages_pass(self, kind: str, link: Link) -> bool:
        key = f"{kind} {link}"
        with carried_out():
            return self._nodes.join(key) or self._nodes.drop_rules(key)

    # The end

    def heal(self) -> None:
        nodes = self._nodes
        for broker in sorted(nodes.paused):
            self._note(broker, "resume")
        nodes.heal()
        nodes.all_at_once(nodes.start_if_gone, nodes.ids)
        if nodes.has_node_0:
            self._elect_controller()
        if isinstance(self._system, MovesLogs):
            for broker in sorted(self._throttled):
                self._system.throttle_moves(nodes.controls, broker, 0)

    def finish(self) -> int:
        """As everywhere; then the evidence is there."""
        healed = super().finish()
        collected = self._ending.collected
        assert collected is not None  # noqa: S101 - the last phase has collected it
        self.trace, self.died = collected.trace, self._ending.died
        self.answers = [LeaderAnswer(a.follower, a.asked, a.offset, a.epoch, a.end) for a in collected.answers]
        self.not_understood, self.doubted = collected.seen.not_understood, collected.seen.doubted
        self.ops.sort(key=lambda op: op.time)
        self._chronicle.ended_us = monotonic_us()
        return healed

    def ending(self) -> LiveEnding:
        """Senders give up when all is at rest."""
        return self._ending

    def _remember(self) -> None:
        self._ended = self.states()

    def _give_up(self) -> None:
        self._clients.give_up(self.sends.values())

    def _read_back(self) -> bool:
        """Of all that may be read from, the first: whom the simulator's final reader draws in a script."""
        reads_from = self.replicas()[0] if self.family.reads_anywhere else self.leader()
        if reads_from > 0:
            self._clients.read_back(reads_from)
        return reads_from > 0

    def _note(self, node: int, event: str, *fields: object) -> None:
        self._chronicle.trace_event(node, event, "", *fields)

"""The target in real time: node processes with sockets and files, acted upon from outside.

Between two looks at a process anything may happen, so ``until`` ends a little after something holds.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from tidemark.harness.clients.wire_client import Address, BrokerConnection, NoAnswerError, RefusedError
from tidemark.harness.evidence.partition_disk import Batches, Disk
from tidemark.harness.live.membership import LiveOperator
from tidemark.harness.live.run_loop import monotonic_us
from tidemark.harness.runs.coming_to_rest import LEAST_US, converge_us
from tidemark.harness.scenario.links import Link
from tidemark.harness.scenario.live.clients import ANSWER_TIMEOUT_S, BatchSender, Deleter, Reader
from tidemark.harness.scenario.live.cluster_view import ClusterView, carried_out
from tidemark.harness.scenario.live.epoch_numbers import EpochNumbers
from tidemark.harness.scenario.live.evidence import collect
from tidemark.harness.scenario.live.nodes import Nodes, Rule
from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.target import (
    PARTITION,
    PATIENCE_US,
    CannotPlayError,
    Glance,
    ReplicaSnapshot,
    ScriptError,
    ScriptTarget,
)
from tidemark.harness.simulator.simulate import AFTER_HEAL_US, FINAL_READ_US
from tidemark.harness.systems.capabilities import (
    CANNOT_REASSIGN,
    NO_ELECTIONS,
    Elects,
    HandsOverController,
    LaysOutLogs,
    Reassigns,
    Retains,
    VotesItself,
    refuses_given_logs,
    refuses_retention,
)
from tidemark.harness.systems.speaks_kafka import SpeaksKafka
from tidemark.harness.systems.system import has_controller, refuses_messages
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families import AnyVariant, family_of

LOOK_S = 0.02
SEEN_WITHIN_S = 2
"""A claim has so long to come true: what is seen of a process is a little late, and its next step may be on its way."""
"""Between two looks of ``until``."""


class LiveTarget(ScriptTarget):
    """A target on node processes.

    Args:
        scenario: in the script's own times.
        variant: the protocol.
        nodes: the processes, already configured for this scenario.
        time_scale: every time of the script is multiplied by it; the nodes' settings are already.
    """

    world = "docker"

    def __init__(
        self,
        scenario: Scenario,
        variant: AnyVariant,
        nodes: Nodes,
        time_scale: float,
    ) -> None:
        super().__init__(scenario, variant)
        self._nodes = nodes
        self._system = nodes.system
        self._deployment = nodes.deployment
        self._has_controller = has_controller(variant)
        self._operator = None
        if family_of(variant).changes_members and isinstance(self._system, VotesItself):
            self._operator = LiveOperator(self._system, nodes.controls, scenario.cluster.assignment())
        wanted = None if self._operator is None else self._operator.wanted
        self._has_node_0 = CONTROLLER in nodes.ids
        in_memory = family_of(variant).store is not None
        self._sight = ClusterView(
            scenario, nodes, has_controller=self._has_controller, wanted=wanted, in_memory=in_memory
        )
        self._scale = time_scale
        self._epochs = EpochNumbers(scenario.first_epoch) if self._system.renumbers_epochs else None
        self.spends_epochs = self._epochs is not None
        self._sent_in: dict[str, int] = {}
        self._began_us = monotonic_us()
        self._ended_us = 0
        self._brokers = scenario.cluster.broker_ids()
        self._given: dict[int, Batches] = {}
        self._noted: list[tuple[Any, ...]] = []
        self._clients: Counter[str] = Counter()
        self._deleters: list[Deleter] = []
        self._ended: tuple[ReplicaSnapshot, ...] = ()

    # The run

    def prepare(self) -> None:
        """Clean the machines, and put the given logs on their disks.

        Raises:
            NodeError: it could not be done.
        """
        self._nodes.clean()
        for given in self.scenario.given:
            self._given[given.broker] = batches = list(self.tell_given(given))
            disk = Disk(batches, given.cache, given.hw)
            if not isinstance(self._system, LaysOutLogs):
                raise CannotPlayError(refuses_given_logs(self._system.name))
            self._system.lay_out(self._nodes.controls[given.broker], PARTITION, disk)
        self._began_us = monotonic_us()

    def boot(self) -> None:
        """Start the controller, or the metadata store, then all brokers at once. Without either the preferred leader starts last:
        it stands for election at once, and asks when the others can hear.
        """
        if not self._has_controller:
            self._boot_servers()
            return
        with carried_out():
            self._nodes.start(CONTROLLER)
            if self._epochs is not None:
                self._nodes.controls[CONTROLLER].admin.watch(["elect"], self._epochs.heard)
            self._nodes.all_at_once(self._nodes.start, self._brokers)
            if self._deployment is not None:
                self._system.setup(self._nodes.controls, self._deployment)
        knows = self.glance
        self.wait("every replica knows the first leader", lambda: all(knows(b).epoch >= 0 for b in self.replicas()))
        self.wait("the first leader knows the topic", self._is_served)

    def _boot_servers(self) -> None:
        first, *others = self._brokers
        with carried_out():
            if self._has_node_0:
                self._nodes.start(CONTROLLER)
                self._nodes.all_at_once(self._nodes.start, self._brokers)
            else:
                self._nodes.all_at_once(self._nodes.start, others)
                self._nodes.start(first)
        elected = ("leader", "follower")
        self.wait(
            "every replica knows the first leader", lambda: all(self.glance(b).role in elected for b in self.replicas())
        )

    def _is_served(self) -> bool:
        try:
            with BrokerConnection(self._address(max(self.leader(), 1)), ANSWER_TIMEOUT_S) as connection:
                connection.fetch(PARTITION, 0)
        except (RefusedError, NoAnswerError):
            return False
        return True

    def dispose(self) -> None:
        """End the processes, and the clients that still wait for them."""
        if self._operator is not None:
            self._operator.close()
        self._nodes.close()
        self._give_up()

    def digest(self) -> str:
        """No two runs are the same."""
        return ""

    def measures(self) -> dict[str, int]:
        """How long it took."""
        return {"real_us": self.now_us}

    @property
    def now_us(self) -> int:
        """Since the machines were ready, until the evidence was collected."""
        return (self._ended_us or monotonic_us()) - self._began_us

    # Looking

    def glance(self, broker: int) -> Glance:
        """A quick look at one replica."""
        found = self._sight.glance(broker)
        return found if self._epochs is None else found._replace(epoch=self._epochs.number(found.epoch))

    def state(self, broker: int) -> ReplicaSnapshot:
        """One replica now, with the log that is in its file; after the end, as it was then."""
        return self._ended[broker - 1] if self._ended else self._in_numbers_of_the_script(self._sight.state(broker))

    def _in_numbers_of_the_script(self, state: ReplicaSnapshot) -> ReplicaSnapshot:
        """Where the system counts leader epochs otherwise; or keeps none with its records, then by when they were sent."""
        epochs = self._epochs
        if epochs is None:
            return state
        log = tuple(
            (epochs.number(epoch if epoch >= 0 else self._sent_in.get(name, epoch)), name) for epoch, name in state.log
        )
        return state._replace(epoch=epochs.number(state.epoch), log=log, cache=epochs.cache(state.cache))

    def leader(self) -> int:
        """The controller's leader, −1 if there is none."""
        return int(self._sight.partition()["leader"])

    def isr(self) -> tuple[int, ...]:
        """The controller's committed ISR."""
        return tuple(self._sight.partition()["isr"])

    def replicas(self) -> tuple[int, ...]:
        """The controller's replicas; during a reassignment the old and the new ones."""
        return tuple(self._sight.partition()["replicas"])

    def fenced(self, broker: int) -> bool:
        """Whether the broker has no session with the controller; there may be none."""
        if not self._has_controller:
            raise ScriptError("there is no controller that could fence anybody")
        return not self._sight.controller()["sessions"][str(broker)]["live"]

    def at_rest(self) -> bool:
        """Whether roles, replication, high watermarks and ISR have settled."""
        return not self._sight.waiting_for()

    # Time

    def run(self, duration_us: int) -> None:
        """Let time pass."""
        time.sleep(duration_us * self._scale / 1e6)

    def wait(self, what: str, condition: Callable[[], bool], within_us: int = PATIENCE_US) -> None:
        """Look until the condition holds."""
        within_s = within_us * self._scale / 1e6
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

    def _address(self, broker: int) -> Address:
        machine = self._nodes.machines[broker]
        return machine.host_address, machine.host_port

    def _client(self, letter: str) -> str:
        self._clients[letter] += 1
        return f"{letter}{self._clients[letter]}"

    def send(self, names: tuple[str, ...], broker: int | None, acks: str | None) -> BatchSender:
        """Send one batch, without waiting."""
        to = self.addressee(names, broker)
        values = tuple(map(self.scenario.records.number, names))
        acks = acks or self.scenario.cluster.acks
        certain = self._system.refusals(acks) if isinstance(self._system, SpeaksKafka) else frozenset()
        sender = BatchSender(lambda: self.now_us, self.ops, self._client("p"), PARTITION, values, acks, certain)
        self.sends.update(dict.fromkeys(names, sender))
        if self._epochs is not None:
            self._sent_in.update(dict.fromkeys(names, self._sight.glance(to).epoch))
        sender.send(self._address(to), int(self.scenario.cluster.settings.produce_timeout_us * self._scale))
        return sender

    def read(self, broker: int | None) -> None:
        """Read from the start up to the high watermark."""
        reader = Reader(lambda: self.now_us, self.ops, self._client("c"), PARTITION)
        to = self.leader() if broker is None else broker
        self.last_read = None
        if to > 0:
            try:
                self.last_read = tuple(map(self.scenario.records.name, reader.read(self._address(to))))
            except RefusedError:
                return
            except NoAnswerError as error:
                raise ScriptError(f"the consumer has no answer from {self.name(to)}: {error}") from None

    def delete_records(self, offset: int, broker: int | None) -> None:
        """Ask a leader to delete; ends when its log starts there."""
        to = self.leader() if broker is None else broker
        if to < 1:
            raise ScriptError("there is no leader that could delete records")
        deleter = Deleter(lambda: self.now_us, self.ops, self._client("d"), PARTITION, offset)
        self._deleters.append(deleter)
        deleter.send(self._address(to), int(self.scenario.cluster.settings.produce_timeout_us * self._scale))
        self.wait(
            f"the log of {self.name(to)} starts at {offset}",
            lambda: self.glance(to).start >= offset or deleter.state not in ("sent", "ok"),
        )
        if self.glance(to).start < offset:
            raise ScriptError(f"{self.name(to)} does not delete: {deleter.state}")

    # Processes

    def end_process(self, broker: int, how: str, keep: int = 0) -> None:
        """``crash``, ``power`` (with the number of batches that stay), ``disk``, or ``clean``, which waits for the process."""
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
        """Start the process with what its disk holds."""
        with carried_out():
            if self._nodes.gone(broker):
                self._nodes.start(broker)
        self.mend("start", f"node {broker}")

    def pause(self, broker: int) -> None:
        """SIGSTOP."""
        self.disturb("pause", f"node {broker}", {"node": broker})
        self._sight.status(broker)
        with carried_out():
            self._nodes.pause(broker)
        self._note(broker, "pause")

    def resume(self, broker: int) -> None:
        """SIGCONT."""
        self._note(broker, "resume")
        with carried_out():
            self._nodes.resume(broker)
        self.mend("pause", f"node {broker}")

    def crash_controller(self) -> None:
        """There is no controller any more; what it wrote lasts, and ZooKeeper goes on. Of a metadata store the same."""
        if not self._has_node_0:
            raise ScriptError("there is no controller")
        if not isinstance(self._system, HandsOverController):
            raise CannotPlayError(
                f"the controller of {self._system.name} cannot fail apart from node 0, where the script looks"
            )
        self.disturb("controller-crash", "controller", {"node": CONTROLLER, "nodes": [CONTROLLER]})
        with carried_out():
            self._system.fail_controller(self._nodes.controls)

    def start_controller(self) -> None:
        """Another controller takes over, with what was written."""
        with carried_out():
            self._elect_controller()
        self.mend("controller-crash", "controller")

    def _elect_controller(self) -> None:
        if isinstance(self._system, HandsOverController):
            self._system.elect_controller(self._nodes.controls)

    def retain(self, broker: int, batches: int) -> None:
        """The broker's own retention."""
        if not isinstance(self._system, Retains):
            raise CannotPlayError(refuses_retention(self._system.name))
        if not self._has_controller:
            raise ScriptError("there is no log start: nothing is deleted")
        if self._nodes.gone(broker):
            raise ScriptError(f"broker {self.name(broker)} is not running")
        self.disturb("retention", f"retention {broker}", {"node": broker})
        with carried_out():
            self._system.retain(self._nodes.controls[broker], PARTITION, batches)

    def elect(self, how: str, broker: int) -> None:
        """An operator's election; ends when the controller has decided, which the brokers need not know yet. Without a controller,
        the broker stands for election.
        """
        if how == "unclean" and not self._has_controller:
            raise ScriptError("nobody can make a server lead that a majority does not vote for")
        self.disturb(f"{how}-election", "elect", {"node": broker})
        with carried_out():
            if not self._has_controller:
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
        """An operator's reassignment; ends when the controller has taken it up, which the brokers need not know yet. Without a
        controller an operator asks whoever leads, until it is done.
        """
        if self._operator is not None:
            self.disturb("reassignment", "reassign", {"replicas": list(replicas)})
            self._operator.want(PARTITION, replicas)
            return
        if not self._has_controller:
            raise ScriptError("there is no controller that could reassign a partition, and the members never change")
        if not isinstance(self._system, Reassigns):
            raise CannotPlayError(f"{self._system.name} {CANNOT_REASSIGN}")
        self.disturb("reassignment", "reassign", {"replicas": list(replicas)})
        with carried_out():
            refused = self._system.reassign(self._nodes.controls, PARTITION, replicas)
        if refused:
            raise ScriptError(f"the reassignment was refused: {refused}")

    # Messages

    def block(self, links: tuple[Link, ...]) -> None:
        """Messages on these links are lost from now on."""
        links = self.as_meant(links)
        for link in links:
            self.disturb_link("cut", link)
        self._put_on("drop", links)

    def unblock(self, links: tuple[Link, ...]) -> None:
        """They arrive again."""
        links = self.as_meant(links)
        self._take_off("drop", links, "these messages were not blocked")
        for link in links:
            self.mend("cut", f"cut {link}")

    def hold(self, links: tuple[Link, ...]) -> None:
        """Messages on these links wait from now on."""
        links = self.as_meant(links)
        for link in links:
            self.disturb_link("hold", link)
        self._put_on("hold", links)

    def release(self, links: tuple[Link, ...]) -> None:
        """What waited arrives now, in order."""
        links = self.as_meant(links)
        self._take_off("hold", links, "these messages were not held")
        for link in links:
            self.mend("hold", f"hold {link}")

    def _put_on(self, effect: str, links: tuple[Link, ...]) -> None:
        """Links without a kind are cut by the receiver's firewall; messages of a kind are told apart by their sender."""
        with carried_out():
            for link in links:
                if link.kind is None and link.source is not None and link.to is not None:
                    self._nodes.cut(f"{effect} {link}", link.source, link.to)
                    continue
                if link.kind is not None and not self._system.tells_apart(link.kind):
                    raise CannotPlayError(refuses_messages(self._system, link.kind))
                rule: Rule = {"kind": link.kind, "to": link.to, "effect": effect, "amount": 0}
                senders = self._nodes.ids if link.source is None else (link.source,)
                self._nodes.put_rules(f"{effect} {link}", {node: [rule] for node in senders})

    def _take_off(self, effect: str, links: tuple[Link, ...], otherwise: str) -> None:
        with carried_out():
            for link in links:
                key = f"{effect} {link}"
                if not (self._nodes.join(key) or self._nodes.drop_rules(key)):
                    raise ScriptError(otherwise)

    # The end

    def finish(self) -> int:
        """Heal everything, let the cluster come to rest, read everything back; returns when healing began, in µs.

        Raises:
            NodeError: a fault could not be healed, or evidence is missing.
        """
        healed = self.now_us
        for broker in sorted(self._nodes.paused):
            self._note(broker, "resume")
        self._nodes.heal()
        self._nodes.all_at_once(self._start_if_down, self._nodes.ids)
        if self._has_node_0:
            self._elect_controller()
        self.nemesis.append((healed, "heal", -1, "all", {}))
        self.run(AFTER_HEAL_US)
        self._converge()
        self._give_up()
        self._read_back()
        self._dump_logs()
        self._ended = self.states()
        down = frozenset(broker for broker in self._brokers if self._nodes.gone(broker))
        self._tell_deaths()
        held = {broker: self._sight.held(broker) for broker in self._brokers}
        self._nodes.all_at_once(self._nodes.kill, self._nodes.ids)
        collected = collect(self._nodes, self._began_us, self._given, self._noted, held, down)
        self.trace, self.answers, self.not_understood, self.doubted = collected
        self.ops.sort(key=lambda op: op.time)
        self._ended_us = monotonic_us()
        return healed

    def _give_up(self) -> None:
        for sender in dict.fromkeys(self.sends.values()):
            if isinstance(sender, BatchSender):
                sender.give_up()
        for deleter in self._deleters:
            deleter.give_up()

    def _start_if_down(self, node: int) -> None:
        if self._nodes.gone(node):
            self._nodes.start(node)

    def _converge(self) -> None:
        """However short a script's times are made, processes need theirs: a slow machine must not look like a stuck replica."""
        why = "nothing was looked at"

        def settled() -> bool:
            nonlocal why
            why = self._sight.waiting_for()
            return not why

        with suppress(ScriptError):  # a finding, not a failure: what it waits for goes into the history
            least = LEAST_US if self._has_controller else converge_us(self.scenario.cluster.settings)
            self.wait("all is at rest", settled, int(least * max(1, 1 / self._scale)))
        self._note(CONTROLLER, "converged", not why, why)

    def _read_back(self) -> None:
        reader = Reader(lambda: self.now_us, self.ops, "final", PARTITION, final=True)
        deadline = time.monotonic() + FINAL_READ_US * self._scale / 1e6
        anywhere = family_of(self.variant).reads_anywhere
        while time.monotonic() < deadline:
            # Of all that may be read from, the first: whom the simulator's final reader draws in a script.
            reads_from = self.replicas()[0] if anywhere else self.leader()
            if reads_from > 0:
                try:
                    reader.read(self._address(reads_from))
                except (RefusedError, NoAnswerError):
                    pass
                else:
                    self.read_back = True
                    return
            time.sleep(LOOK_S)

    def _dump_logs(self) -> None:
        for broker in self._brokers:
            fields = self._sight.final(broker)
            if fields is not None:
                self._note(broker, "final", *fields)

    def _tell_deaths(self) -> None:
        """Those who gave no account of their end have not traced it either."""
        for death in self._nodes.deaths:
            at = death.seen_us - self._began_us
            if not death.account and death.node != CONTROLLER:
                self._noted.append((at, death.node, "stop", "", "crash"))
            told = {
                "node": death.node,
                "incarnation": death.incarnation,
                "time": at,
                "how": death.how,
                "log": death.words,
            }
            self.died.append(told)

    def _note(self, node: int, event: str, *fields: object) -> None:
        partition = PARTITION if event in ("converged", "final") else ""
        self._noted.append((self.now_us, node, event, partition, *fields))

"""The network of a simulated scenario: every message takes one millisecond, unless the script cuts, blocks or holds it.

The nodes are the unmodified protocol core on the simulator's heap; only latency noise is gone, and a script may act on a link
and a kind of message. *Blocked* messages are lost, so whoever sent them repeats them when its time-out says so. *Held* messages
wait, and arrive in order when they are released.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidemark.harness.scenario.links import LeaderAnswer, Link
from tidemark.harness.simulator.simulation import Simulation
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.messages import EpochRequest, EpochResponse, FetchRequest, FetchResponse
from tidemark.nodes.families import AnyVariant, Family

LATENCY_US = 1_000
FIRST_CLIENT = 100


def carries(link: Link, source: int, to: int, message: object, family: Family) -> bool:
    """Whether this message of a family travels on a link; a link between any two nodes never means the clients."""
    if link.kind is not None and link.kind not in family.kinds_of(message):
        return False
    if link.kind is None and max(source, to) >= FIRST_CLIENT:
        return False
    return link.source in (None, source) and link.to in (None, to)


@dataclass(slots=True)
class _Held:
    link: Link
    kept: list[tuple[int, int, object]] = field(default_factory=list)


class ScriptedSimulation(Simulation):
    """The simulated world under a script's control."""

    def __init__(self, cluster: ClusterSpec, variant: AnyVariant) -> None:
        super().__init__(cluster, variant, noise_seed=0)
        self.detour = True
        self.answers: list[LeaderAnswer] = []
        self._cut: list[Link] = []
        self._held: list[_Held] = []
        self._asked: dict[tuple[int, int], tuple[int, int | None]] = {}

    def send(self, source: int, to: int, message: object) -> None:
        """Put a message on the network."""
        self.listen(source, to, message)
        self._pass_on(source, to, message)

    def _pass_on(self, source: int, to: int, message: object) -> None:
        if not self.stops(source, to, message):
            self.push(self.now + LATENCY_US, self.actors[to], message)

    def stops(self, source: int, to: int, message: object) -> bool:
        """Whether a message is blocked, or held, which is where it goes then."""
        family = self.family
        if any(carries(link, source, to, message, family) for link in self._cut):
            return True
        for held in self._held:
            if carries(held.link, source, to, message, family):
                held.kept.append((source, to, message))
                return True
        return False

    def listen(self, source: int, to: int, message: object) -> None:
        """Note what followers ask, and what they are told."""
        if isinstance(message, EpochRequest):
            self._asked[source, message.correlation] = (message.epoch, None)
        elif isinstance(message, FetchRequest):
            self._asked[source, message.correlation] = (message.last_fetched_epoch, message.offset)
        elif isinstance(message, EpochResponse) and message.error is None:
            self._note(to, message.correlation, *message.answer)
        elif isinstance(message, FetchResponse) and message.diverging is not None:
            self._note(to, message.correlation, *message.diverging)

    def _note(self, follower: int, correlation: int, epoch: int, end: int) -> None:
        asked, offset = self._asked[follower, correlation]
        self.answers.append(LeaderAnswer(follower, asked, offset, epoch, end))

    def block(self, link: Link) -> None:
        """From now on such messages are lost."""
        if link not in self._cut:
            self._cut.append(link)

    def unblock(self, link: Link) -> bool:
        """They arrive again; says whether they were blocked."""
        found = link in self._cut
        if found:
            self._cut.remove(link)
        return found

    def hold(self, link: Link) -> None:
        """From now on such messages wait."""
        self._held.append(_Held(link))

    def release(self, link: Link) -> bool:
        """What waited is sent now, in order; says whether such messages were held."""
        for held in self._held:
            if held.link == link:
                self._held.remove(held)
                for source, to, message in held.kept:
                    self._pass_on(source, to, message)
                return True
        return False

    def heal(self) -> None:
        """Nothing is blocked or held any more."""
        self._cut.clear()
        for held in self._held[:]:
            self.release(held.link)

    def next_event_us(self) -> int | None:
        """When something happens next."""
        return self._heap[0][0] if self._heap else None

    def lose_power(self, broker: int, keep: int) -> None:
        """The process ends, and of each log only the first `keep` batches are on disk.

        Raises:
            ValueError: the log has fewer batches, or more were fsynced.
        """
        node = self.nodes[broker]
        for log in node.disk.files.values():
            if not log.synced <= keep <= len(log.batches):
                raise ValueError(
                    f"it has {len(log.batches)} batches, {log.synced} of them fsynced, so it cannot keep {keep}"
                )
        self._end(node, "power")
        for log in node.disk.files.values():
            del log.batches[keep:]
            del log.written_us[keep:]
            log.synced = keep

    def lead_from(self, first_epoch: int) -> None:
        """Let the first leader epoch be this one, where there is a controller to say so."""
        if not self.family.has_isr:
            return
        for partition in self.controller.partitions.values():
            partition.leader_epoch = first_epoch - 1

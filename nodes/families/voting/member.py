"""One partition's replica in a group that elects its leader by majority votes: elections, the log, and what clients ask.

A server follows, stands for election, or leads. It votes once in a generation, for a candidate whose log is at least as up to date
as its own, and whoever has the votes of a majority leads that generation (Raft, 5.2 and 5.4.1; the seed's page on the high-water
mark leaves elections open). It is one file: vote, log and role change together, in one step. A family says
how a leader replicates, what it calls committed, and how a follower mends its log.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar
from zlib import crc32

from tidemark.nodes.core.actions import Append, Send, Sync, Truncate, WriteVote
from tidemark.nodes.core.log import Batch, Log
from tidemark.nodes.core.messages import (
    ALL,
    NOT_LEADER,
    REQUEST_TIMED_OUT,
    ConsumeRequest,
    ConsumeResponse,
    ProduceRequest,
    ProduceResponse,
)
from tidemark.nodes.families.voting.log_view import generation_at, last_generation
from tidemark.nodes.families.voting.messages import VoteRequest, VoteResponse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.nodes.families.voting.host import Seat

NOBODY = -1


class NoCache:
    """There is no leader epoch cache: each entry has its generation."""

    latest = -1

    @staticmethod
    def entries() -> tuple[tuple[int, int], ...]:
        """None."""
        return ()


class Member:
    """State of one replica.

    Class attributes:
        steps: message of the family → the method that takes it.
        everywhere: whether a server has one of every partition, an empty one where it is no replica at first.

    Attributes:
        generation: the newest one known. voted_for: whom this server voted for in it, −1 for nobody.
        leader: of this generation, −1 while it is not known.
        leading, standing: whether it leads, or stands for election; else it follows.
        log, hw: what it has, and what it knows to be committed (exclusive).
    """

    steps: ClassVar[Mapping[type, str]] = {}
    everywhere: ClassVar[bool] = False

    def __init__(self, seat: Seat) -> None:
        """Begin with what recovery left."""
        host, name, replicas, recovered = seat
        found = recovered.partitions.get(name)
        self.host = host
        self.name = name
        self.node_id = host.node_id
        self.variant = host.variant
        self.settings = host.settings
        self.out = host.out
        self.place = replicas.index(host.node_id) if host.node_id in replicas else len(replicas)
        self.peers = tuple(b for b in replicas if b != host.node_id)
        self.majority = len(replicas) // 2 + 1
        self.log = Log(list(found.batches), found.start, found.leo) if found else Log()
        self.hw = found.hw if found else 0
        self.cache = NoCache()
        self.generation, self.voted_for = recovered.votes.get(name) or (
            max(last_generation(self.log), 0),
            NOBODY,
        )
        self.leader = NOBODY
        self.leading = self.standing = False
        self.votes: set[int] = set()
        self.correlation = host.incarnation << 32
        self.parked: deque[tuple[int, ProduceRequest, int, int]] = deque()
        """Producers that wait: the batch's end, the request, its first offset, until when."""
        self._stand_at = 0
        self._known: tuple[int, int] | None = None
        self._paired = False

    @property
    def leader_epoch(self) -> int:
        """The generation, by Kafka's name for it."""
        return self.generation

    @property
    def following(self) -> bool:
        """Whether it follows a leader it knows."""
        return not self.leading and self.leader != NOBODY

    def told(self) -> Mapping[str, Any]:
        """What its node's status says of it that it does not say of others: plain values."""
        return {}

    # What a family says

    def lead(self, now: int) -> None:
        """Begin to lead: forget what was known of followers, and tell them."""
        raise NotImplementedError

    def replicate(self, now: int) -> None:
        """There is something new to send."""
        raise NotImplementedError

    def ends(self) -> list[int]:
        """Up to where each server is known to have this leader's log."""
        raise NotImplementedError

    def lead_on(self, now: int) -> None:
        """What a leader does with every tick."""
        raise NotImplementedError

    def forget_leader(self) -> None:
        """This server does not follow whom it followed, or does not lead, any more."""

    # Time

    def start(self, now: int) -> None:
        """The process has started. At the very first start the preferred replica stands at once, the others later."""
        first = self.host.incarnation == 1 and self.generation == 0 and not self.log.batches
        self._stand_at = now + self.place * self.settings.session_us if first else 0
        if not first:
            self.heard(now)

    def heard(self, now: int) -> None:
        """There is, or may soon be, a leader: wait for a session time-out and up to as much again, which differs from server to
        server and from one generation to the next.
        """
        session = self.settings.session_us
        drawn = crc32(f"{self.name}/{self.node_id}/{self.generation}/{self.host.incarnation}".encode())
        self._stand_at = now + session + drawn % session

    def tick(self, now: int) -> None:
        """Look at what is due."""
        self.expire(now)
        if self.leading:
            self.lead_on(now)
        elif now >= self._stand_at:
            self.time_out(now)

    def expire(self, now: int) -> None:
        """Answer producers that have waited long enough."""
        parked = self.parked
        while parked and parked[0][3] <= now:
            _, request, base, _ = parked.popleft()
            self.acknowledge(request, base, REQUEST_TIMED_OUT)

    def time_out(self, now: int) -> None:
        """No leader was heard for long enough."""
        self.stand(now)

    def stop(self, _now: int) -> None:
        """The process shuts down."""
        self.out.append(Sync(self.name))
        self._give_up()

    # Elections

    def stand(self, now: int, asks: type[VoteRequest] = VoteRequest) -> None:
        """Stand for election in a generation of its own; ``asks`` is how votes are asked for."""
        self._begin_generation(now, self.generation + 1)
        self.standing = True
        self._vote_for(now, self.node_id)
        self.votes = {self.node_id}
        self.heard(now)
        request = asks(self.node_id, self.name, self.generation, last_generation(self.log), self.log.leo)
        self.out += [Send(peer, request) for peer in self.peers]
        self._maybe_lead(now)

    def on_stand(self, now: int, _m: object) -> None:
        """An operator wants this server to lead."""
        if not self.leading:
            self.stand(now)

    def on_vote_request(self, now: int, m: VoteRequest) -> None:
        """Give the vote, if it is to be had."""
        if self.withholds(now, m):
            self.out.append(Send(m.source, VoteResponse(self.node_id, self.name, self.generation, granted=False)))
            return
        self.sees(now, m.generation)
        granted = m.generation == self.generation and self.voted_for in (NOBODY, m.source) and self._up_to_date(m)
        if granted and self.voted_for == NOBODY:
            self._vote_for(now, m.source)
            self.heard(now)
        self.out.append(Send(m.source, VoteResponse(self.node_id, self.name, self.generation, granted)))

    def withholds(self, _now: int, _m: VoteRequest) -> bool:
        """Whether a request for a vote is not even looked at, so that its generation stays unknown here."""
        return False

    def _up_to_date(self, m: VoteRequest) -> bool:
        return not self.variant.up_to_date_votes or self.is_behind(m.last_generation, m.leo)

    def is_behind(self, generation: int, leo: int) -> bool:
        """Whether a log with this last generation and end is at least as up to date as the own."""
        return (generation, leo) >= (last_generation(self.log), self.log.leo)

    def on_vote(self, now: int, m: VoteResponse) -> None:
        """Count a vote."""
        self.sees(now, m.generation)
        if self.standing and m.generation == self.generation and m.granted:
            self.votes.add(m.source)
            self._maybe_lead(now)

    def is_majority(self, servers: set[int]) -> bool:
        """Whether so many are one."""
        return len(servers) >= self.majority

    def _maybe_lead(self, now: int) -> None:
        if not self.is_majority(self.votes):
            return
        self.standing, self.leading, self.leader = False, True, self.node_id
        self.out.append((now, self.node_id, "lead", self.name, self.generation, self.log.leo, self.hw, ()))
        if self.variant.begins_with_no_op:
            self._append_own(now, (-1 - self.generation,))
        self.lead(now)
        self.commit(now)

    def _vote_for(self, now: int, candidate: int) -> None:
        self.voted_for = candidate
        self._write_vote()
        self.out.append((now, self.node_id, "vote", self.name, self.generation, candidate))

    def _write_vote(self) -> None:
        vote = self.voted_for if self.variant.remembers_votes else NOBODY
        self.out.append(WriteVote(self.name, self.generation, vote))

    def sees(self, now: int, generation: int) -> None:
        """Somebody names a generation; a newer one ends whatever was going on in the old one."""
        if generation > self.generation:
            self._begin_generation(now, generation)

    def _begin_generation(self, now: int, generation: int) -> None:
        led = self.leading
        self.generation, self.voted_for = generation, NOBODY
        self.leader, self.leading, self.standing = NOBODY, False, False
        self._write_vote()
        if led:
            self.heard(now)
            self._give_up()
        self.forget_leader()
        self._trace_follow(now)

    def resign(self, now: int) -> None:
        """Lead no more, though nobody has said so; the generation goes on without a leader."""
        self.leading, self.leader = False, NOBODY
        self.heard(now)
        self._give_up()
        self.forget_leader()
        self._known = None
        self._trace_follow(now)

    def follow(self, now: int, generation: int, leader: int) -> bool:
        """A leader makes itself known; says whether it leads the newest generation that is known here."""
        self.sees(now, generation)
        if generation < self.generation or self.leading:
            return False
        self.standing = False
        if self.leader != leader:
            self.leader = leader
            self._trace_follow(now)
        self.heard(now)
        return True

    def _trace_follow(self, now: int) -> None:
        told = (self.generation, self.leader)
        if told != self._known:
            self._known = told
            self.out.append((now, self.node_id, "follow", self.name, *told, self.log.leo, self.hw))

    # The log

    def write(self, batch: Batch) -> None:
        """Append a batch."""
        self.log.append(batch)
        self.out.append(Append(self.name, batch))

    def sync(self) -> None:
        """Have what was appended on disk before anybody counts it."""
        if self.variant.syncs:
            self.out.append(Sync(self.name))

    def cut(self, now: int, offset: int, why: str) -> None:
        """Truncate the log to ``offset``, or to where the batch before it ends."""
        before = self.log.leo
        if offset >= before:
            return
        end = self.shorten(offset)
        self.out.append((now, self.node_id, "truncate", self.name, end, before, why, self.generation))
        if self.hw > end:
            self.hw = end
            self.out.append((now, self.node_id, "hw", self.name, end, self.generation, False))

    def shorten(self, offset: int) -> int:
        """Cut log and file; gives where they end."""
        end = self.log.truncate(offset)
        self.log.truncate(end)
        self.out.append(Truncate(self.name, end))
        return end

    def learn_hw(self, now: int, hw: int) -> None:
        """A follower learns what is committed; never back."""
        if hw > self.hw:
            self.hw = hw
            self.out.append((now, self.node_id, "hw", self.name, hw, self.generation, False))

    def commit(self, now: int) -> None:
        """Advance the high watermark to what a majority has; where a leader begins with a no-op, in its own generation only."""
        hw = min(self.committed_end(), self.log.leo)
        if hw <= self.hw:
            return
        if self.variant.begins_with_no_op and generation_at(self.log, hw - 1) != self.generation:
            return
        self.commit_to(now, hw)

    def committed_end(self) -> int:
        """The log end that is committed."""
        return majority_end(self.ends())

    def pair(self, now: int) -> None:
        """Tell, once for each leader, that this server has what it was sent."""
        if not self._paired:
            self._paired = True
            self.out.append((now, self.node_id, "fetched", self.name, self.generation, self.leader))

    def commit_to(self, now: int, hw: int) -> None:
        """A leader commits, and acknowledges what producers wait for."""
        self.hw = hw
        self.out.append((now, self.node_id, "hw", self.name, hw, self.generation, True))
        parked = self.parked
        while parked and parked[0][0] <= hw:
            _, request, base, _ = parked.popleft()
            self.acknowledge(request, base, None)

    def _append_own(self, _now: int, values: Sequence[int]) -> Batch:
        batch = Batch(self.log.leo, self.generation, values)
        self.write(batch)
        self.sync()
        return batch

    # Clients

    def on_produce(self, now: int, m: ProduceRequest) -> None:
        """Append a producer's batch and replicate it; with acks=all the answer waits for the high watermark."""
        if not self.leading:
            self.acknowledge(m, -1, NOT_LEADER)
            return
        batch = self._append_own(now, m.values)
        if m.acks == "all":
            self.parked.append((batch.end, m, batch.base, now + self.settings.produce_timeout_us))
        elif m.acks != "0":
            self.acknowledge(m, batch.base, None)
        self.replicate(now)
        self.commit(now)

    def on_duplicate(self, now: int, m: ProduceRequest, base: int, end: int) -> None:
        """An idempotent producer repeats a batch that lies in the log (KIP-98): the answer waits as the first one's did."""
        if m.acks != ALL or self.hw >= end:
            self.acknowledge(m, base, None)
            return
        later = sum(1 for parked in self.parked if parked[0] > end)
        self.parked.insert(len(self.parked) - later, (end, m, base, now + self.settings.produce_timeout_us))

    def acknowledge(self, m: ProduceRequest, base: int, error: str | None) -> None:
        """Answer a producer."""
        self.out.append(Send(m.source, ProduceResponse(self.node_id, self.name, m.correlation, base, error)))

    def _give_up(self) -> None:
        """Nobody knows what becomes of what producers wait for."""
        while self.parked:
            _, request, base, _ = self.parked.popleft()
            self.acknowledge(request, base, REQUEST_TIMED_OUT)

    def may_serve_reads(self, _now: int) -> bool:
        """Whether consumers may read here."""
        return self.leading

    def on_consume(self, now: int, m: ConsumeRequest) -> None:
        """Give a consumer what lies below the high watermark; it is not shown what leaders write of their own."""
        error = None if self.may_serve_reads(now) else NOT_LEADER
        records: list[tuple[int, int]] = []
        position = -1
        if error is None and m.offset < self.hw:
            for batch in self.log.read(m.offset, self.settings.max_fetch_batches):
                for at, value in enumerate(batch.values, batch.base):
                    if m.offset <= at < self.hw:
                        position = at + 1
                        if value >= 0:
                            records.append((at, value))
        answer = ConsumeResponse(self.node_id, self.name, m.correlation, records, self.hw, error, 0, position)
        self.out.append(Send(m.source, answer))


def majority_end(ends: Sequence[int], *, lower_middle: bool = True) -> int:
    """The log end that a majority has reached, of all servers' log ends; with ``lower_middle`` false the seed's
    ``serverLogIndexes.get(noOfServers / 2)``, which for an even number is the end that half of them have.
    """
    ordered = sorted(ends)
    return ordered[(len(ordered) - 1) // 2 if lower_middle else len(ordered) // 2]

"""Membership change, one server at a time (Ongaro, "Consensus: Bridging Theory and Practice", 2014, chapter 4).

Any majority of a group and any of one that differs from it by a single server have a server in common; so a leader may go from
one to the other by an entry of its log, and does not begin the next change before that entry is committed. That is not enough: a
leader must have committed an entry of its own term as well (Ongaro, "bug in single-server membership changes", raft-dev, 10 July
2015). Else two leaders, each from the same configuration, take a step each, and have majorities without a common server.

An operator says which servers there are to be. The leader adds first: the new server is sent the log, without a vote, until it
has all that is committed (4.2.1); then it takes away, itself at last. A leader that is not a member counts others only, and
resigns when the entry is committed (4.2.2).

Who is in no configuration does not stand for election. One that the newest in its log leaves out does, until it knows that one to
be committed: others may lack it, so that nobody else can be elected; it needs their votes without its own (4.2.2). Who has nothing
and is in no configuration gives no vote. A server that hears a leader takes no notice of one that asks for votes and is no member
(4.2.3, for these alone), and a leader takes none of the term of one that has left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tidemark.nodes.core.messages import Reassign
from tidemark.nodes.families.raft.configurations import Configurations, written
from tidemark.nodes.families.raft.member import RaftMember
from tidemark.nodes.families.raft.messages import PermittedVoteRequest
from tidemark.nodes.families.voting.log_view import generation_at
from tidemark.nodes.families.voting.member import NOBODY, majority_end
from tidemark.nodes.families.voting.messages import VoteRequest
from tidemark.nodes.families.voting.pushing import Peer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.nodes.core.log import Batch
    from tidemark.nodes.families.raft.configurations import Configuration
    from tidemark.nodes.families.raft.messages import AppendResponse
    from tidemark.nodes.families.voting.host import Seat


class ChangingMember(RaftMember):
    """A server of a group whose members change, or one that may become a member."""

    everywhere = True
    steps: ClassVar[Mapping[type, str]] = {**RaftMember.steps, Reassign: "on_reassign"}

    def __init__(self, seat: Seat) -> None:
        """By the newest configuration in the log; the first one are the assignment's replicas."""
        super().__init__(seat)
        self.configurations = Configurations(seat.replicas, self.log)
        self.wanted: tuple[int, ...] = ()
        """The members that an operator wants, while it leads and has not brought that about."""
        self._learner = NOBODY
        """Who is being brought in, and has no vote yet."""
        self._leaving: dict[int, int] = {}
        """Who has gone → where the entry ends that says so: it is sent to them still."""
        self._go_by(self.configurations.newest)

    def told(self) -> Mapping[str, Any]:
        """Who belongs to the group in this server's eyes: by the newest entry of its log, and by the newest that is committed."""
        newest = self.configurations.newest
        return {
            "members": self.members,
            "settled": self.settled,
            "wanted": self.wanted,
            "configuration": [newest.generation, newest.offset],
        }

    @property
    def members(self) -> tuple[int, ...]:
        """The group, by the log."""
        return self.configurations.newest.members

    @property
    def settled(self) -> tuple[int, ...]:
        """The group as far as this server knows it to be committed."""
        return self.configurations.below(self.hw).members

    def _go_by(self, configuration: Configuration) -> None:
        members = configuration.members
        self.is_member = self.node_id in members
        self.peers = tuple(server for server in members if server != self.node_id)
        self.majority = len(members) // 2 + 1

    # The log

    def write(self, batch: Batch) -> None:
        """A configuration counts from when it is in the log."""
        super().write(batch)
        if self.configurations.take(batch):
            self._go_by(self.configurations.newest)

    def cut(self, now: int, offset: int, why: str) -> None:
        """And no longer than it is."""
        super().cut(now, offset, why)
        if self.configurations.cut(self.log.leo):
            self._go_by(self.configurations.newest)

    # Elections

    def time_out(self, now: int) -> None:
        """Who may not be needed waits."""
        if self._is_needed():
            super().time_out(now)
        else:
            self.heard(now)

    def stand(self, now: int, asks: type[VoteRequest] = VoteRequest) -> None:
        """Whoever wants it to."""
        if self._is_needed():
            super().stand(now, asks)

    def _is_needed(self) -> bool:
        return self.is_member or self.configurations.newest.offset >= self.hw

    def is_majority(self, servers: set[int]) -> bool:
        """Of the members alone."""
        return len(servers.intersection(self.members)) >= self.majority

    def withholds(self, now: int, m: VoteRequest) -> bool:
        """From everybody while it has nothing and is no member; from who is no member while it hears a leader."""
        if super().withholds(now, m) or not (self.is_member or self.log.batches):
            return True
        foreign = m.source not in self.members and not isinstance(m, PermittedVoteRequest)
        return foreign and self.hears_leader(now)

    def forget_leader(self) -> None:
        """What was begun is the next leader's to begin anew."""
        super().forget_leader()
        self.wanted, self._learner = (), NOBODY
        self._leaving = {}

    # Leader

    def ends(self) -> list[int]:
        """Of the members alone."""
        followers = self._followers
        own = [self.log.leo] if self.is_member else []
        return [*own, *(followers[peer].match for peer in self.peers)]

    def heard_by_majority_us(self, now: int) -> int:
        """The same."""
        followers = self._followers
        own = [now] if self.is_member else []
        return majority_end([*own, *(followers[peer].answered_us for peer in self.peers)])

    def lead_on(self, now: int) -> None:
        """Resign where it has no place, or go on with a change."""
        super().lead_on(now)
        if not self.leading:
            return
        if not self.is_member and self.configurations.newest.offset < self.hw:
            self.resign(now)
            return
        self._go_on(now)

    def commit_to(self, now: int, hw: int) -> None:
        """Tell of a configuration that is committed with it."""
        before = self.hw
        super().commit_to(now, hw)
        settled = self.configurations.below(hw)
        if settled.offset >= before:
            self._tell(now, settled, committed=True)

    def on_response(self, now: int, m: AppendResponse) -> None:
        """A server that has left does not end the reign; once it knows that it has left, it is sent nothing more."""
        foreign = m.source not in self.members and m.source != self._learner
        if foreign and m.generation > self.generation:
            return
        super().on_response(now, m)
        if not self.leading:
            return
        if m.source in self._leaving and self._followers[m.source].match >= self._leaving[m.source]:
            del self._leaving[m.source], self._followers[m.source]
        if m.source == self._learner:
            self._go_on(now)

    # Changes

    def on_reassign(self, now: int, m: Reassign) -> None:
        """An operator says which members there are to be; it asks again until they are."""
        if self.leading:
            self.wanted = m.replicas
            self._go_on(now)

    def _go_on(self, now: int) -> None:
        """The next step towards what is wanted, if it is time for one."""
        wanted, newest = self.wanted, self.configurations.newest
        if not (wanted and self.is_member and newest.offset < self.hw and self._may_begin()):
            return
        members = newest.members
        new = next((server for server in wanted if server not in members), NOBODY)
        old = [server for server in members if server not in wanted]
        if new != NOBODY:
            self._bring_in(now, new)
            return
        self._let_go_of_learner()
        if old:
            gone = next((server for server in old if server != self.node_id), self.node_id)
            self._change(now, tuple(server for server in members if server != gone))
        else:
            self.wanted = ()

    def _may_begin(self) -> bool:
        """Whether an entry of the own term is committed."""
        return not self.variant.own_entry_first or generation_at(self.log, self.hw - 1) == self.generation

    def _bring_in(self, now: int, server: int) -> None:
        if self._learner != server:
            self._let_go_of_learner()
            self._learner = server
            self._leaving.pop(server, None)
            self._tell(now, self.configurations.newest, committed=True)
            if server not in self._followers:
                self._followers[server] = Peer(self.log.leo, now)
                self._push(now, server, self._followers[server])
        elif self._followers[server].match >= self.hw:
            self._learner = NOBODY
            self._change(now, (*self.members, server))

    def _let_go_of_learner(self) -> None:
        if self._learner != NOBODY:
            del self._followers[self._learner]
            self._learner = NOBODY

    def _change(self, now: int, members: tuple[int, ...]) -> None:
        """Append a configuration; it counts at once."""
        before = self.members
        batch = self._append_own(now, (written(members, self.generation),))
        self._leaving |= {server: batch.end for server in before if server not in members and server != self.node_id}
        self._tell(now, self.configurations.newest, committed=False)
        self.replicate(now)
        self.commit(now)

    def _tell(self, now: int, configuration: Configuration, *, committed: bool) -> None:
        offset, generation, members = configuration
        self.out.append((now, self.node_id, "members", self.name, members, offset, generation, committed))

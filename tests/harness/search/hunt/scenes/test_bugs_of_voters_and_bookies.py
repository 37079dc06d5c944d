"""Scenes of voters and of bookies show the bug they were made for, in a variant that has it, and nothing in one that has not."""

import pytest
from played_scenes import shown_by

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families.bookkeeper.recovery import Takeover
from tidemark.nodes.families.bookkeeper.writer import Writer
from tidemark.nodes.families.raft import member
from tidemark.nodes.families.raft.canvassing import CanvassingMember
from tidemark.nodes.families.raft.changing import ChangingMember
from tidemark.nodes.families.raft.configurations import Configurations
from tidemark.nodes.families.raft.leases import LeasingMember
from tidemark.nodes.families.raft.messages import PermittedVoteRequest
from tidemark.nodes.families.voting.member import Member


def test_deposed_and_does_not_know_a_leader_shows_what_was_committed_when_it_led():
    name, cluster = "deposed, and does not know", ClusterSpec()

    assert shown_by(name, "raft+lease-reads+lease-never-ends", cluster, 8, "intact")["stale-poll"] >= 4
    assert not shown_by(name, "raft+lease-reads", cluster, 8, "intact")


def test_two_change_one_group_each_by_one_server():
    name, cluster = "two change one group", ClusterSpec(brokers=6, replication_factor=4)

    assert shown_by(name, "raft+membership-change+change-at-once", cluster, 16)["unsafe-commit"] >= 2
    assert not shown_by(name, "raft+membership-change", cluster, 16)


def test_an_order_goes_with_its_leader_which_counts_by_it_no_more(monkeypatch):
    name, cluster = "an order goes with its leader", ClusterSpec(brokers=6, replication_factor=4)
    assert not shown_by(name, "raft+pre-vote+membership-change", cluster, 32)

    monkeypatch.setattr(Configurations, "cut", lambda self, end, cut=Configurations.cut: cut(self, end) and False)

    assert shown_by(name, "raft+pre-vote+membership-change", cluster, 32).keys() & {"stuck", "acked-by-too-few"}


def test_an_order_goes_with_its_leader_and_does_not_come_back_with_it(monkeypatch):
    def forgets_all_but_its_order(self, forget=ChangingMember.forget_leader):
        wanted = self.wanted
        forget(self)
        self.wanted = wanted

    monkeypatch.setattr(ChangingMember, "forget_leader", forgets_all_but_its_order)
    cluster = ClusterSpec(brokers=4, replication_factor=3)

    assert shown_by("an order goes with its leader", "raft+membership-change", cluster, 32)["stale-order"] >= 1


def test_each_writes_alone_and_what_the_first_wrote_is_committed_in_a_later_term():
    name, cluster = "each writes alone", ClusterSpec()

    assert shown_by(name, "raft+commit-any-term", cluster, 32, "intact")["unsafe-commit"] >= 2
    assert not shown_by(name, "raft", cluster, 32, "intact")


@pytest.mark.systems
def test_a_slow_candidate_stands_again_and_votes_of_its_former_term_come_late(monkeypatch):
    name, cluster = "a slow candidate stands again", ClusterSpec()
    assert not shown_by(name, "raft", cluster, 100, "intact")

    def counted(self, now, m):
        self.sees(now, m.generation)
        if self.standing and m.granted:
            self.votes.add(m.source)
            self._maybe_lead(now)

    monkeypatch.setattr(Member, "on_vote", counted)

    assert shown_by(name, "raft", cluster, 100, "intact")["two-leaders"] >= 1


def test_voters_come_back_and_vote_as_if_they_had_heard_of_no_leader(monkeypatch):
    name, cluster = "voters come back, and vote", ClusterSpec()
    assert not shown_by(name, "raft+lease-reads", cluster, 32, "intact")

    monkeypatch.setattr(LeasingMember, "start", CanvassingMember.start)

    assert shown_by(name, "raft+lease-reads", cluster, 32, "intact")["stale-poll"] >= 1


def test_cut_off_as_another_stands_whom_those_vote_for_that_have_just_answered(monkeypatch):
    name, cluster = "cut off as another stands", ClusterSpec()
    assert not shown_by(name, "raft+lease-reads", cluster, 32, "intact")

    monkeypatch.setattr(LeasingMember, "withholds", lambda *_: False)

    assert shown_by(name, "raft+lease-reads", cluster, 32, "intact")["stale-poll"] >= 1


@pytest.mark.systems
@pytest.mark.parametrize("given_by", ["the leader, which counts on its lease again", "a former leader"])
def test_leave_is_long_on_its_way_and_there_is_a_lease_when_it_comes(monkeypatch, given_by):
    name, cluster = "leave is long on its way", ClusterSpec()
    assert not shown_by(name, "raft+lease-reads", cluster, 120, "intact")

    def serves(self, now, serves=LeasingMember.may_serve_reads):
        if self._handed_over_us <= self.heard_by_majority_us(now):
            self._handed_over_us = 0
        return serves(self, now)

    if given_by == "a former leader":
        monkeypatch.setattr(LeasingMember, "on_stand_now", lambda self, now, m: self.stand(now, PermittedVoteRequest))
    else:
        monkeypatch.setattr(LeasingMember, "may_serve_reads", serves)

    assert shown_by(name, "raft+lease-reads", cluster, 120, "intact")["stale-poll"] >= 1


def test_heard_by_few_a_leader_leads_on_that_counts_the_last_answer_of_anybody(monkeypatch):
    name, cluster = "heard by few", ClusterSpec(brokers=5, replication_factor=5)
    assert not shown_by(name, "raft+pre-vote", cluster, 8, "intact")

    last = lambda self, now: max(one.answered_us for one in self._followers.values())  # noqa: E731
    monkeypatch.setattr(CanvassingMember, "heard_by_majority_us", last)

    assert shown_by(name, "raft+pre-vote", cluster, 8, "intact")["leads-unheard"] >= 2


@pytest.mark.systems
def test_slower_than_it_is_waited_for_and_entries_that_come_late_cut_what_is_newer(monkeypatch):
    name, cluster = "slower than it is waited for", ClusterSpec()
    assert not shown_by(name, "raft", cluster, 150, "intact")

    monkeypatch.setattr(member, "conflict_with", lambda log, batch: batch.base if batch.base < log.leo else None)

    assert shown_by(name, "raft", cluster, 150, "intact")


def test_gaps_at_bookies_are_what_recovery_must_read():
    name, cluster = "gaps at bookies", ClusterSpec()

    assert shown_by(name, "bookkeeper+recovery-trusts-lac", cluster, 8, "intact")["lost-committed-write"] >= 2
    assert not shown_by(name, "bookkeeper", cluster, 8, "intact")


def test_gaps_are_filled_by_bookies_that_take_the_place_of_others(monkeypatch):
    name, cluster = "gaps at bookies", ClusterSpec()

    def counts_on(self, now, ledger):
        self.ledger, self._changing = ledger, False
        self._send_again(now)
        self._confirm(now)

    monkeypatch.setattr(Writer, "changed", counts_on)

    assert shown_by(name, "bookkeeper", cluster, 32, "intact")["outside-its-ensemble"] >= 2


def test_a_ledger_is_recovered_without_one_of_its_bookies(monkeypatch):
    name, cluster = "recovered without one", ClusterSpec()
    assert not shown_by(name, "bookkeeper", cluster, 16, "destructive")

    def forgets(self, now, close=Takeover._close):
        self._fragments = self._ledger.fragments
        close(self, now)

    monkeypatch.setattr(Takeover, "_close", forgets)

    assert shown_by(name, "bookkeeper", cluster, 16, "intact")["outside-its-ensemble"] >= 4


def test_a_fence_is_lost_with_a_disk_that_nobody_knows_to_be_empty():
    name, cluster = "a fence is lost", ClusterSpec()

    assert shown_by(name, "bookkeeper+no-cookies", cluster, range(100, 120), "destructive")["lost-committed-write"] >= 1
    assert not shown_by(name, "bookkeeper", cluster, range(100, 120), "destructive")

"""Scenes of brokers show the bug they were made for, in a variant that has it, and nothing in one that has not."""

from dataclasses import replace

import pytest
from played_scenes import marks, shown_by

from tidemark.nodes.core import leader
from tidemark.nodes.core.broker import Broker
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.controller.elections import Controller
from tidemark.nodes.core.controller.kraft import KRaftController
from tidemark.nodes.core.controller.zookeeper import ZooKeeperController
from tidemark.nodes.core.leader import Leadership
from tidemark.nodes.core.messages import INVALID_UPDATE_VERSION
from tidemark.nodes.families import parse_variant


def test_a_leader_is_alone_in_the_isr_when_another_controller_takes_over(monkeypatch):
    """Whoever forgets then who is eligible may have nobody to elect."""
    name, variant = "alone as the controller fails", "kafka-4.0+forget-log-ends"
    assert marks(name, profile="controllers", variant="kafka-4.0", seeds=20)["isr-of-one"] >= 12
    assert not shown_by(name, variant, ClusterSpec(), 20, "controllers")

    takes_over = KRaftController._take_over

    def forgets(self, now):
        takes_over(self, now)
        for partition in self.partitions.values():
            partition.elr = ()

    monkeypatch.setattr(KRaftController, "_take_over", forgets)
    assert shown_by(name, variant, ClusterSpec(), 20, "controllers")["elr-forgotten"] >= 8


@pytest.mark.systems
def test_who_cut_its_log_below_its_log_start_and_is_killed_soon_deletes_it():
    """The stale log start: the same plans pass where the log start is noted with the cut."""
    name, cluster = "led by who missed a deletion", ClusterSpec()
    repaired = "kafka-4.0+forget-log-ends+rebuild-epochs+begin-anew"

    assert shown_by(name, repaired, cluster, 40, "retention-destructive")["lost-committed-write"] >= 3
    assert not shown_by(name, f"{repaired}+log-start-with-cut", cluster, 40, "retention-destructive")


def test_a_leader_that_shuts_down_as_it_is_moved_shows_that_a_broker_that_is_gone_joined_the_isr():
    """KAFKA-14140; the same plans pass where brokers' epochs are checked, or show KAFKA-14424 there."""
    name, cluster = "moved from the last one there", ClusterSpec(brokers=4)
    shown = [
        seed
        for seed in range(40)
        if shown_by(name, "kafka-2.7", cluster, [seed])["stuck"]
        and not shown_by(name, "kafka-2.7+broker-epochs", cluster, [seed])
    ]

    assert len(shown) >= 2


def test_let_in_unheard_a_follower_is_counted_though_its_leader_was_refused(monkeypatch):
    name, cluster = "let in unheard", ClusterSpec()
    assert not shown_by(name, "kafka-4.0+repaired", cluster, 32, "intact")

    monkeypatch.setattr(leader, "STALE_BROKER_EPOCH", INVALID_UPDATE_VERSION)

    assert shown_by(name, "kafka-4.0+repaired", cluster, 32, "intact")["lost-committed-write"] >= 2


def test_told_late_and_then_not_a_broker_answers_twice(monkeypatch):
    name, cluster = "told late, and then not", ClusterSpec()
    assert not shown_by(name, "kafka-2.7", cluster, 48, "intact")

    def any_answer(self, now, m):
        waiting = self._requests[m.source].waiting
        if waiting:
            waiting.popleft()
            if waiting:
                self._send_first(now, m.source)

    monkeypatch.setattr(ZooKeeperController, "_on_state_taken", any_answer)

    assert shown_by(name, "kafka-2.7", cluster, 48, "intact")["stuck"] >= 2


def test_deleted_beyond_what_is_committed_a_leader_refuses(monkeypatch):
    name, cluster = "deleted beyond what is committed", ClusterSpec()
    assert not shown_by(name, "kafka-4.0+repaired", cluster, 24, "deletions")

    def deletes(self, now, m, delete=Leadership.delete_records):
        if self.replica.hw < m.offset <= self.replica.log.leo:
            self.replica.advance_start(now, m.offset, "delete-records")
        delete(self, now, m)

    monkeypatch.setattr(Leadership, "delete_records", deletes)

    assert shown_by(name, "kafka-4.0+repaired", cluster, 24, "deletions")["wrong-deletion"] >= 2


@pytest.mark.systems
def test_let_in_for_what_it_had_before_its_disk_was_lost():
    name, cluster = "let in for what it had", ClusterSpec()

    unchecked = replace(parse_variant("kafka-4.0"), broker_epoch_checks=False)

    assert shown_by(name, unchecked, cluster, 100, "destructive")["lost-committed-write"] >= 1
    assert not shown_by(name, "kafka-4.0", cluster, 100, "destructive")


def test_answered_after_a_member_went_a_leader_knows_better(monkeypatch):
    name, cluster = "answered after a member went", ClusterSpec()
    assert not shown_by(name, "kafka-4.0+repaired", cluster, 50, "intact")

    def takes_any(self, now, m, take=Leadership.take_isr_answer):
        if m.error is None and m.leader_epoch == self.epoch:
            self._adopt(now, m.isr, m.partition_epoch)
        else:
            take(self, now, m)

    monkeypatch.setattr(Leadership, "take_isr_answer", takes_any)

    assert shown_by(name, "kafka-4.0+repaired", cluster, 50, "intact")["stuck"] >= 1


def test_let_in_unheard_by_a_leader_that_writes_the_isr_itself():
    """Which is refused for good, and commits without whom it let in (KAFKA-2729)."""
    name, cluster, variant = "let in unheard", ClusterSpec(), "kafka-2.1+bounce-detection"

    assert shown_by(name, variant, cluster, range(25, 36), "intact")["lost-committed-write"] >= 1
    assert not shown_by(name, f"{variant}+no-leader-writes-isr", cluster, range(25, 36), "intact")


def test_fewer_than_min_isr_is_too_few_for_a_leader_that_has_heard(monkeypatch):
    name, cluster = "fewer than min ISR", ClusterSpec()
    assert not shown_by(name, "kafka-4.0+repaired", cluster, 24, "settings")

    def from_its_next_reign_on(self, now, m):
        self._changes_heard, self.min_isr = m.settings, m.min_isr
        self.out.append((now, self.node_id, "settings", "", m.settings))

    monkeypatch.setattr(Broker, "_hear_of_min_isr", from_its_next_reign_on)

    assert shown_by(name, "kafka-4.0+repaired", cluster, 24, "settings")["acked-by-too-few"] >= 2


def test_moved_away_and_back_a_broker_hears_late_that_it_is_to_go(monkeypatch):
    name, cluster = "moved away and back", ClusterSpec(brokers=4)
    assert not shown_by(name, "kafka-2.7", cluster, 40)

    def goes(self, now, replica, m):
        if m.delete:
            self._remove(now, replica)

    monkeypatch.setattr(Broker, "_is_no_replica", goes)

    assert shown_by(name, "kafka-2.7", cluster, 40)["stuck"] >= 1


@pytest.mark.parametrize(
    ("name", "anomaly"),
    [("ELR off for a while", "lost-committed-write"), ("changed while all are down", "elr-forgotten")],
)
def test_elr_that_is_switched_at_a_bad_time(name, anomaly):
    cluster = ClusterSpec()

    assert shown_by(name, "kafka-4.0+forget-log-ends", cluster, 40, "features")[anomaly] >= 1
    assert not shown_by(name, "kafka-4.0+forget-log-ends+safe-elr-switch", cluster, 40, "features")


def test_a_controller_that_goes_on_electing_when_it_may_not_any_more(monkeypatch):
    name, cluster = "unclean elections for a while", ClusterSpec()
    assert not shown_by(name, "kafka-4.0+forget-log-ends", cluster, 40, "unclean")

    monkeypatch.setattr(Controller, "_unclean_changed", lambda self, _now: setattr(self, "unclean", True))
    monkeypatch.setattr(KRaftController, "_unclean_changed", Controller._unclean_changed)
    shown = shown_by(name, "kafka-4.0+forget-log-ends", cluster, 40, "unclean")
    assert shown["unasked-election"] >= 10
    assert shown["lost-committed-write"] >= 5

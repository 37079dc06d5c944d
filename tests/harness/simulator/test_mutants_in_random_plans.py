"""A leader, a controller or a recovery with something wrong: random plans show it by the anomaly that was made for it.

Each plan is the first of its mix that does. How many of 300 or 3,000 plans do is beside it; under the repaired code none does.
If the generator has changed, look for others.
"""

from dataclasses import replace

import pytest

from tidemark.harness.simulator import simulation
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import generate_plan
from tidemark.nodes.core import leader, recovery
from tidemark.nodes.core.actions import MarkCleanShutdown
from tidemark.nodes.core.broker import Broker
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.controller.elections import Controller
from tidemark.nodes.core.leader import Leadership

PROFILES = ("intact", "destructive", "reassignments", "retention-destructive", "controllers")
VARIANTS = ("kafka-2.7", "kafka-4.0")
advance, registered, accepted = Leadership.maybe_advance_hw, Controller._registered, Broker._on_registered
answer, recover = Leadership.answer_fetch, recovery.recover


def waits_for_all_replicas(self, now):
    """In the ISR or not."""
    ends = [self.replica.log.leo, *(remote.leo for remote in self.remotes.values())]
    if min(ends) > self.replica.hw:
        advance(self, now)


def takes_nobody_out(self, now, broker):
    for partition in self.partitions.values() if self._opened else ():
        if partition.leader == broker:
            self._choose(now, partition, "online")


def believes_everybody(self, now, session, m):
    registered(self, now, session, replace(m, previous_broker_epoch=session.broker_epoch))


def marks_before_it_stops(self, now, m):
    accepted(self, now, m)
    self.out.append(MarkCleanShutdown(self.broker_epoch))


def refuses_who_is_outside(self, now, m):
    if m.source in self.remotes and m.source not in self.maximal:
        self._refuse(m, leader.STALE_BROKER_EPOCH)
    else:
        answer(self, now, m)


def takes_out_who_is_behind(self, now):
    behind = {b for b, remote in self.remotes.items() if b in self.isr and remote.leo != self.replica.log.leo}
    if behind:
        self._propose(now, tuple(b for b in self.isr if b not in behind))


def keeps_epochs_beyond_the_log(image, rules):
    found = recover(image, rules)
    for name, partition in found.partitions.items():
        partition.epochs += tuple(one for one in image.partitions[name].epochs if one[1] >= partition.leo)
    return found


def looks_at_no_batch(image, rules):
    return recover(replace(image, clean_broker_epoch=-1), rules)


on_unclean = Controller._on_unclean

MUTANTS = [
    ("isr-not-shrunk", Leadership, "_maybe_shrink", lambda *_: None, 43),  # 4 of 3,000
    ("isr-not-shrunk", Controller, "_leave", takes_nobody_out, 24),  # 9 of 300
    ("isr-shrunk-early", Leadership, "_maybe_shrink", takes_out_who_is_behind, 167),  # one of nine
    ("hw-not-advanced", Leadership, "maybe_advance_hw", waits_for_all_replicas, 200),  # 7 of 3,000
    ("false-clean-shutdown", Controller, "_registered", believes_everybody, 1),  # half of all
    ("false-clean-shutdown", Broker, "_on_registered", marks_before_it_stops, 1),  # half of all
    ("not-let-in", Leadership, "_maybe_expand", lambda *_: None, 0),  # three of four
    ("not-let-in", Leadership, "answer_fetch", refuses_who_is_outside, 1),  # more than half
    ("broken-log", simulation, "recover", keeps_epochs_beyond_the_log, 3),  # 9 of 300
    ("broken-log", simulation, "recover", looks_at_no_batch, 38),  # 3 of 300
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("anomaly", "of", "name", "instead", "index"), MUTANTS)
def test_a_random_plan_shows_it(anomaly, of, name, instead, index, variant, monkeypatch):
    plan = generate_plan(1, index, PROFILES[index % len(PROFILES)], ClusterSpec())
    assert execute(plan, variant).verdict.valid != "invalid"

    monkeypatch.setattr(of, name, instead)
    assert anomaly in {one.name for one in execute(plan, variant).verdict.anomalies if one.verdict == "violation"}


def forgets_that_they_are_forbidden(controller, now, m):
    on_unclean(controller, now, m)
    controller.unclean = True


@pytest.mark.parametrize("variant", ["kafka-2.1", "kafka-2.7", "kafka-3.7", "kafka-4.0"])
def test_a_controller_that_goes_on_electing_uncleanly_is_found(variant, monkeypatch):
    """Two of five plans of the profile show it, and one of five loses what was acknowledged."""
    plan = generate_plan(7, 7, "unclean", ClusterSpec())
    assert execute(plan, variant).verdict.valid == "valid"

    monkeypatch.setattr(Controller, "_on_unclean", forgets_that_they_are_forbidden)
    found = {one.name for one in execute(plan, variant).verdict.anomalies if one.verdict == "violation"}
    assert {"unasked-election", "lost-committed-write"} <= found

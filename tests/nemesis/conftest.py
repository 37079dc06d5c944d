"""A world that only writes down what the nemesis does to it."""

from heapq import heappop, heappush
from itertools import count

import pytest

from tidemark.nemesis import Injector


class NotedWorld:
    """Implements ``nemesis.FaultTarget``; ``said`` holds the verbs in order, as (verb, *arguments)."""

    def __init__(self, *, brokers, partitions):
        self.ids = brokers
        self.states = partitions
        self.now = 0
        self.said = []
        self.entries = []
        self.links = {}
        self.down = set()
        self.paused = set()
        self.watchers = {}
        self._calls = []
        self._number = count()

    # Looking

    def brokers(self):
        return self.ids

    def partitions(self):
        return tuple(self.states)

    def leader_of(self, partition):
        return self.states[partition]["leader"]

    def isr_of(self, partition):
        return self.states[partition]["isr"]

    def replicas_of(self, partition):
        return self.states[partition]["replicas"]

    def target_of(self, partition):
        return self.states[partition].get("target", self.states[partition]["replicas"])

    def reassign(self, partition, replicas):
        self.said.append(("reassign", partition, replicas))

    def move_log(self, partition, broker, rate):
        self.said.append(("move", partition, broker, rate))

    def unthrottle_moves(self, broker):
        self.said.append(("unthrottle", broker))

    def fail_log_dir(self, partition, broker, *, other):
        self.said.append(("fail", partition, broker, other))

    def mend_log_dir(self, broker, *, emptied):
        self.said.append(("mend", broker, emptied))

    def controllers(self):
        return (0, 1, 2)

    def change_voter(self, node, *, there):
        self.said.append(("voter", node, there))

    def allow_unclean(self, *, on):
        self.said.append(("unclean", on))

    def switch_elr(self, *, on):
        self.said.append(("ELR", on))

    def set_min_isr(self, order):
        self.said.append(("min ISR", order))
        return 2 if order is None else order

    def running(self, broker):
        return broker not in self.down

    def now_us(self):
        return self.now

    # Doing

    def call_at(self, at_us, action):
        heappush(self._calls, (at_us, next(self._number), action))

    def on_trace(self, event, callback):
        self.watchers.setdefault(event, []).append(callback)

    def set_link_fault(self, key, links, effect, amount):
        self.said.append(("fault", key, effect))
        self.links[key] = (set(links), effect, amount)

    def clear_link_fault(self, key):
        self.said.append(("clear", key))
        self.links.pop(key)

    def stop(self, broker, how):
        if broker in self.down:
            return
        self.said.append(("stop", broker, how))
        self.down.add(broker)
        self.paused.discard(broker)

    def damage(self, broker, damage):
        self.said.append(("damage", broker, *damage))

    def take_back(self, broker, back_us, what):
        self.said.append(("take back", broker, back_us, *sorted(what)))

    def start(self, broker):
        self.said.append(("start", broker))
        self.down.discard(broker)

    def pause(self, broker):
        self.said.append(("pause", broker))
        self.paused.add(broker)

    def resume(self, broker):
        self.said.append(("resume", broker))
        self.paused.discard(broker)

    def hinder(self, key, broker, kind, amount):
        self.said.append(("hinder", key, broker, kind, amount))

    def unhinder(self, key):
        self.said.append(("unhinder", key))

    def elect(self, partition, how, target):
        self.said.append(("elect", partition, how, target))

    def delete_records(self, partition, share):
        self.said.append(("delete", partition, share))

    def retain(self, partition, broker, share):
        self.said.append(("retain", partition, broker, share))

    def record(self, entry):
        self.entries.append(entry)

    # For tests

    def until(self, at_us):
        """Let the time pass and what is due happen."""
        while self._calls and self._calls[0][0] <= at_us:
            self.now, _, action = heappop(self._calls)
            action()
        self.now = at_us

    def happened(self, event, node):
        """A trace event, and what is due at once because of it."""
        for callback in self.watchers.get(event, []):
            callback(node)
        self.until(self.now)

    def struck(self):
        """(time, index, kind, node) of every strike."""
        return [(at, index, kind, d["node"]) for at, what, index, kind, d in self.entries if what == "strike"]

    def healed(self):
        """(time, index, kind) of every heal."""
        return [(at, index, kind) for at, what, index, kind, _ in self.entries if what == "heal"]


@pytest.fixture(scope="session")
def world():
    """``world(*faults, leader=1, isr=(1, 2), …)``: brokers 1 to 4, partition t-0 on 1, 2, 3; the injector is armed.

    Gives the world and the injector.
    """

    def make(*faults, leader=1, isr=(1, 2, 3), replicas=(1, 2, 3), brokers=(1, 2, 3, 4), more=()):
        partitions = {"t-0": {"leader": leader, "isr": isr, "replicas": replicas}, **dict(more)}
        noted = NotedWorld(brokers=brokers, partitions=partitions)
        injector = Injector(noted, faults)
        injector.arm()
        return noted, injector

    return make

"""Marks, and what finds those of a run in one pass over its trace. One that no run of a campaign has is something it never tried.

To add one: its sentence in :data:`MARKS`, and where it is come to. A long file, so that both are in one place.

>>> from tidemark.checkers.marks import exercised
>>> exercised([
...     (1, 1, "lead", "t-0", 0, 0, 0, (1, 2)),
...     (2, 1, "append", "t-0", 0, 0, (7,)),
...     (3, 0, "elect", "t-0", 2, 1, (2, 1), (), "forced", True, 1),
...     (4, 2, "lead", "t-0", 1, 0, 0, (2, 1)),
...     (5, 1, "append", "t-0", 1, 0, (8,)),
... ])
{'elected-while-a-member-is-ahead': Mark(times=1, first_us=4), 'two-lead': Mark(times=1, first_us=5)}
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.trace_events import NODE, PARTITION, TraceEvent
from tidemark.checkers.marks.ensembles import Ensembles
from tidemark.checkers.marks.seen import Partition, Partitions, Seen

MARKS: dict[str, str] = {
    # Elections
    "elected-behind-committed": "a leader was elected whose log ends below what an earlier leader had committed",
    "elected-while-a-member-lags": "a leader began to lead while a member of its ISR had less than it",
    "elected-while-a-member-is-ahead": "a leader began to lead while a member of its ISR had more than it",
    "elected-from-outside": "a leader was elected from outside ISR and ELR",
    "elected-again-at-once": "a leader was deposed before it had written a record",
    "no-leader-left": "nobody could be elected",
    # Reigns
    "reign-skipped-by-follower": "a follower went on in a reign without having heard of the one before",
    "reign-skipped-by-leader": "a leader was elected again, and had not heard of the reign between (with ZooKeeper only "
    "after a change of controllers: one tells each broker all it has to tell it, in turn)",
    "led-on-in-a-new-epoch": "a leader went on in the next epoch, as leader",
    "two-lead": "a leader wrote while a newer one had been elected",
    "deposed-leader-committed": "a leader's high watermark moved while a newer one had been elected",
    "followed-ahead": "a follower began to follow with a longer log than its leader's",
    "cut-behind-the-leaders-back": "a follower truncated while another broker still took itself for its leader",
    "led-on-over-a-cut": "a leader went on in a new epoch after a follower had truncated behind its back",
    # Truncation
    "cut-below-high-watermark": "a replica truncated below its own high watermark",
    "cut-below-committed": "a replica truncated below what a leader had committed (no loss where others still have it)",
    "cut-inside-a-batch": "a cut fell inside a batch: all of it went, and the log goes on behind a hole",
    "cut-without-conflict": "a follower truncated a record that its leader had as well",
    "cut-to-high-watermark": "a follower truncated to its high watermark",
    "cut-by-epoch": "a follower truncated to where an epoch ends",
    "cut-whole-log": "a replica's whole log was cut or dropped",
    "out-of-range": "a follower's fetch was out of its leader's range",
    "out-of-order": "a follower refused a batch that did not go on where its log ended",
    "rounds-2": "a follower needed two answers of its leader before their logs agreed",
    "rounds-3": "a follower needed three answers or more",
    # Crashes
    "leader-stopped": "a leader's process ended",
    "follower-stopped": "a follower's process ended",
    "leader-paused": "a leader was paused",
    "follower-paused": "a follower was paused",
    "log-lost": "a broker lost its log, or what it had not synced",
    "recovery-dropped-records": "a recovery dropped records",
    "recovery-dropped-an-epoch": "a recovery dropped all records of a leader epoch",
    "came-back-unclean": "a broker was accepted again whose process had not shut down cleanly",
    "checkpoint-behind": "a broker came back with a high watermark below the one it had known",
    "all-stopped": "no replica of a partition was running",
    "gave-up": "a process gave up by itself",
    # Membership
    "isr-shrunk": "the controller's ISR became smaller",
    "isr-grew": "the controller's ISR grew",
    "let-in-behind-committed": "a replica came into the controller's ISR whose log ended below what a leader had committed",
    "let-in-anew-behind-committed": "the same, of a broker that had been accepted again after an unclean stop",
    "isr-flapped": "the controller's ISR became smaller, grew, and became smaller again, within two seconds",
    "isr-shrunk-over-a-wait": "the controller's ISR became smaller while its leader had records that were not committed",
    "written-past-a-member": "a leader wrote while a member of the ISR had no process, or a paused one",
    "accepted-below-min-isr": "a leader wrote, with acks=all, while the controller's ISR was smaller than min.insync.replicas",
    "caught-up-outside": "a replica outside the ISR had all that its leader had",
    "isr-of-one": "a leader was alone in the ISR",
    "fenced": "a broker's session ended",
    "unfenced-behind": "a broker took part again that had not heard of a partition's latest election",
    "majority-lacks-committed": "the logs of a majority ended below what a leader had committed",
    "ensemble-lacks-confirmed": "fewer bookies of an entry's own ensemble had it than must, and it was confirmed",
    "reassigned": "a partition's replicas were reassigned",
    # Deletion
    "deleted": "records were deleted on purpose",
    "began-anew": "a follower dropped its log, and began at its leader's log start",
}
"""Name → what has happened at least once."""

WITHOUT_ISR = frozenset({"majority-lacks-committed", "ensemble-lacks-confirmed"})
"""Those that only families without an ISR can come to."""

_NOTHING_KNOWN: Mapping[str, Any] = MappingProxyType({})
_LOG_LOST = frozenset({"power", "disk", "damage"})
_FLAPS_WITHIN_US = 2_000_000


class Mark(NamedTuple):
    """How often a run came to a mark, and when it first did, in µs."""

    times: int
    first_us: int


def by_mark(seen: Mapping[str, int], among: Collection[str] | None = None) -> dict[str, int]:
    """Runs that came to each mark, in the order of `MARKS`; those that none came to with 0.

    Args:
        seen: how many came to each.
        among: those that a protocol's runs can come to; None: all of a protocol with an ISR. Others are told if there are any.
    """
    can = MARKS.keys() - WITHOUT_ISR if among is None else among
    return {name: seen.get(name, 0) for name in MARKS if name in can or seen.get(name)}


def exercised(trace: Sequence[TraceEvent], meta: Mapping[str, Any] = _NOTHING_KNOWN) -> dict[str, Mark]:
    """The run's marks, in the order in which it first came to them.

    Args:
        trace: of its replicas.
        meta: the meta line of its history; without it there is no mark that asks for ``min.insync.replicas`` or an ack quorum.
    """
    run = _Run(meta)
    partitions = run.partitions
    for event in trace:
        kind = event[2]
        if (
            kind == "append"
        ):  # nine of ten events are this one or the next: they are read by place, and no more is done than they need
            partition = partitions[event[3]]
            replica = partition.replicas[event[1]]
            replica.leo = event[4] + len(event[6])
            if event[5] != replica.last_epoch:
                replica.last_epoch = event[5]
                replica.epochs.append((event[5], event[4]))
            if replica.leading:
                replica.wrote = True
                if partition.suspect:
                    run.now = event[0]
                    run.wrote(partition)
                if replica.epoch < partition.elected:
                    run.now = event[0]
                    run.mark("two-lead")
            elif event[1] not in partition.isr and partition.isr and replica.leo >= partition.leader.leo:
                run.now = event[0]
                run.mark("caught-up-outside")
        elif kind == "hw":
            partition, hw = partitions[event[3]], event[4]
            replica = partition.replicas[event[1]]
            replica.hw = hw
            if event[6]:
                if event[5] < partition.elected:
                    run.now = event[0]
                    run.mark("deposed-leader-committed")
                if hw > partition.committed:  # noqa: PLR1730 (quicker)
                    partition.committed = hw
        elif kind == "stored":
            run.ensembles.noted.append(event)
        elif (handler := _HANDLERS.get(kind)) is not None:
            run.now = event[0]
            handler(run, event)
    return {name: Mark(times, run.first[name]) for name, times in run.found.items()}


class _Run:
    def __init__(self, meta: Mapping[str, Any]) -> None:
        enough: int = meta.get("min_isr", 0)
        self.min_isr = enough if meta.get("isr", True) and meta.get("acks", "all") == "all" else 0
        self.ensembles = Ensembles(enough)
        self.found: dict[str, int] = {}
        self.first: dict[str, int] = {}
        self.now = 0
        self.partitions = Partitions()
        self.away: dict[int, str] = {}
        """Broker → how its process ended, or that it is paused."""
        self.unclean: set[int] = set()
        """Brokers whose last process did not shut down cleanly."""
        self.anew: set[int] = set()
        """Brokers that have been accepted again after such a one."""

    def mark(self, name: str) -> None:
        if name in self.found:
            self.found[name] += 1
        else:
            self.found[name] = 1
            self.first[name] = self.now

    def _replica(self, event: TraceEvent) -> Seen:
        return self.partitions[event[PARTITION]].replicas[event[NODE]]

    def _on(self, node: int) -> list[tuple[Partition, Seen]]:
        return [(one, one.replicas[node]) for one in self.partitions.values() if node in one.replicas]

    def wrote(self, partition: Partition) -> None:
        """A leader has, as its partition is suspect."""
        if partition.away:
            self.mark("written-past-a-member")
        if partition.thin:
            self.mark("accepted-below-min-isr")

    def members(self, event: TraceEvent) -> None:
        told = trace_events.Members(event)
        partition = self.partitions[told.partition]
        partition.group = told.replicas
        if not told.committed:
            self.mark("reassigned")
        self._look_at_majority(partition)

    def vote(self, event: TraceEvent) -> None:
        self.partitions[event[PARTITION]].votes = True

    def _look_at_majority(self, partition: Partition) -> None:
        if partition.votes:
            group = partition.group or tuple(partition.replicas)
            have = sum(partition.replicas[node].leo >= partition.committed for node in group)
            if 2 * have <= len(group):
                self.mark("majority-lacks-committed")

    def ensemble(self, event: TraceEvent) -> None:
        self.ensembles.noted.append(event)
        if trace_events.Ensemble(event).first:  # else of a ledger that has no entry yet
            self._look_at_ensembles(event[PARTITION])

    def _look_at_ensembles(self, name: str) -> None:
        if self.ensembles.lacks(name, self.partitions[name].committed):
            self.mark("ensemble-lacks-confirmed")

    def lead(self, event: TraceEvent) -> None:
        lead = trace_events.Lead(event)
        node, epoch, leo, hw = lead.node, lead.leader_epoch, lead.leo, lead.hw
        partition = self.partitions[lead.partition]
        replica = partition.replicas[node]
        if epoch > partition.elected:  # nobody told of the election: there is no controller
            self._elected(partition, node, epoch)
        if leo < partition.committed and epoch >= partition.elected:  # else it hears late, and another leads
            self.mark("elected-behind-committed")
        others = [partition.replicas[other].leo for other in lead.isr if other != node]
        if any(other < leo for other in others):
            self.mark("elected-while-a-member-lags")
        if any(other > leo for other in others):
            self.mark("elected-while-a-member-is-ahead")
        if replica.leading:
            self.mark("reign-skipped-by-leader" if epoch > replica.epoch + 1 else "led-on-in-a-new-epoch")
            if replica.cut_behind:
                self.mark("led-on-over-a-cut")
        partition.leader = replica
        replica.leading, replica.wrote, replica.cut_behind = True, False, False
        replica.epoch = replica.heard = epoch
        replica.leo, replica.hw = leo, hw
        self._look_at_majority(partition)

    def follow(self, event: TraceEvent) -> None:
        follow = trace_events.Follow(event)
        epoch, leader, leo, hw = follow.leader_epoch, follow.leader, follow.leo, follow.hw
        partition = self.partitions[follow.partition]
        replica = partition.replicas[follow.node]
        if replica.epoch >= 0 and epoch > replica.epoch + 1:
            self.mark("reign-skipped-by-follower")
        if leader >= 0 and leo > partition.replicas[leader].leo:
            self.mark("followed-ahead")
        replica.leading = False
        replica.mending.begin()
        replica.epoch = replica.heard = epoch
        replica.follows, replica.leo, replica.hw = leader, leo, hw

    def truncate(self, event: TraceEvent) -> None:
        cut = trace_events.Truncate(event)
        node, to, reason = cut.node, cut.to, cut.reason
        partition = self.partitions[cut.partition]
        replica = partition.replicas[node]
        if to < replica.hw:
            self.mark("cut-below-high-watermark")
        if to < partition.committed:
            self.mark("cut-below-committed")
        if reason.startswith("out of range"):
            self.mark("out-of-range")
        else:
            self.mark("cut-to-high-watermark" if "high watermark" in reason else "cut-by-epoch")
        self._rounds(replica.mending.cut(reason))
        if to == 0 and cut.old_leo:
            self.mark("cut-whole-log")
        for other, seen in partition.replicas.items():
            if other != node and seen.leading and seen.epoch < replica.epoch:
                seen.cut_behind = True
                self.mark("cut-behind-the-leaders-back")
        leader = partition.replicas.get(replica.follows, replica)
        if (
            leader is not replica
            and to < min(cut.old_leo, leader.leo)
            and leader.epoch_at(to) == replica.epoch_at(to) >= 0
        ):
            self.mark("cut-without-conflict")
        replica.ends_at(to)
        replica.hw = min(replica.hw, to)
        self._look_at_majority(partition)

    def recovered(self, event: TraceEvent) -> None:
        found, replica = trace_events.Recovered(event), self._replica(event)
        if found.lost > 0:
            self.mark("recovery-dropped-records")
            if replica.epochs and replica.epochs[-1][1] >= found.leo:
                self.mark("recovery-dropped-an-epoch")
        if found.hw < replica.hw:
            self.mark("checkpoint-behind")
        replica.ends_at(found.leo)
        replica.hw = found.hw
        self._look_at_majority(self.partitions[found.partition])

    def log_start(self, event: TraceEvent) -> None:
        moved = trace_events.LogStart(event)
        if moved.how == "begin-anew":
            self.mark("began-anew")
            self._replica(event).ends_at(0)
            self._replica(event).leo = moved.start
        elif moved.how in ("delete-records", "retention"):
            self.mark("deleted")

    def ask(self, event: TraceEvent) -> None:
        self._rounds(self._replica(event).mending.ask(trace_events.Ask(event).epoch))

    def fetched(self, event: TraceEvent) -> None:
        self._replica(event).mending.begin()

    def _rounds(self, rounds: int) -> None:
        if rounds in (2, 3):
            self.mark(f"rounds-{rounds}")

    def elect(self, event: TraceEvent) -> None:
        elect = trace_events.Elect(event)
        partition = self.partitions[elect.partition]
        if elect.leader < 0:
            self.mark("no-leader-left")
        elif not elect.clean:
            self.mark("elected-from-outside")
        if elect.how != "shrunk":
            self._elected(partition, elect.leader, elect.leader_epoch)
        partition.elected = elect.leader_epoch
        self._isr(partition, elect.isr)

    def _elected(self, partition: Partition, leader: int, epoch: int) -> None:
        if any(
            seen.leading and not seen.wrote and seen.epoch == partition.elected and node != leader
            for node, seen in partition.replicas.items()
        ):
            self.mark("elected-again-at-once")
        partition.elected = epoch

    def isr_change(self, event: TraceEvent) -> None:
        self._isr(self.partitions[event[PARTITION]], trace_events.IsrChange(event).isr)

    def _isr(self, partition: Partition, isr: tuple[int, ...]) -> None:
        before, partition.isr = partition.isr, isr
        partition.thin = len(isr) < self.min_isr
        self._weigh(partition)
        if before and len(isr) < len(before):
            self.mark("isr-shrunk")
            last, has_grown = partition.shrank_us or (0, False)
            if has_grown and self.now - last <= _FLAPS_WITHIN_US:
                self.mark("isr-flapped")
            partition.shrank_us = self.now, False
            if partition.leader.leading and partition.leader.leo > partition.leader.hw:
                self.mark("isr-shrunk-over-a-wait")
            if len(isr) == 1:
                self.mark("isr-of-one")
        elif len(isr) > len(before) > 0:
            self.mark("isr-grew")
            behind = [n for n in isr if n not in before and partition.replicas[n].leo < partition.committed]
            if behind:
                self.mark("let-in-behind-committed")
            if any(node in self.anew for node in behind):
                self.mark("let-in-anew-behind-committed")
            if partition.shrank_us is not None:
                partition.shrank_us = partition.shrank_us[0], True

    def _weigh(self, partition: Partition) -> None:
        partition.away = any(member in self.away for member in partition.isr)
        partition.suspect = partition.away or partition.thin

    def _goes(self, node: int, how: str = "") -> None:
        """A broker is away, or back."""
        if how:
            self.away[node] = how
        else:
            self.away.pop(node, None)
        for partition in self.partitions.values():
            self._weigh(partition)

    def register(self, event: TraceEvent) -> None:
        broker = trace_events.Register(event).broker
        if broker in self.unclean:
            self.unclean.discard(broker)
            self.anew.add(broker)
            self.mark("came-back-unclean")

    def unfence(self, event: TraceEvent) -> None:
        broker = trace_events.Unfence(event).broker
        if any(broker in one.replicas and one.replicas[broker].heard < one.elected for one in self.partitions.values()):
            self.mark("unfenced-behind")

    def stop(self, event: TraceEvent) -> None:
        how = trace_events.Stop(event).how
        self._goes(event[NODE], how)
        self.anew.discard(event[NODE])
        if how in _LOG_LOST:
            self.mark("log-lost")
        if how == "disk":
            self.ensembles.noted.append(event)
            for name in self.partitions:
                self._look_at_ensembles(name)
        if how != "clean":
            self.unclean.add(event[NODE])
        for partition, replica in self._on(event[NODE]):
            if replica.up:  # else its power goes, and it was gone before
                self.mark("leader-stopped" if replica.leading else "follower-stopped")
            replica.leading = replica.up = replica.cut_behind = False
            if not any(seen.up for seen in partition.replicas.values()):
                self.mark("all-stopped")

    def log_lost(self, _event: TraceEvent) -> None:
        self.mark("log-lost")

    def start(self, event: TraceEvent) -> None:
        self._goes(event[NODE])
        for _, replica in self._on(event[NODE]):
            replica.up, replica.heard = True, -1

    def resume(self, event: TraceEvent) -> None:
        self._goes(event[NODE])

    def pause(self, event: TraceEvent) -> None:
        self._goes(event[NODE], "pause")
        for _, replica in self._on(event[NODE]):
            self.mark("leader-paused" if replica.leading else "follower-paused")

    def removed(self, event: TraceEvent) -> None:
        self._replica(event).ends_at(0)


_HANDLERS: dict[str, Callable[[_Run, TraceEvent], None]] = {
    "lead": _Run.lead,
    "follow": _Run.follow,
    "truncate": _Run.truncate,
    "hole": lambda run, _: run.mark("cut-inside-a-batch"),
    "recovered": _Run.recovered,
    "log-start": _Run.log_start,
    "ask": _Run.ask,
    "fetched": _Run.fetched,
    "elect": _Run.elect,
    "isr-change": _Run.isr_change,
    "stop": _Run.stop,
    "start": _Run.start,
    "pause": _Run.pause,
    "resume": _Run.resume,
    "register": _Run.register,
    "unfence": _Run.unfence,
    "vote": _Run.vote,
    "ensemble": _Run.ensemble,
    "removed": _Run.removed,
    "members": _Run.members,
    "out-of-order": lambda run, _: run.mark("out-of-order"),
    "fatal": lambda run, _: run.mark("gave-up"),
    "fence": lambda run, _: run.mark("fenced"),
    "reassign": lambda run, _: run.mark("reassigned"),
}

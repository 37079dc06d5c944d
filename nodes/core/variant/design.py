"""A variant of Kafka's protocol: all that one version does and another does not.

Sources: KIP-101, KIP-279, KIP-320, KIP-380, KIP-595 (truncate on fetch), KIP-841, KIP-903, KIP-966, KAFKA-15583.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.nodes.core.recovery import RecoveryRules
from tidemark.nodes.core.switches import Need, Switch, choice, options, switch
from tidemark.nodes.core.truncation import RULES, TruncationRule
from tidemark.nodes.core.variant.bugs import BugsOption
from tidemark.nodes.core.variant.fences import Fence, FencesOption
from tidemark.nodes.core.variant.rule_option import ASKS, EPOCH_CACHE, METADATA_LOG, RuleOption


@dataclass(frozen=True, slots=True)
class Variant:
    """One point in the space of protocols; immutable, comparable, and named so that it can be typed."""

    name: str
    truncation: str = choice(RuleOption())
    fences: frozenset[Fence] = choice(FencesOption(), frozenset())
    bounce_detection: bool = switch(
        "bounce detection (KIP-380)",
        "A broker that stops and starts between two looks of the controller is handled as failed and as new, and a broker "
        "ignores leadership meant for another incarnation.",
        "A broker that stops and starts between two looks of the controller is not noticed, and told nothing (KAFKA-1120).",
        word="bounce-detection",
        default=False,
    )
    failover_sees_bounces: bool = switch(
        "a bounce behind a failover",
        "A new controller handles a broker that stopped and started while there was no controller as failed and as new.",
        "A new controller takes a broker that stopped and started while there was no controller for one that was there all "
        "the time, in the ISR as before.",
        word="failover-sees-bounces",
        need=Need("a controller with ZooKeeper", lambda variant: not variant.metadata_log),
        default=False,
    )
    min_isr_gates_hw: bool = switch(
        "min ISR gates HW (KAFKA-15583)",
        "The high watermark does not advance while the ISR is smaller than min.insync.replicas.",
        "The high watermark advances however small the ISR is.",
        word="min-isr-gate",
        default=False,
    )
    broker_epoch_checks: bool = switch(
        "broker epochs (KIP-841/903)",
        "AlterPartition and fetches name the broker epoch they speak for: the controller lets no fenced or restarted "
        "broker into the ISR, and the leader refuses fetches of an earlier incarnation.",
        "The controller does not ask whether a proposed member is fenced or has restarted, and a fetch of an earlier "
        "incarnation counts.",
        word="broker-epochs",
        default=False,
    )
    elr: bool = switch(
        "ELR (KIP-966)",
        "Members that leave the ISR while it is below min.insync.replicas stay eligible to lead, until the ISR is back "
        "at that size or they shut down uncleanly; the ISR may become empty.",
        "Only members of the ISR are eligible to lead, and its last member stays in it even when it is down.",
        word="elr",
        default=False,
    )
    epoch_on_lead: bool = switch(
        "epoch cached on becoming leader (KAFKA-7415)",
        "A new leader notes its epoch, at its log end offset, when it becomes leader.",
        "A new leader notes its epoch at its first append, the cache ignores a note that is not newer than all others, and "
        "knows no end of an epoch below its first.",
        need=EPOCH_CACHE,
        default=True,
    )
    restart_on_epoch: bool = switch(
        "refetch on every epoch (KAFKA-7164)",
        "A follower starts anew, truncation included, in every new leader epoch.",
        "A follower whose leader's id has not changed fetches on without truncating.",
        default=True,
    )
    fresh_answers: bool = switch(
        "late answers (KAFKA-7786)",
        "A follower drops an answer to what it asked in an earlier leader epoch.",
        "A follower takes an answer that its leader gave in an earlier reign.",
        word="fresh-answers",
        need=ASKS,
        default=True,
    )
    failures_stay_apart: bool = switch(
        "what does not fit (KIP-461)",
        "A follower that cannot append what it fetched fetches no more of this partition until there is a newer leader "
        "epoch.",
        "A follower that cannot append what it fetched fetches nothing more from this leader, of any partition, until "
        "none of them has this leader.",
        word="partition-failure",
        default=True,
    )
    out_of_range_cuts: bool = switch(
        "out of range (KAFKA-7414)",
        "A follower whose log ends after its leader's cuts to the leader's log end, and fetches on.",
        "A follower whose log ends after its leader's stops its broker, unless unclean election is enabled.",
        default=True,
    )
    leader_writes_isr: bool = switch(
        "who writes the ISR (KIP-497)",
        "The leader writes the ISR to ZooKeeper itself, and the high watermark stands still until it has; if the version "
        "it knows is stale, it cannot, until it is elected again (KAFKA-2729).",
        "The leader asks the controller for a change of the ISR; until it hears, the high watermark waits for old and new "
        "members alike.",
        word="leader-writes-isr",
        default=False,
    )
    shrink_raises_epoch: bool = switch(
        "ISR shrinks (KAFKA-15021)",
        "When the controller takes a replica out of an ISR, the leader stays and gets a new leader epoch.",
        "When the controller takes a replica out of an ISR, the leader epoch stays.",
        word="shrink-raises-epoch",
        default=False,
    )
    metadata_log: bool = switch(
        "metadata log (KRaft)",
        "A broker reads what the controller decided from a log, and acts on the last state of what it finds at once: a "
        "broker that was deaf or asleep never acts on what was between, and may miss a leader's whole reign. It is fenced "
        "until it has caught up, and may stop when the others have.",
        "The controller (ZooKeeper) sends a broker each state, in order, one at a time, each until it is answered, and the "
        "broker acts on every one.",
        word="metadata-log",
        default=False,
    )
    reassignments_replace: bool = switch(
        "another reassignment (KIP-455)",
        "A reassignment may be replaced by another one while it is under way, and so be taken back.",
        "A reassignment must come to its end before there can be another.",
        word="replace-reassignment",
        default=False,
    )
    whole_target_in_sync: bool = switch(
        "end of a reassignment (KAFKA-15665)",
        "A reassignment ends when all replicas that there are to be are in the ISR.",
        "A reassignment ends when all replicas that it adds are in the ISR, or one that stays if it adds none; the ISR may "
        "be smaller than min.insync.replicas then.",
        word="whole-target",
        default=True,
    )
    obeys_last_order: bool = switch(
        "order of a reassignment that replaces another",
        "Whom a reassignment adds and removes is written anew when it takes the place of another one; whom the other one added is "
        "added still, and so goes if it is taken back.",
        "A reassignment that takes the place of another one, and adds or removes nobody itself, goes on with whom the other one "
        "added or removed: the order may be disobeyed, or never come to its end (Kafka's changePartitionReassignment).",
        word="obey-last-order",
        need=METADATA_LOG,
        default=False,
    )
    refuses_strangers: bool = switch(
        "fetch of no replica (KAFKA-13837)",
        "A leader refuses a fetch of a broker that is no replica, as far as it knows.",
        "A leader lets a fetch of a broker that is no replica, as far as it knows, wait, then answers, and does not count "
        "it.",
        word="refuse-strangers",
        default=True,
    )
    delete_records: bool = switch(
        "log start (KIP-107)",
        "A client may delete records below the high watermark: the leader's log start moves up, its followers take it over "
        "from fetch responses, and it has a checkpoint.",
        "Only retention deletes, on each broker by itself; a log starts where its first batch does, and a follower does "
        "not hear where its leader's starts unless it is out of range.",
        word="delete-records",
        default=True,
    )
    rebuild_epochs: bool = switch(
        "epochs after a crash (forgotten log start)",
        "After an unclean stop a replica takes all its epochs from its batches.",
        "After an unclean stop a replica adds the epochs that are newer than all in its file; those that were cut off "
        "with a log start do not come back, though the records may.",
        word="rebuild-epochs",
        need=EPOCH_CACHE,
        default=False,
    )
    begin_anew: bool = switch(
        "cut at a log start inside a batch",
        "A follower whose log ends at its leader's log start, and is sent a batch that begins before, begins anew where "
        "that batch does.",
        "It refuses the batch as out of order, for ever, unless its own log is empty (Kafka's "
        "Partition.appendRecordsToFollowerOrFutureReplica).",
        word="begin-anew",
        default=False,
    )
    log_start_with_cut: bool = switch(
        "log start of a log that is cut below it (stale log start)",
        "A replica that cuts its log below its log start notes that in the checkpoint of log starts at once.",
        "The checkpoint has the old log start until it is written the next time; a broker that is killed before takes "
        "it for true, and deletes what was written below it (Kafka's LogLoader.recoverLog).",
        word="log-start-with-cut",
        default=False,
    )
    log_start_first: bool = switch(
        "log start that moves (forgotten log start)",
        "A replica whose log start moves notes that in the checkpoint of log starts at once, before the epochs below it go.",
        "The checkpoint has the old log start for up to a minute, and after a crash the replica has it again "
        "(``log.flush.start.offset.checkpoint.interval.ms``).",
        word="log-start-first",
        default=False,
    )
    keep_last_epoch: bool = switch(
        "epochs of a log without records (back behind a deletion)",
        "A replica that starts keeps its latest epoch also where all its records were deleted, so that its leader can tell whether "
        "the logs differ. A follower that has no record, and no epoch in common with its leader, begins anew where that "
        "one's log does.",
        "A replica that starts drops an epoch whose records were all deleted: its first fetch names none, and is taken for one of "
        "the same log (Kafka's LogLoader.load).",
        word="keep-last-epoch",
        need=EPOCH_CACHE,
        default=False,
    )
    cut_ends_at_batch: bool = switch(
        "cut inside a batch (hole behind a cut)",
        "A log that is cut inside a batch ends where that batch began.",
        "A log that is cut inside a batch loses the whole batch, and goes on at the offset of the cut: the offsets between are "
        "nowhere on this replica (Kafka's LocalLog.truncateTo).",
        word="cut-ends-at-batch",
        default=False,
    )
    elr_of_replicas: bool = switch(
        "ELR after a reassignment (KIP-966)",
        "Who is no replica any more leaves the ELR, too.",
        "Who leaves the ISR goes into the ELR while that is below min ISR, also if it is no replica any more "
        "(PartitionChangeBuilder.maybePopulateTargetElr): then nobody may be left to be elected.",
        word="elr-of-replicas",
        default=False,
    )
    cancel_keeps_min_isr: bool = switch(
        "a reassignment that is cancelled (KIP-966)",
        "An order to cancel a reassignment is refused if fewer than min ISR replicas would be left in the ISR.",
        "A reassignment that is cancelled takes all replicas that it added, also from an ISR that is below min ISR without them "
        "(Kafka's PartitionReassignmentRevert).",
        word="cancel-keeps-min-isr",
        default=False,
    )
    min_isr_keeps_elr: bool = switch(
        "ELR when min ISR is changed (KIP-966)",
        "A change of min ISR keeps who is eligible to lead, unless the ISR is as large as the new min ISR.",
        "A change of min ISR makes the controller forget who is eligible and who led last, also where the ISR is empty "
        "(ClearElrRecord): then nobody is left to be elected.",
        word="min-isr-keeps-elr",
        default=False,
    )
    safe_elr_switch: bool = switch(
        "ELR switched off and on (KIP-966)",
        "When ELR is switched off, the ELR of a partition without ISR stays until somebody leads it; when it is switched on, it is "
        "known who led last.",
        "When ELR is off, the next change of a partition empties its ELR, also where the ISR is empty "
        "(PartitionChangeBuilder.maybeUpdateRecordElr), and who led last is not noted (maybeUpdateLastKnownLeader). When it is on "
        "again, nobody may be left to be elected, or somebody who led long ago.",
        word="safe-elr-switch",
        default=False,
    )
    own_replicas_bound_min_isr: bool = switch(
        "min ISR of a partition (KIP-966)",
        "Min ISR is at most the number of the partition's replicas.",
        "For the controller min ISR is at most the number of replicas that partition 0 of the topic has, whatever the partition "
        "(ReplicationControlManager.getTopicEffectiveMinIsr): if it has fewer, who leaves the ISR of another one is not eligible.",
        word="own-replicas-bound-min-isr",
        default=False,
    )
    answers_tell_min_isr: bool = switch(
        "min ISR of a leader that hears late (KIP-966)",
        "The answer to an ISR change tells the leader min ISR, too.",
        "The answer to an ISR change tells the leader nothing of min ISR: while it has not heard that it was raised, it commits "
        "with an ISR that the controller takes for too small, and lets those who have left it be elected.",
        word="answers-tell-min-isr",
        default=False,
    )
    elects_when_allowed: bool = switch(
        "unclean elections allowed (KAFKA-6835)",
        "When an operator allows a topic's unclean elections, the controller elects at once where nobody leads.",
        "When an operator allows a topic's unclean elections, nobody is elected for that: the next election goes by it, as when a "
        "broker comes (with KRaft also every five minutes).",
        word="elect-when-allowed",
        default=False,
    )
    heeds_unclean: bool = switch(
        "unclean elections in KRaft (KAFKA-12670)",
        "A controller elects from outside the ISR where unclean.leader.election.enable allows it.",
        "A controller does not heed unclean.leader.election.enable, as with KRaft before 3.9: only an operator's own election is "
        "unclean.",
        word="heed-unclean",
        need=METADATA_LOG,
        default=True,
    )
    moved_leader_leaves_isr: bool = switch(
        "ISR of an operator's election (KIP-279)",
        "A leader that loses its leadership to an operator's election, a preferred one, leaves the ISR, and comes back "
        "when it has caught up (KIP-279's second alternative for clean elections).",
        "A leader that loses its leadership to an operator's election stays in the ISR.",
        word="old-leader-leaves-isr",
        default=False,
    )
    errors_cut_to_hw: bool = switch(
        "no answer about an epoch (KIP-279)",
        "A follower whose question about an epoch is answered with an error, or not in time, cuts to its high "
        "watermark, as KIP-279 has it.",
        "A follower whose question about an epoch is answered with an error, or not in time, asks again (Kafka's "
        "AbstractFetcherThread).",
        word="hw-on-error",
        need=ASKS,
        default=False,
    )
    forget_log_ends: bool = switch(
        "log ends of followers (missed reign)",
        "A leader forgets in each leader epoch how far its followers are, until they fetch in it.",
        "A broker that is elected while it leads in its own eyes goes on with the log ends it knows of its followers, also "
        "if it missed the reign of another (Kafka's Replica.resetReplicaState).",
        word="forget-log-ends",
        default=False,
    )
    bugs: frozenset[str] = choice(BugsOption(), frozenset())
    truncation_at: tuple[tuple[int, str], ...] = ()
    """Brokers with a rule of their own, as during an upgrade: (broker, name of the rule)."""

    @property
    def recovery(self) -> RecoveryRules:
        """How a replica of this design recovers its log."""
        return RecoveryRules(
            keep_short_logs="KAFKA-8306" in self.bugs,
            rebuild_epochs=self.rebuild_epochs,
            skip_epoch_0="KAFKA-10432" in self.bugs,
            epochs_pile_up=not self.epoch_on_lead,
            keep_last_epoch=self.keep_last_epoch,
        )

    @property
    def rule(self) -> TruncationRule:
        """The truncation rule that ``truncation`` names."""
        return RULES[self.truncation]

    def rule_of(self, broker: int) -> TruncationRule:
        """The truncation rule of one broker."""
        return RULES[dict(self.truncation_at).get(broker, self.truncation)]

    @property
    def contract(self) -> str:
        """The promise this design makes unless the run asks for another one (see docs/anomalies.md)."""
        return "kip-966" if self.elr else "documented"

    @property
    def judged_by(self) -> str:
        """What judges losses, in words."""
        return f"{self.contract} and what counts beside it"

    @property
    def has_epoch_cache(self) -> bool:
        """False for the designs before KIP-101, which keep no leader epochs."""
        return self.rule.keeps_epochs


SWITCHES = {name: option for name, option in options(Variant).items() if isinstance(option, Switch)}
"""Field of a variant → what it switches."""

"""All checkers of a run: a line for each, with the names of its anomalies, a sentence for each name, and what it needs.

Anomalies of one time and partition are told in this order. A new one is a file, and a line here; docs/anomalies.md defines it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.checkers.clients.stale_poll import stale_polls
from tidemark.checkers.hanging_transaction import NAME as HANGING
from tidemark.checkers.hanging_transaction import hanging
from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import Append, Stored
from tidemark.checkers.replicas.acked_by_too_few import AckedByTooFew
from tidemark.checkers.replicas.broken_log import BrokenLog
from tidemark.checkers.replicas.broker_crashed import crashes
from tidemark.checkers.replicas.consensus.committed_cut import CommittedCut
from tidemark.checkers.replicas.consensus.double_vote import double_votes
from tidemark.checkers.replicas.consensus.entry_matching import EntryMatching
from tidemark.checkers.replicas.consensus.falling_generation import falling_generations
from tidemark.checkers.replicas.consensus.leader_append_only import LeaderAppendOnly
from tidemark.checkers.replicas.consensus.leads_unheard import leads_unheard
from tidemark.checkers.replicas.consensus.stale_order import stale_orders
from tidemark.checkers.replicas.consensus.state_machine_safety import StateMachineSafety
from tidemark.checkers.replicas.consensus.stood_alone import stood_alone
from tidemark.checkers.replicas.consensus.unsafe_commit import UnsafeCommit
from tidemark.checkers.replicas.coordinator_divergence import coordinator_divergence
from tidemark.checkers.replicas.dirty_read import dirty_reads
from tidemark.checkers.replicas.divergence import Divergence
from tidemark.checkers.replicas.false_clean import false_clean_shutdowns
from tidemark.checkers.replicas.fenced_in_isr import fenced_in_isrs
from tidemark.checkers.replicas.fenced_leader import fenced_leaders
from tidemark.checkers.replicas.forgotten_elr import forgotten
from tidemark.checkers.replicas.half_deleted import half_deleted
from tidemark.checkers.replicas.hw_beyond_log import HwBeyondLog
from tidemark.checkers.replicas.hw_regression import HwRegression
from tidemark.checkers.replicas.in_sync import InSync, LastingInSync
from tidemark.checkers.replicas.isr_quorum import IsrQuorum
from tidemark.checkers.replicas.leader_completeness import incomplete_leaders
from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.replicas.liveness.check_liveness import check_liveness
from tidemark.checkers.replicas.log_matching import LogMatching
from tidemark.checkers.replicas.lost_committed_write import Fates
from tidemark.checkers.replicas.metadata_divergence import metadata_divergence
from tidemark.checkers.replicas.outside_its_ensemble import outside_their_ensembles
from tidemark.checkers.replicas.quorum_voters import quorum_voters
from tidemark.checkers.replicas.reassignment import reassignments, refused
from tidemark.checkers.replicas.replica_run import ReplicaChecker, ReplicaRun
from tidemark.checkers.replicas.stale_read import stale_reads
from tidemark.checkers.replicas.stuck import Stuck
from tidemark.checkers.replicas.truncated_under_consumer import truncated_under_consumers
from tidemark.checkers.replicas.two_leaders import TwoLeaders
from tidemark.checkers.replicas.unasked_election import unasked_elections
from tidemark.checkers.replicas.undeleted import undeleted
from tidemark.checkers.replicas.wrong_deletion import WrongDeletion
from tidemark.checkers.share_group import NAMES as OF_SHARE_GROUPS
from tidemark.checkers.share_group import share_group
from tidemark.checkers.verdict.verdict import Anomaly

if TYPE_CHECKING:
    from tidemark.checkers.clients.check_clients import ClientChecker


def _majority_decides(run: ReplicaRun) -> bool:
    return not run.has_isr


def _too_few(run: ReplicaRun) -> AckedByTooFew:
    enough = "min.insync.replicas is" if run.has_isr else "a majority is" if run.votes else "an ack quorum is"
    held_by: type[Append | Stored] = Append if run.votes else Stored
    heard = run.heard_min_isr if run.has_isr else None
    return AckedByTooFew(run.trace, run.keys, run.min_isr_of, run.patience_us, enough, held_by, run.assignment, heard)


def _refused(run: ReplicaRun) -> Iterable[Anomaly]:
    """Where one clock told all, and a reassignment that is under way may be replaced (KIP-455)."""
    if run.patience_us or not run.meta.get("replaces", False):
        return ()
    return refused(run.points, run.history.nemesis, run.most_min_isr)


OF_REPLICAS: Final = (
    ReplicaChecker(
        {
            "unasked-election": "A leader from outside ISR and ELR, though neither the configuration nor an operator allowed one."
        },
        find=lambda run: unasked_elections(run.trace, run.unclean, () if run.patience_us or run.silent else run.points),
        believed=True,
    ),
    ReplicaChecker(
        {"fenced-in-isr": "The controller has a broker in the ISR that it has fenced."},
        find=lambda run: fenced_in_isrs(run.points),
        near_miss=True,
    ),
    ReplicaChecker(
        {"fenced-leader": "The controller elected a broker that it had fenced."},
        find=lambda run: fenced_leaders(run.points),
    ),
    ReplicaChecker(
        {
            "false-clean-shutdown": "The controller took a broker for cleanly shut down whose process had ended otherwise."
        },
        find=lambda run: false_clean_shutdowns(run.points),
    ),
    ReplicaChecker(
        {
            "elr-forgotten": "The controller no longer has a replica in the ELR, though nothing took that from it (KIP-966)."
        },
        find=lambda run: forgotten(run.points, run.assignment, run.meta.get("min_isr", 1), run.patience_us),
    ),
    ReplicaChecker(
        {"lost-committed-write": "A record that was committed is missing from the log of a later leader."},
        find=lambda run: [*run.losses.judge(run.committed), *run.losses.acknowledged_and_gone(run.committed)],
        believed=True,
    ),
    ReplicaChecker(
        {"dirty-read": "A consumer read a record that was not committed yet."},
        find=lambda run: dirty_reads(run.unsettled, run.committed, run.patience_us),
        rests_on_memory=True,
    ),
    ReplicaChecker(
        {"stale-read-below-hw": "A consumer read a record at an offset where another one was committed."},
        find=lambda run: stale_reads(run.unsettled, run.committed, run.losses.fates, run.patience_us),
        rests_on_memory=True,
    ),
    ReplicaChecker(
        {"truncated-under-consumer": "A consumer had read a committed record that a later leader does not have."},
        find=lambda run: truncated_under_consumers(
            run.view.answered if run.view else (), run.committed, run.losses.fates
        ),
    ),
    ReplicaChecker(
        {
            "strong-isr": "A live broker in the controller's ISR lacks a committed record: if it is elected, the record is lost.",
            "weak-isr": "A member of the ISR that a leader goes by lacks a record that it takes for committed.",
            "leader-candidate-completeness": "A member of the ELR lacks a committed record.",
        },
        lambda run: (LastingInSync if run.patience_us else InSync)(run.trace, run.committed, run.patience_us),
        near_miss=True,
    ),
    ReplicaChecker(
        {"leader-completeness": "A leader was elected that lacks committed records."},
        find=lambda run: incomplete_leaders(run.committed, run.losses.fate, run.losses.time_of),
        believed=True,
    ),
    ReplicaChecker(
        {
            "no-leader": "A partition stayed without a leader longer than an election takes, though a candidate was well.",
            "isr-not-shrunk": "A leader kept a member in the ISR that lacked what it had, longer than it may.",
            "not-acknowledged": "A send or a deletion timed out although nothing stood in its way.",
            "hw-not-advanced": "A leader's high watermark stood still although all whom it has to wait for had more.",
            "not-served": "No poll of a consumer gave anything for longer than it may, although nothing stood in its way.",
            "election-not-held": "An operator asked for an election, and nothing came of it although nothing stood in its way.",
            "isr-shrunk-early": "A leader took a follower out of the ISR that had all it had less than the lag time ago.",
            "not-let-in": "A leader kept out a follower: it refused its fetches, or left it out of the ISR though it had all.",
        },
        find=lambda run: check_liveness(run.history, run.points, gave_up=run.gave_up),
    ),
    ReplicaChecker(
        {"two-leaders": "Two brokers lead in one leader epoch."},
        lambda _: TwoLeaders(),
        believed=True,
        rests_on_memory=True,
    ),
    ReplicaChecker(
        {"isr-quorum": "A leader commits without a broker that the controller may elect."},
        lambda run: IsrQuorum(run.trace, run.patience_us),
        near_miss=True,
    ),
    ReplicaChecker(
        {"acked-by-too-few": "A record was acknowledged under acks=all although fewer replicas than min ISR had it."},
        _too_few,
        rests_on_memory=True,
    ),
    ReplicaChecker(
        {"divergence": "A follower's log and its leader's differ while it follows, and truncation has not mended it."},
        lambda _: Divergence(),
        believed=True,
        rests_on_memory=True,
    ),
    ReplicaChecker(
        {"log-matching": "Two replicas hold different records below both their high watermarks."},
        lambda _: LogMatching(),
        believed=True,
        rests_on_memory=True,
    ),
    ReplicaChecker(
        {
            "metadata-divergence": "Two nodes hold different records of the controllers' log below both their high watermarks.",
            "two-controllers": "Two nodes were the active controller in one epoch.",
        },
        find=lambda run: metadata_divergence(event for _, event in run.points),
        believed=True,
    ),
    ReplicaChecker(
        {
            "coordinator-divergence": "Two brokers hold different records of a coordinator's log below both their high watermarks."
        },
        find=lambda run: coordinator_divergence(event for _, event in run.points),
        believed=True,
    ),
    ReplicaChecker(
        {
            "forgotten-voter-change": "It was answered that a voter of the controllers was added or removed, and it was not.",
            "voters-jump": "More than one voter of the controllers came or went at once.",
            "missed-voters": "A controller has a change of the voters in its log, and does not heed it.",
            "metadata-minority": "What the controllers committed is in the logs of no majority of their voters.",
        },
        find=lambda run: quorum_voters(event for _, event in run.points),
        believed=True,
    ),
    ReplicaChecker({"hw-regression": "A leader's high watermark moved back."}, lambda _: HwRegression(), believed=True),
    ReplicaChecker(
        {"hw-beyond-log": "A replica's high watermark lies beyond the end of its log."},
        lambda _: HwBeyondLog(),
        believed=True,
    ),
    ReplicaChecker(
        {
            "broken-log": "A log has a gap, half a batch, falling leader epochs, or an epoch cache that does not match it."
        },
        lambda run: BrokenLog(run.trace, epoch_cache=run.meta.get("epoch_cache", True)),
        believed=True,
        rests_on_memory=True,
    ),
    ReplicaChecker(
        {"wrong-deletion": "A log start moved beyond what may be deleted, or what anybody had deleted."},
        lambda _: WrongDeletion(),
    ),
    ReplicaChecker(
        {
            "undeleted": "A broker that had shut down cleanly came back with an earlier log start: deleted records are there again."
        },
        find=lambda run: undeleted([event for _, event in run.points], run.history.nemesis),
        where=lambda run: not run.patience_us,
    ),
    ReplicaChecker(
        {"half-deleted": "A client was told that records are deleted before all replicas in service had deleted them."},
        find=lambda run: half_deleted((event for _, event in run.points), run.history.ops, run.assignment),
        where=lambda run: not run.patience_us,
    ),
    ReplicaChecker(
        {
            "stuck": "After everything was healed, a partition did not come to rest: no leader, no progress, or logs that differ.",
            "broker-stopped": "A broker gave up by itself, as its protocol makes it do.",
        },
        lambda _: Stuck(),
    ),
    ReplicaChecker(
        {
            "reassignment": "An accepted order to reassign replicas was disobeyed, or did not end with nothing left to wait for."
        },
        find=lambda run: [*reassignments(run.points, run.assignment, run.patience_us), *_refused(run)],
    ),
    ReplicaChecker(
        {"leader-append-only": "A leader cut its own log."},
        lambda run: LeaderAppendOnly(run.trace),
        where=_majority_decides,
    ),
    ReplicaChecker(
        {"committed-cut": "A server cut from its log what it knew to be committed."},
        lambda run: CommittedCut(run.trace),
        where=lambda run: not run.has_isr and run.votes and not run.meta.get("cuts_committed", False),
        rests_on_memory=True,
    ),
    ReplicaChecker(
        {"entry-matching": "Two logs have the same entry at an offset, and differ before it."},
        lambda _: EntryMatching(),
        where=_majority_decides,
        rests_on_memory=True,
    ),
    ReplicaChecker(
        {"state-machine-safety": "Two servers hold different records to be committed at one offset."},
        lambda _: StateMachineSafety(),
        where=_majority_decides,
        rests_on_memory=True,
    ),
    ReplicaChecker(
        {"unsafe-commit": "A leader called records committed while a server without them could still be elected."},
        lambda run: UnsafeCommit(run.assignment),
        where=lambda run: not run.has_isr and run.votes,  # else nobody's log makes it electable
    ),
    ReplicaChecker(
        {"stood-alone": "A server stood for election though no majority had said that it would vote for it."},
        find=lambda run: stood_alone(
            [event for _, event in run.points], run.history.nemesis, run.assignment, Bounds.of(run.meta)
        ),
        where=lambda run: not run.has_isr and not run.patience_us,
    ),
    ReplicaChecker(
        {
            "leads-unheard": "A leader led on though no majority could have answered it for longer than two session time-outs."
        },
        find=lambda run: leads_unheard(
            [event for _, event in run.points], run.history.nemesis, run.assignment, Bounds.of(run.meta), run.end_us
        ),
        where=lambda run: not run.has_isr and run.votes and not run.patience_us,
    ),
    ReplicaChecker(
        {"stale-order": "A leader changed its group for an order that had been replaced before it led."},
        find=lambda run: stale_orders([event for _, event in run.points], run.history.nemesis, run.assignment),
        where=lambda run: not run.has_isr and run.votes and not run.patience_us,
    ),
    ReplicaChecker(
        {"double-vote": "A server voted for two candidates in one generation."},
        find=lambda run: double_votes(run.points),
        where=_majority_decides,
    ),
    ReplicaChecker(
        {"falling-generation": "A server went back to an older generation, or stood in one that it had known before."},
        find=lambda run: falling_generations(run.points),
        where=lambda run: not run.has_isr and run.votes and not run.patience_us,
    ),
    ReplicaChecker(
        {"outside-its-ensemble": "An entry was confirmed that too few bookies of its own ensemble had ever had."},
        find=lambda run: outside_their_ensembles(run.trace, run.meta.get("min_isr", 1)),
        where=lambda run: not run.has_isr and not run.votes and not run.patience_us,
    ),
)
"""Those that go by the replicas' trace."""


@cache
def of_clients() -> tuple[ClientChecker, ...]:
    """Those that go by the clients' operations. They need numpy, which most runs of a simulator can do without."""
    from tidemark.checkers.clients.aborted_read import aborted_reads
    from tidemark.checkers.clients.check_clients import ClientChecker
    from tidemark.checkers.clients.cycles import cycles
    from tidemark.checkers.clients.duplicate import duplicates
    from tidemark.checkers.clients.inconsistent_offsets import inconsistent_offsets
    from tidemark.checkers.clients.int_nonmonotonic_poll import int_nonmonotonic_polls
    from tidemark.checkers.clients.int_nonmonotonic_send import int_nonmonotonic_sends
    from tidemark.checkers.clients.int_poll_skip import int_poll_skips
    from tidemark.checkers.clients.int_send_skip import int_send_skips
    from tidemark.checkers.clients.nonmonotonic_poll import nonmonotonic_polls
    from tidemark.checkers.clients.nonmonotonic_send import nonmonotonic_sends
    from tidemark.checkers.clients.phantom import phantoms
    from tidemark.checkers.clients.poll_skip import poll_skips
    from tidemark.checkers.clients.precommitted_read import precommitted_reads
    from tidemark.checkers.clients.unseen import unseen_anomaly

    return (
        ClientChecker(
            {
                "lost-write": "An acknowledged record was not read, although a consumer read beyond it, or everything in the end."
            },
            lambda run: run.lost_writes(),
            rests_on_memory=True,
        ),
        ClientChecker(
            {
                "final-reads-disagree": "Two final reads of one key ended at different places, though all writes were over."
            },
            lambda run: run.final_reads_disagree(),
            rests_on_memory=True,
        ),
        ClientChecker(
            {"inconsistent-offsets": "Clients saw different records at one offset."},
            lambda run: inconsistent_offsets(run.versions, run.fate),
            rests_on_memory=True,
        ),
        ClientChecker(
            {"duplicate": "One record stands at two offsets."},
            lambda run: duplicates(run.versions, run.fates, idempotent=run.meta.get("idempotent", True)),
            rests_on_memory=True,
        ),
        ClientChecker(
            {"G1a": "Aborted read: a consumer read a record whose send had failed."},
            lambda run: aborted_reads(run.versions),
        ),
        ClientChecker({"phantom": "A consumer read a record that nobody sent."}, lambda run: phantoms(run.versions)),
        ClientChecker(
            {"precommitted-read": "A transaction read what it had itself written and not committed."},
            lambda run: precommitted_reads(run.versions),
        ),
        ClientChecker(
            {"poll-skip": "A consumer passed over an offset that somebody saw."},
            poll_skips,
        ),
        ClientChecker(
            {"nonmonotonic-poll": "A consumer went back between two polls."},
            lambda run: nonmonotonic_polls(run.steps, run.ordered),
        ),
        ClientChecker(
            {"int-poll-skip": "One operation passed over an offset that somebody saw, between two of its records."},
            int_poll_skips,
        ),
        ClientChecker(
            {"int-nonmonotonic-poll": "One operation polled a record at or before one that it had polled already."},
            lambda run: int_nonmonotonic_polls(run.steps, run.ordered),
        ),
        ClientChecker(
            {"nonmonotonic-send": "A producer's later record has an earlier offset."},
            lambda run: nonmonotonic_sends(run.steps, run.ordered),
        ),
        ClientChecker(
            {"int-nonmonotonic-send": "Of two records that one operation sent, the later has the earlier offset."},
            lambda run: int_nonmonotonic_sends(run.steps, run.ordered),
        ),
        ClientChecker(
            {"int-send-skip": "Between two records that one operation sent, somebody saw another."},
            lambda run: int_send_skips(run.steps),
        ),
        ClientChecker(
            {
                "G0": "Write cycle: operations each of which wrote before the next, and the last before the first.",
                "G0-process": "A write cycle (G0), counting the order within one process.",
                "G0-realtime": "A write cycle (G0), counting what had ended before another began.",
                "G1c": "Cycle of information: operations each of which wrote before the next or was read by it, and the last "
                "by the first.",
                "G1c-process": "A cycle of information (G1c), counting the order within one process.",
                "G1c-realtime": "A cycle of information (G1c), counting what had ended before another began.",
            },
            lambda run: cycles(
                run.versions,
                acks=run.meta.get("acks", "all"),
                lost=run.fates.keys(),
                listed=run.meta.get("ties") == "listed",
            ),
        ),
        ClientChecker(
            {"unseen": "Acknowledged records that nobody read, and of which nobody can say whether they are lost."},
            lambda run: (unseen_anomaly(key, acks) for key, acks in sorted(run.unseen.items())),
        ),
    )


class HistoryChecker(NamedTuple):
    """A line of the registry: what needs neither the trace nor the columns; see `ReplicaChecker`."""

    meanings: Mapping[str, str]
    find: Callable[[History, Fates], Iterable[Anomaly]]
    near_miss: bool = False
    rests_on_memory: bool = False


OF_HISTORY: Final = (
    HistoryChecker(
        {
            "stale-poll": "A poll did not show what had been acknowledged or read before it began, though that is promised."
        },
        lambda history, fates: stale_polls(history.ops, history.meta, fates),
        rests_on_memory=True,
    ),
    HistoryChecker(
        {"broker-crashed": "A broker's process ended, and neither the nemesis nor its protocol ended it."},
        lambda history, _: crashes(history.meta),
    ),
    HistoryChecker(
        {
            "lost-to-group": "A record is in the log, and the members of a share group were never given it to the end.",
            "redelivered": "A member of a share group was given a record that had been confirmed as accepted or rejected.",
            "held-by-two": "A member's acknowledgement was confirmed, though another had been given the record meanwhile.",
            "phantom-delivery": "A member of a share group was given a record that nobody sent, or whose send had failed.",
        },
        share_group,
    ),
    HistoryChecker(
        {HANGING: "A transaction never ends, and hides what comes after it from whoever reads what is committed."},
        lambda history, _: hanging(history.meta),
    ),
)
"""Those that go by the operations as they are, or by what whoever ran the system has noted."""


def all_checkers() -> tuple[ReplicaChecker | ClientChecker | HistoryChecker, ...]:
    """Every line of the registry."""
    return (*OF_REPLICAS, *of_clients(), *OF_HISTORY)


def seen_by_coordinators() -> dict[str, Callable[[], frozenset[str]]]:
    """Entry of the meta line that tells of a coordinator → what may be seen of what it was made to forget."""
    return {"transactions": seen_in_transactions, "share_group": lambda: frozenset(OF_SHARE_GROUPS)}


def seen_in_transactions() -> frozenset[str]:
    """What may be seen of a transaction whose end was forgotten: whatever clients tell of, and that it hangs."""
    return frozenset({HANGING, *(name for checker in of_clients() for name in checker.meanings)})


def rests_on_memory() -> frozenset[str]:
    """Where there is no ISR: what may follow from a lost disk. Losses that the replicas' evidence shows are not among them: the
    contract judges these, one by one.
    """
    return frozenset(name for checker in all_checkers() if checker.rests_on_memory for name in checker.meanings)

"""One run: work under faults, heal, go on, come to rest, read everything back."""

import pytest

from tidemark.checkers import check, parse_history
from tidemark.checkers.history.history_file import history_lines
from tidemark.harness.simulator import simulate
from tidemark.nemesis import REAL_ONLY, Fault, PlanError, WorkloadSpec, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import PRESETS, parse_variant

T = "t-0"
SECOND = 1_000_000


def run(plan, variant="kafka-2.7", contract=None):
    return simulate(plan, parse_variant(variant), contract)


@pytest.fixture(scope="module")
def crashed(plan):
    """The leader is killed at 1 s, for 10 s: longer than the faults may last."""
    return run(plan(Fault("crash", SECOND, 10 * SECOND), end=3 * SECOND))


def times(result, what):
    return [entry[0] for entry in result.history.trace if entry[2] == what]


def test_the_history_says_what_was_run(plan):
    meta = run(plan(end=SECOND, min_isr=1, unclean_election=True), "kafka-2.1+no-fetch-fence").history.meta

    assert meta["variant"] == "kafka-2.1+no-fetch-fence"
    assert meta["contract"] == "documented"
    assert meta["replicas"] == {T: [1, 2, 3]}
    assert (meta["min_isr"], meta["acks"], meta["unclean_election"], meta["epoch_cache"]) == (1, "all", True, True)
    assert (meta["faults_end_us"], meta["plan"], meta["seed"]) == (SECOND, 0, 0)


@pytest.mark.parametrize("kind", sorted(REAL_ONLY))
def test_what_needs_a_real_machine_is_refused(plan, kind):
    with pytest.raises(PlanError, match=f"the simulator cannot do {kind}: run this plan with --world docker"):
        run(plan(Fault(kind, SECOND), Fault("crash", SECOND)))


def test_a_controller_can_be_isolated(plan):
    history = run(plan(Fault("controller-isolated", SECOND // 2, 2 * SECOND), end=3 * SECOND)).history

    assert {event[4] for event in history.trace if event[2] == "fence"} == {1, 2, 3}
    assert check(history).valid == "valid"


@pytest.mark.parametrize("variant", PRESETS)
def test_a_controller_can_fail(plan, variant):
    """Broker 1 crashes meanwhile. Nobody else leads before there is a controller again."""
    faults = (Fault("controller-crash", SECOND, 2 * SECOND), Fault("crash", SECOND + 1, 4 * SECOND, "b1"))
    history = run(plan(*faults, end=6 * SECOND), variant).history
    controllers = [(at, what, *rest) for at, node, what, _, *rest in history.trace if node == 0]

    assert [entry for entry in controllers if entry[1] in ("stop", "start")] == [
        (SECOND, "stop", "crash"),
        (3 * SECOND, "start", 2),
    ]
    assert not [entry for entry in controllers if SECOND < entry[0] < 3 * SECOND and entry[1] != "register"]
    assert [entry[2] for entry in controllers if entry[1] == "elect"][:2] == [1, 2]
    assert check(history).valid == "valid"


@pytest.mark.parametrize(
    ("variant", "asked", "contract"),
    [("kafka-2.7", None, "documented"), ("kafka-4.0", None, "kip-966"), ("kafka-4.0", "durable", "durable")],
)
def test_the_promise_is_the_variants_own_unless_another_is_asked_for(plan, variant, asked, contract):
    assert run(plan(end=SECOND), variant, asked).history.meta["contract"] == contract


def test_every_fault_is_over_at_the_end_of_the_first_phase(crashed):
    strikes = [(at, what, index, kind) for at, what, index, kind, _ in crashed.history.nemesis]

    assert strikes == [
        (SECOND, "strike", 0, "crash"),
        (3 * SECOND, "heal", 0, "crash"),
        (3 * SECOND, "heal", -1, "all"),
    ]


def test_producers_go_on_for_a_second_after_healing(crashed):
    sends = [op.time for op in crashed.history.ops if op.f == "send" and op.type == "invoke"]

    assert 3.8 * SECOND < max(sends) <= 4 * SECOND


def test_every_operation_is_completed_once(crashed):
    open_ = set()
    for op in crashed.history.ops:
        if op.type == "invoke":
            assert op.process not in open_
            open_.add(op.process)
        else:
            open_.remove(op.process)

    assert open_ == set()


def test_a_partition_is_restored_then_converged_then_read(crashed):
    (restored,) = times(crashed, "restored")
    (converged,) = times(crashed, "converged")
    final = [op.time for op in crashed.history.ops if op.final]

    assert 3 * SECOND <= restored <= 4 * SECOND < converged < min(final)


def test_the_final_read_returns_every_acknowledged_record_in_order(crashed):
    acked = {op.value[0][2] for op in crashed.history.ops if op.f == "send" and op.type == "ok"}
    read = [
        record for op in crashed.history.ops if op.final and op.type == "ok" for record in op.value[0][1].get(T, [])
    ]

    assert len(acked) > 10
    assert acked <= set(read)
    assert [offset for offset, _ in read] == list(range(len(read)))


def test_the_final_state_of_every_replica_is_traced(crashed):
    finals = [entry for entry in crashed.history.trace if entry[2] == "final"]

    assert [(entry[1], entry[3]) for entry in finals] == [(1, T), (2, T), (3, T)]
    assert len({(entry[6], entry[7], entry[9]) for entry in finals}) == 1
    assert sorted(entry[4] for entry in finals) == ["follower", "follower", "leader"]


def test_the_trace_of_a_node_replays_to_its_final_log(crashed):
    """docs/history.md promises it."""
    logs = {1: [], 2: [], 3: []}
    for entry in crashed.history.trace:
        log = logs.get(entry[1])
        if entry[2] == "append":
            log.extend((entry[5], value) for value in entry[6])
        elif entry[2] in {"truncate", "recovered"}:
            del log[entry[4] :]
        elif entry[2] == "final":
            assert log == [(epoch, value) for _, epoch, values in entry[9] for value in values]


def test_times_never_go_back(crashed):
    for stream in (crashed.history.trace, crashed.history.ops, crashed.history.nemesis):
        at = [entry[0] for entry in stream]
        assert at == sorted(at)
    assert crashed.history.meta["end_us"] == crashed.virtual_us >= crashed.history.trace[-1][0]


def test_all_partitions_are_used(plan):
    result = run(plan(end=2 * SECOND, cluster=ClusterSpec(brokers=4, partitions=3)))
    keys = {op.value[0][1] for op in result.history.ops if op.f == "send"}

    assert keys == {"t-0", "t-1", "t-2"}
    assert len(times(result, "converged")) == 3


@pytest.mark.parametrize("acks", ["all", "1", "0"])
def test_producers_use_the_clusters_acks(plan, acks):
    ops = run(plan(end=2 * SECOND, cluster=ClusterSpec(acks=acks))).history.ops

    assert {op.acks for op in ops if op.f == "send"} == {acks}
    assert {op.type for op in ops if op.f == "send"} == {"invoke", "ok"}


def test_without_consumers_only_the_final_reader_polls(plan):
    work = WorkloadSpec(producers=1, consumers=0, interval_us=100_000)

    assert {op.process for op in run(plan(end=SECOND, work=work)).history.ops if op.f == "poll"} == {"final"}


def test_a_partition_that_cannot_come_to_rest_is_given_up(plan, monkeypatch):
    """The leader's broker halts the moment it is started: it never comes back."""
    from tidemark.harness.simulator.simulation import Simulation

    start = Simulation.start
    monkeypatch.setattr(Simulation, "start", lambda self, b: None if b == 1 and self.now > 0 else start(self, b))
    trace = run(plan(Fault("crash", SECOND, 1, "b1"), end=2 * SECOND)).history.trace

    assert [entry[3:] for entry in trace if entry[2] == "converged"] == [(T, False, "broker 1 is not running")]


def test_the_final_read_begins_when_every_send_has_ended():
    """What is acknowledged later could not have been read. In this plan the partition gets its leader only when all is healed."""
    ops = simulate(generate_plan(1, 2, "destructive", ClusterSpec()), parse_variant("kafka-4.0")).history.ops
    began = min(op.time for op in ops if op.process == "final")

    assert max(op.time for op in ops if op.f == "send") < began


def test_every_history_can_be_read_from_its_file():
    """A client that was stopped has no operation under way when its last timer fires."""
    for index in (23, 27, 36):
        history = simulate(generate_plan(28, index, "intact", ClusterSpec()), parse_variant("kafka-0.10")).history
        again = parse_history([line.encode() + b"\n" for line in history_lines(history)])
        assert again.ops == history.ops

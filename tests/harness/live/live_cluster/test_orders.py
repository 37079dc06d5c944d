"""What is asked of controllers, operators and clients: elections, moves, settings, deletions; and that a refusal is kept."""

from types import SimpleNamespace

import pytest
from played_nodes import T, settle

from tidemark.harness.machines.errors import NodeError, NodeSilent


def test_an_election_waits_for_the_fault_that_goes_with_it(cluster):
    """A fast failover elects, and then makes a replica deaf; the controller must be told in the other order."""
    cluster.elect(T, "forced", 2)
    cluster.set_link_fault(3, ((0, 1),), "lost-leadership", 0)
    settle(cluster)

    assert [what for what in cluster.nodes[0].done if what != "links"] == ["rules", f"elect {T} forced 2"]
    assert cluster.nodes[0].rules_then == [{"3": [{"kind": "leadership", "to": 1, "effect": "drop", "amount": 0}]}]


def test_the_controller_is_asked_for_a_reassignment_and_a_refusal_is_kept(cluster):
    controller = cluster.nodes[0]
    cluster.reassign(T, (2, 3))
    settle(cluster)
    assert cluster.refused == []
    controller.answer = {"refused": "it is under way"}
    cluster.reassign(T, (1,))
    settle(cluster)

    assert controller.done == [
        "reassign {'partition': 't-0', 'replicas': [2, 3]}",
        "reassign {'partition': 't-0', 'replicas': [1]}",
    ]
    assert [(one["how"], one["target"], one["why"]) for one in cluster.refused] == [
        ("reassignment", [1], "it is under way")
    ]


def test_the_controller_is_asked_to_change_settings_and_a_refusal_is_kept(cluster, monkeypatch):
    asked = []

    def set_min_isr(_controls, topics, min_isr):
        asked.append((sorted(topics), min_isr))
        return "" if min_isr == 2 else "it must not be so small"

    def switch_elr(_controls, *, on):
        asked.append(on)
        return "not now" if on else ""

    def allow_unclean(_controls, topics, *, on):
        asked.append((sorted(topics), on))
        return "" if on else "let it be"

    monkeypatch.setattr(cluster.system, "set_min_isr", set_min_isr, raising=False)
    monkeypatch.setattr(cluster.system, "allow_unclean", allow_unclean, raising=False)
    monkeypatch.setattr(cluster.system, "switch_elr", switch_elr, raising=False)
    assert cluster.set_min_isr(1) == 1
    assert cluster.set_min_isr(None) == cluster.deployment.cluster.min_isr_of(None)
    cluster.switch_elr(on=False)
    cluster.switch_elr(on=True)
    cluster.allow_unclean(on=True)
    cluster.allow_unclean(on=None)
    settle(cluster)

    of_first = (["t"], cluster.deployment.cluster.min_isr_of(None))
    assert asked == [(["t"], 1), of_first, False, True, (["t"], True), (["t"], False)]
    told = [(one["how"], one["target"], one["why"]) for one in cluster.refused]
    assert ("min-isr", 1, "it must not be so small") in told
    assert ("elr", 1, "not now") in told
    assert ("unclean", 0, "let it be") in told


def test_a_log_is_moved_after_its_throttle_is_set_and_a_refusal_is_kept(cluster, monkeypatch):
    asked = []

    def throttle_moves(_controls, broker, rate):
        asked.append((broker, rate))
        return "not so slow" if rate == 1 else ""

    def move_log(_controls, broker, partition):
        asked.append((broker, partition))
        return "it is there already" if broker == 2 else ""

    monkeypatch.setattr(cluster.system, "throttle_moves", throttle_moves, raising=False)
    monkeypatch.setattr(cluster.system, "move_log", move_log, raising=False)
    for move in ((T, 1, 100), (T, 2, 0), (T, 2, 1)):
        cluster.move_log(*move)
        settle(cluster)
    cluster.unthrottle_moves(1)
    settle(cluster)

    assert asked == [(1, 100), (1, T), (2, T), (2, 1), (1, 0)]
    told = [(one["how"], one["target"], one["why"]) for one in cluster.refused]
    assert told == [("move-log-dir", 2, "it is there already"), ("move-log-dir", 2, "not so slow")]


def test_a_log_directory_fails_and_is_mended_when_the_process_that_was_asked_to_shut_down_is_gone(cluster, monkeypatch):
    def fail_log_dir(control, partition, *, other):
        control.done.append(f"fail {partition} {other}")
        return "first"

    def mend_log_dir(control, *, emptied):
        control.done.append(f"mend {emptied} {control.process}")
        return "first", [T, "elsewhere-0"] if emptied else []

    monkeypatch.setattr(cluster.system, "fail_log_dir", fail_log_dir, raising=False)
    monkeypatch.setattr(cluster.system, "mend_log_dir", mend_log_dir, raising=False)
    node = cluster.nodes[1]
    cluster.boot()
    node.done.clear()
    cluster.fail_log_dir(T, 1, other=False)
    settle(cluster)
    cluster.mend_log_dir(1, emptied=True)
    settle(cluster)
    assert node.done == [f"fail {T} False", "fail writes", "terminate"]

    node.end_itself("clean")
    settle(cluster)
    assert node.done[3:] == ["mend True gone", "start"]


def test_where_nodes_have_one_log_directory_that_is_kept_too(cluster):
    cluster.move_log(T, 1, 0)
    settle(cluster)

    assert [one["why"] for one in cluster.refused] == ["has nodes with one log directory each"]


def test_where_nobody_can_change_settings_that_is_kept_too(cluster):
    cluster.set_min_isr(1)
    settle(cluster)

    assert [one["why"] for one in cluster.refused] == ["has no operator who could change its settings"]


def test_an_order_that_the_controller_did_not_answer_may_have_been_taken(cluster, monkeypatch):
    def silent(*_):
        raise NodeSilent("c hung up before it answered")

    monkeypatch.setattr(cluster.system, "reassign", silent)
    cluster.reassign(T, (2, 3))
    settle(cluster)

    assert [event[1:] for event in cluster._recorder.trace if event[2] == "ordered"] == [
        (0, "ordered", T, (2, 3), False)
    ]
    assert [one["why"] for one in cluster.refused] == ["c hung up before it answered"]


def test_a_broker_that_was_to_get_a_replica_may_have_something_of_it(cluster):
    assert cluster.partitions_on(3) == ()
    cluster.reassign(T, (2, 3))

    assert cluster.partitions_on(3) == cluster.partitions_on(1) == (T,)


def test_replicas_that_are_going_are_no_target(cluster):
    cluster.nodes[0].state = {"replicas": [1, 2, 3], "adding": [3], "removing": [1]}
    cluster.observation.forget()

    assert cluster.replicas_of(T) == (1, 2, 3)
    assert cluster.target_of(T) == (2, 3)


def stands(cluster, broker, replica):
    """Let a broker's replica stand so, with five batches of two records; what it is asked."""
    asked = []
    answers = {"log": {"batches": [(base, 0, 2) for base in range(0, 10, 2)]}}

    def ask(command, **entries):
        asked.append((command, entries))
        return answers.get(command, {})

    cluster.nodes[broker].admin = SimpleNamespace(ask=ask)
    status = None if replica is None else {"partitions": {T: replica} if replica else {}}
    cluster.observation.statuses = lambda nodes, patience_s=2.0: dict.fromkeys(nodes, status)
    return asked


@pytest.mark.parametrize(("share", "offset"), [(0, 2), (500, 5), (1000, 8)])
def test_a_client_is_to_delete_a_share_of_what_is_below_the_leaders_high_watermark(cluster, share, offset):
    stands(cluster, 1, {"start": 2, "hw": 8})
    asked = []
    cluster.ask_to_delete = lambda *what: asked.append(what)
    cluster.delete_records(T, share)
    settle(cluster)

    assert asked == [(T, offset)]


@pytest.mark.parametrize("replica", [None, {}])
def test_nobody_knows_what_to_delete_where_the_leader_does_not_say(cluster, replica):
    assert stands(cluster, 1, replica) == []
    asked = []
    cluster.ask_to_delete = lambda *what: asked.append(what)
    cluster.delete_records(T, 500)
    cluster.retain(T, 1, 500)
    settle(cluster)
    cluster.stop(1, "crash")
    stands(cluster, 1, {"start": 2, "hw": 8})
    cluster.delete_records(T, 500)
    cluster.retain(T, 1, 500)
    settle(cluster)

    assert asked == []


@pytest.mark.parametrize(("share", "batches"), [(0, 0), (1, 1), (500, 2), (501, 3), (1000, 4)])
def test_retention_takes_a_share_of_the_batches_below_the_high_watermark(cluster, share, batches):
    asked = stands(cluster, 2, {"start": 2, "hw": 9})
    cluster.retain(T, 2, share)
    settle(cluster)

    assert asked[-1] == ("retention", {"partition": T, "batches": batches})


def test_a_broker_that_dies_before_its_retention_is_no_failure(cluster):
    stands(cluster, 2, {"start": 2, "hw": 9})

    def ask(command, **_):
        raise NodeError("b2 is gone")

    cluster.nodes[2].admin = SimpleNamespace(ask=ask)
    cluster.retain(T, 2, 1000)
    settle(cluster)

"""The simulated world: processes live, die and pause; what was under way to a dead one never arrives anywhere."""

import pytest

from tidemark.harness.runs.at_rest import waiting_for
from tidemark.harness.simulator.actors import Actor
from tidemark.harness.simulator.at_rest import view_of
from tidemark.harness.simulator.network import BASE_US, CLIENTS_FROM, SPREAD_US
from tidemark.nodes.core.messages import MetadataRequest, MetadataResponse, ProduceRequest, ProduceResponse

T = "t-0"
SECOND = 1_000_000
CLIENT = CLIENTS_FROM + 1


class Listener(Actor):
    """A client that keeps what it gets."""

    def __init__(self, simulation):
        super().__init__()
        self.got = []
        simulation.actors[CLIENT] = self

    def handle(self, now, event):
        self.got.append((now, event))


def events(simulation, *names, node=None):
    return [entry[:3] for entry in simulation.trace if entry[2] in names and node in (None, entry[1])]


def told(listener, kind):
    return [event for _, event in listener.got if isinstance(event, kind)]


def produce(simulation, value, *, to=1, acks="1"):
    simulation.send(CLIENT, to, ProduceRequest(CLIENT, T, (value,), acks, value))


# Booting


def test_a_booted_world_has_a_leader_and_a_full_isr(simulation):
    w = simulation()

    assert w.leader_of(T) == 1
    assert w.isr_of(T) == w.replicas_of(T) == (1, 2, 3)
    assert w.broker(1).replicas[T].leading is not None
    assert {w.broker(b).replicas[T].leader for b in (2, 3)} == {1}


def test_every_process_starts_once(simulation):
    w = simulation()

    assert [entry for entry in w.trace if entry[2] == "start"] == [(0, b, "start", "", 1) for b in (1, 2, 3)]


# Time


def test_a_message_takes_its_time(simulation):
    w = simulation()
    listener = Listener(w)
    for number in range(50):
        w.send(1, CLIENT, number)
    w.run_until(2 * SECOND)
    delays = [now - SECOND for now, _ in listener.got]

    assert min(delays) >= BASE_US
    assert max(delays) < BASE_US + SPREAD_US
    assert [event for _, event in listener.got] != list(range(50))


def test_what_is_due_at_one_time_happens_in_the_order_it_was_asked_for(simulation):
    w = simulation()
    seen = []
    for number in range(5):
        w.call_at(2 * SECOND, lambda n=number: seen.append(n))
    w.run_until(2 * SECOND)

    assert seen == [0, 1, 2, 3, 4]


def test_running_stops_at_the_time_asked_for(simulation):
    w = simulation()
    seen = []
    w.call_at(2 * SECOND, lambda: seen.append(w.now_us()))
    w.run_until(2 * SECOND - 1)
    assert (seen, w.now) == ([], 2 * SECOND - 1)

    w.run_until(2 * SECOND)
    assert (seen, w.now) == ([2 * SECOND], 2 * SECOND)


# Dying


@pytest.mark.parametrize("how", ["crash", "power", "disk"])
def test_a_stopped_process_is_gone_and_a_started_one_is_another(simulation, how):
    w = simulation()
    w.stop(2, how)
    assert not w.running(2)
    assert w.broker(2) is None

    w.run_until(2 * SECOND)
    w.start(2)
    assert w.running(2)
    assert [e[3:] for e in w.trace if e[1] == 2 and e[2] in {"start", "stop"}] == [("", 1), ("", how), ("", 2)]


def test_stopping_the_stopped_and_starting_the_running_does_nothing(simulation):
    w = simulation()
    w.start(2)
    w.stop(2, "crash")
    w.stop(2, "disk")
    w.start(2)
    w.start(2)

    assert [e[2] for e in events(w, "start", "stop", node=2)] == ["start", "stop", "start"]


def test_a_machine_without_a_process_loses_its_page_cache_once(simulation):
    lost = []
    for seed in range(9):
        w = simulation(noise_seed=seed)
        Listener(w)
        for value in range(8):
            produce(w, value)
        w.run_until(2 * SECOND)
        for how in ("crash", "power", "power"):
            w.stop(1, how)
        w.start(1)
        lost += [entry[6] for entry in w.trace if entry[2] == "recovered" and entry[1] == 1]
        assert [entry[4] for entry in w.trace if entry[2] == "stop"] == ["crash", "power"]

    assert max(lost) > 4


@pytest.mark.parametrize(("variant", "marks"), [("kafka-2.7", {True, False}), ("kafka-4.0", {True})])
def test_a_clean_stop_leaves_all_on_disk_but_for_a_mark_that_is_not_synced(simulation, variant, marks):
    """Before 3.7 the clean-shutdown mark is not. Without it recovery looks at all of the log, and finds it whole."""
    found = set()
    for seed in range(12):
        w = simulation(variant, noise_seed=seed)
        Listener(w)
        for value in range(8):
            produce(w, value)
        w.run_until(2 * SECOND)
        w.stop(1, "clean")
        w.run_until(4 * SECOND)
        assert not w.running(1)
        w.stop(1, "power")
        found.add(w.nodes[1].disk.clean_broker_epoch is not None)
        w.start(1)
        assert [entry[6] for entry in w.trace if entry[2] == "recovered" and entry[1] == 1] == [0]
        assert [entry[4] for entry in w.trace if entry[2] == "stop"] == ["clean"]

    assert found == marks


def test_a_crash_keeps_the_log_and_a_new_disk_does_not(simulation):
    w = simulation()
    Listener(w)
    produce(w, 7)
    w.run_until(2 * SECOND)
    for broker, how, leo in ((2, "crash", 1), (3, "disk", 0)):
        w.stop(broker, how)
        w.start(broker)
        assert w.broker(broker).replicas[T].leo == leo

    assert [e[3:] for e in w.trace if e[2] == "recovered"] == [(T, 1, 1, 0), (T, 0, 0, 1)]


def test_a_killed_container_keeps_what_was_synced_and_is_judged_as_a_power_loss(simulation):
    w = simulation()
    Listener(w)
    produce(w, 7)
    w.run_until(2 * SECOND)
    w.nodes[2].disk.sync(T)
    for broker in (2, 3):
        w.stop(broker, "container")
        w.start(broker)

    assert [e[3:] for e in w.trace if e[2] == "recovered"] == [(T, 1, 1, 0), (T, 0, 0, 1)]
    assert [e[3:] for e in w.trace if e[2] == "stop"] == [("", "power")] * 2


def test_a_dead_process_receives_nothing(simulation):
    w = simulation()
    listener = Listener(w)
    w.stop(1, "crash")
    w.send(CLIENT, 1, MetadataRequest(CLIENT, 1))
    w.run_until(2 * SECOND)

    assert listener.got == []


def test_what_was_under_way_to_an_old_process_does_not_reach_the_new_one(simulation):
    """Its connection was closed."""
    w = simulation()
    listener = Listener(w)
    w.send(CLIENT, 2, MetadataRequest(CLIENT, 1))
    w.stop(2, "crash")
    w.start(2)
    w.run_until(2 * SECOND)
    assert told(listener, MetadataResponse) == []

    w.send(CLIENT, 2, MetadataRequest(CLIENT, 2))
    w.run_until(3 * SECOND)
    assert [m.correlation for m in told(listener, MetadataResponse)] == [2]


def test_an_answer_to_an_old_process_does_no_harm_to_the_new_one(simulation):
    """Broker 2's fetch waits at the leader when broker 2 crashes; its connection is gone before the answer is sent.

    The new process is registered when the session of the old one is over.
    """
    w = simulation()
    w.stop(2, "crash")
    w.start(2)
    w.run_until(4 * SECOND)

    assert waiting_for(view_of(w, T)) == ""


def deliveries(simulation, broker):
    """The kinds of everything that is delivered to a broker from now on."""
    port, seen = simulation.nodes[broker].port, []
    deliver = port.deliver

    def noting(now, event):
        seen.append(type(event).__name__)
        return deliver(now, event)

    port.deliver = noting
    return seen


def test_the_timers_of_an_old_process_do_not_ring_in_the_new_one(simulation):
    """One tick every 100 ms, not two."""
    w = simulation()
    w.stop(2, "crash")
    w.start(2)
    arrived = deliveries(w, 2)
    w.run_until(SECOND + 200_000)

    assert arrived.count("TimerFired") == 2


def test_what_a_process_sent_before_it_died_arrives(simulation):
    w = simulation()
    listener = Listener(w)
    w.send(2, CLIENT, "last words")
    w.stop(2, "crash")
    w.run_until(2 * SECOND)

    assert [event for _, event in listener.got] == ["last words"]


def test_a_clean_stop_is_asked_for_and_leaves_its_mark(simulation):
    w = simulation()
    w.stop(2, "clean")
    assert w.running(2)

    w.run_until(2 * SECOND)
    assert not w.running(2)
    assert [e[4] for e in w.trace if e[2] == "stop"] == ["clean"]
    assert w.nodes[2].disk.clean_broker_epoch == 2
    assert w.isr_of(T) == (1, 3)


def test_a_broker_that_is_wanted_again_while_it_shuts_down_starts_when_it_has(simulation):
    w = simulation()
    w.stop(2, "clean")
    w.start(2)
    w.run_until(2 * SECOND)

    assert [e[2] for e in events(w, "start", "stop", node=2)] == ["start", "stop", "start"]


def test_a_crash_in_the_middle_of_a_shutdown_is_a_crash(simulation):
    w = simulation()
    w.stop(2, "clean")
    w.start(2)
    w.stop(2, "crash")
    w.run_until(2 * SECOND)

    assert [e[4] for e in w.trace if e[2] == "stop"] == ["crash"]
    assert not w.running(2)


# Pausing


def test_what_reaches_a_paused_process_waits_in_its_order(simulation):
    w = simulation()
    listener = Listener(w)
    w.pause(1)
    for value in range(10):
        produce(w, value)
        w.run_until(w.now + 5_000)
    assert listener.got == []

    w.resume(1)
    w.run_until(w.now)
    assert [b.values[0] for b in w.broker(1).replicas[T].log.batches] == list(range(10))


def test_a_short_pause_loses_nothing(simulation):
    w = simulation()
    listener = Listener(w)
    w.pause(1)
    produce(w, 7)
    w.run_until(SECOND + 300_000)
    w.resume(1)
    w.run_until(2 * SECOND)

    assert [m.error for m in told(listener, ProduceResponse)] == [None]
    assert w.leader_of(T) == 1


def test_a_long_pause_ends_the_session(simulation):
    w = simulation()
    w.pause(1)
    w.run_until(4 * SECOND)

    assert w.leader_of(T) == 2
    assert w.running(1)


def test_pausing_and_resuming_are_traced_once(simulation):
    w = simulation()
    w.pause(1)
    w.pause(1)
    w.resume(1)
    w.resume(1)

    assert [e[2] for e in events(w, "pause", "resume")] == ["pause", "resume"]


def test_a_stopped_process_is_not_paused(simulation):
    w = simulation()
    w.stop(1, "crash")
    w.pause(1)

    assert events(w, "pause") == []


def test_the_backlog_of_a_paused_process_dies_with_it(simulation):
    w = simulation()
    listener = Listener(w)
    w.pause(2)
    w.send(CLIENT, 2, MetadataRequest(CLIENT, 1))
    w.run_until(SECOND + 10_000)
    w.stop(2, "crash")
    w.start(2)
    w.pause(2)
    w.resume(2)
    w.run_until(2 * SECOND)

    assert listener.got == []


# Faults on links


def test_a_cut_broker_is_fenced_and_comes_back_when_the_link_heals(simulation):
    w = simulation()
    links = tuple((a, b) for a, b in ((1, 0), (0, 1), (1, 2), (2, 1), (1, 3), (3, 1)))
    w.set_link_fault(5, links, "cut", 0)
    w.run_until(4 * SECOND)
    assert (w.leader_of(T), w.isr_of(T)) == (2, (2, 3))

    w.clear_link_fault(5)
    w.run_until(8 * SECOND)
    assert w.isr_of(T) == (2, 3, 1)


def test_a_disconnected_broker_is_fenced_and_comes_back(simulation):
    w = simulation()
    w.hinder(5, 1, "disconnect", 0)
    listener = Listener(w)
    w.send(CLIENT, 1, MetadataRequest(CLIENT, 1))
    w.run_until(4 * SECOND)
    assert (w.leader_of(T), w.isr_of(T)) == (2, (2, 3))
    assert listener.got == []

    w.unhinder(5)
    w.run_until(8 * SECOND)
    assert w.isr_of(T) == (2, 3, 1)


def test_an_election_can_be_asked_for(simulation):
    w = simulation()
    w.elect(T, "forced", 3)
    w.run_until(2 * SECOND)

    assert w.leader_of(T) == 3
    assert w.broker(3).replicas[T].leading is not None


# Watching


def test_who_watches_an_event_is_told_of_its_node(simulation):
    w = simulation()
    seen = []
    w.on_trace("lead", lambda node: seen.append(("lead", node)))
    w.on_trace("append", lambda node: seen.append(("append", node)))
    w.on_trace("stop", lambda node: seen.append(("stop", node)))
    w.elect(T, "forced", 3)
    w.run_until(2 * SECOND)
    Listener(w)
    produce(w, 7, to=3)
    w.run_until(3 * SECOND)
    w.stop(2, "crash")

    assert seen[:2] == [("lead", 3), ("append", 3)]
    assert sorted(seen[2:4]) == [("append", 1), ("append", 2)]
    assert seen[4:] == [("stop", 2)]


# Noise


def test_streams_with_one_name_are_alike_and_with_two_are_not(simulation):
    w = simulation()

    assert w.stream("x").random() == w.stream("x").random()
    assert w.stream("x").random() != w.stream("y").random()
    assert simulation(noise_seed=2).stream("x").random() != w.stream("x").random()

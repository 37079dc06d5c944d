"""What clients send and how long they rest."""

import subprocess
import sys

from tidemark.harness.clients.script import VALUES_PER_PRODUCER, ConsumerScript, ProducerScript, topic_and_partition
from tidemark.nemesis import Send, WorkloadSpec

SPEC = WorkloadSpec(interval_us=80_000, poll_us=250_000, batch=3)
KEYS = ("t-0", "t-1")


def test_values_are_unique_and_tell_their_producer():
    one, two = ProducerScript(1, SPEC, KEYS, 7), ProducerScript(2, SPEC, KEYS, 7)
    firsts = [value for _ in range(50) for value in one.batch()[1]]
    assert firsts == list(range(1_000_000, 1_000_000 + len(firsts)))
    assert two.batch()[1][0] == 2_000_000
    assert (one.process, two.process) == ("p1", "p2")


def test_a_producer_numbers_as_the_simulators():
    code = "from tidemark.harness.simulator.workload.producer import VALUES_PER_PRODUCER as n; print(n)"
    simulators = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(simulators.stdout) == VALUES_PER_PRODUCER


def test_batches_and_pauses_stay_within_the_spec():
    script = ProducerScript(1, SPEC, KEYS, 7)
    drawn = [(script.pause(), script.batch()) for _ in range(200)]
    assert all(0.04 <= pause <= 0.12 for pause, _ in drawn)
    assert {len(values) for _, (_, values) in drawn} == {1, 2, 3}
    assert {key for _, (key, _) in drawn} == set(KEYS)
    assert all(0.125 <= ConsumerScript(1, SPEC, seed).pause() <= 0.375 for seed in range(50))


def test_noise_comes_from_a_stream_of_the_clients_own():
    assert [ProducerScript(1, SPEC, KEYS, 7).batch() for _ in range(2)] == [
        ProducerScript(1, SPEC, KEYS, 7).batch()
    ] * 2
    pauses = {ProducerScript(n, SPEC, KEYS, seed).pause() for n in (1, 2) for seed in (7, 8)}
    assert len(pauses) == 4


def test_keys():
    assert topic_and_partition("a-b-12") == ("a-b", 12)


def test_planned_sends_are_those_of_the_producer_in_order_of_time():
    spec = WorkloadSpec(producers=2, sends=(Send(900_000, 2, 3, 2), Send(300_000), Send(500_000, 2)))
    now = [200_000]
    script = ProducerScript(2, spec, KEYS, 7, lambda: now[0])
    assert script.pause() == 0.3
    assert script.batch() == ("t-0", (2_000_000,))
    now[0] = 950_000
    assert script.pause() == 0
    assert script.batch() == ("t-1", (2_000_001, 2_000_002))
    assert script.pause() >= 3_600

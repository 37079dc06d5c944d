"""The workload as a whole, with both libraries, before a mock cluster."""

import threading
import time

import pytest

from tidemark.checkers import History, check
from tidemark.harness.clients import LIBRARIES, ClientsError, Counters, available, kafka_workload
from tidemark.harness.clients.kafka_workload import KafkaWorkload
from tidemark.harness.clients.libraries import ClientLibrary
from tidemark.nemesis.plan import WorkloadSpec

NOWHERE = "127.0.0.1:1"


def make(bootstrap, run, library="confluent", **more):
    spec = WorkloadSpec(producers=2, consumers=2, interval_us=20_000, poll_us=50_000)
    return KafkaWorkload(
        bootstrap, run.cluster, spec, clock=run.clock, record=run.ops.append, noise_seed=1, library=library, **more
    )


def wait_for(question, patience=120):
    until = time.monotonic() + patience
    while not question():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


@pytest.mark.parametrize("acks", ["all", "1", "0"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_run_without_faults(mock, run_of, library, acks, capfd, tmp_path):
    run, counters = run_of(acks), Counters()
    work = make(mock.bootstrap, run, library, counters=counters, log=tmp_path / "clients.log")
    before = set(threading.enumerate())
    work.start()
    wait_for(lambda: counters.ok > 20 and counters.polled > 40)
    work.stop()
    assert set(threading.enumerate()) <= before
    counted = counters.snapshot()
    assert counted["invoked"] == counted["ok"] > 20
    assert work.final_read(run.clock() + 10_000_000)
    assert {op.process for op in run.ops} == {"p1", "p2", "c1", "c2", "final"}
    assert [op.time for op in run.ops] == sorted(op.time for op in run.ops)
    assert all((op.acks == acks) == (op.f == "send") for op in run.ops)
    verdict = check(History.of(ops=run.ops, acks=acks, contract="documented"))
    assert (verdict.valid, verdict.anomalies) == ("valid", ())
    if acks != "0":
        written = {value for op in run.ops if op.f == "send" for _, _, value in op.value if isinstance(value, int)}
        read = {value for op in run.ops if op.final for part in op.value[0][1].values() for _, value in part}
        assert read == written
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("library", LIBRARIES)
def test_words_of_the_libraries_go_to_the_log(mock, run_of, library, capfd, tmp_path):
    run = run_of()
    work = make(mock.bootstrap, run, library, log=tmp_path / "clients.log")
    work.start()
    wait_for(lambda: work.counters.ok > 3)
    mock.down(1)
    wait_for(lambda: (tmp_path / "clients.log").exists() and "127.0.0.1" in (tmp_path / "clients.log").read_text())
    mock.up(1)
    work.stop()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("library", LIBRARIES)
def test_without_a_cluster_sends_fail_and_it_stops_all_the_same(run_of, library, capfd):
    run = run_of()
    work = make(NOWHERE, run, library)
    work.start()
    wait_for(lambda: work.counters.fail >= 2)
    work.stop()
    assert not work.final_read(run.clock() + 100_000)
    counted = work.counters.snapshot()
    assert counted["ok"] == counted["info"] == counted["polled"] == 0
    assert counted["invoked"] == counted["fail"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_client_that_broke_is_told_when_it_stops(mock, run_of, library):
    run = run_of()

    asked = threading.Event()

    def refuse(op):
        asked.set()
        raise OSError("disk full")

    spec = WorkloadSpec(interval_us=1_000)
    work = KafkaWorkload(
        mock.bootstrap, run.cluster, spec, clock=run.clock, record=refuse, noise_seed=1, library=library
    )
    work.start()
    assert asked.wait(60)
    with pytest.raises(ClientsError, match="ended before its time"):
        work.stop()


@pytest.mark.parametrize("library", LIBRARIES)
def test_stopping_without_having_started(run_of, library):
    make(NOWHERE, run_of(), library).stop()


def test_both_libraries_are_here():
    assert [found.name for found in available()] == list(LIBRARIES)
    assert all(any(letter.isdigit() for letter in found.version) for found in available())


def test_a_library_that_is_not_here(run_of, monkeypatch):
    monkeypatch.setattr(kafka_workload, "available", lambda: [ClientLibrary("aiokafka", "1")])
    with pytest.raises(ClientsError, match="make env"):
        make(NOWHERE, run_of())

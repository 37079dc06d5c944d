"""Real Apache Kafka without ZooKeeper, in containers: a rule that only it has, and a broker that does not start."""

import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from tidemark.cli import main
from tidemark.harness.machines.leftovers import every

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.slow]

VERSION = "4.1.1"


def test_the_last_replica_standing_waits_for_one_that_stopped_with_everything(play_on_kafka):
    outcome = play_on_kafka("last-replica-standing-stopped", f"kafka:{VERSION}", "kafka-4.0")

    assert (outcome.verdict.valid, outcome.verdict.named("lost-committed-write")) == ("valid", [])
    assert outcome.mismatches == []


@pytest.mark.systems
def test_a_broker_that_does_not_start_is_named_with_its_last_words_and_nothing_is_left(
    engine, kafka_image, monkeypatch, tmp_path
):
    kafka_image(VERSION)
    before = {item.run for item in every(engine) if item.owner.pid == str(os.getpid())}
    size = ("--brokers", "1", "--replication-factor", "1", "--min-isr", "1")
    words = ("run", "--system", f"kafka:{VERSION}", *size, "--broker-config", "message.max.bytes=lots", "--out", "here")
    out, complaint = StringIO(), StringIO()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["tidemark", *words])
    with redirect_stdout(out), redirect_stderr(complaint), pytest.raises(SystemExit) as end:
        main()

    assert end.value.code == 2, complaint.getvalue()
    why = json.loads((tmp_path / "here" / "verdict.json").read_text())["unknown_because"]
    assert out.getvalue() == f"unknown: {why}\n  what evidence there is: here\n"
    assert "message.max.bytes" in why
    assert "controller" in why
    assert "\n" not in why
    assert (tmp_path / "here" / "nodes" / "controller.tar.gz").exists()
    assert {item.run for item in every(engine) if item.owner.pid == str(os.getpid())} == before

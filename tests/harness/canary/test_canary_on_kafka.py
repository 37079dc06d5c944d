"""The canary on real brokers: one is killed, or a known bug of Kafka's is staged on the canary's topic."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.harness.canary import missed_reign

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.systems]

TIDEMARK = Path(sys.executable).with_name("tidemark")


def tidemark(*words, code=0):
    """Its patience is for an image that must be built first."""
    done = subprocess.run([TIDEMARK, *words], check=False, capture_output=True, text=True, timeout=900)
    assert done.returncode == code, done.stderr
    return done


@contextmanager
def brokers(name, *words):
    tidemark("cluster", "up", name, "--system", "kafka:4.3.1", "--detach", *words)
    try:
        (cluster,) = json.loads(tidemark("cluster", "status", name, "--json").stdout)["clusters"]
        yield cluster["bootstrap_servers"]
    finally:
        tidemark("cluster", "down", name, "--force")


def test_a_killed_broker_loses_nothing_and_every_record_has_a_fate(tmp_path):
    kill = "docker exec tidemark-canary-test-b2 sh -c 'kill -9 $(pgrep -o java)'"
    with brokers("canary-test") as bootstrap:
        words = "canary", "--bootstrap", bootstrap, "--seconds", "20", "--fault", kill, "--every", "11"
        told = json.loads(tidemark(*words, "--json", "--report", "--out", str(tmp_path / "out")).stdout)
    assert (told["verdict"]["valid"], told["topic_kept"]) == ("valid", False)
    records = (tmp_path / "out/records.csv").read_text().splitlines()
    assert len(records) - 1 == sum(fate["count"] for fate in told["records"]) > 100
    strikes = [line for line in (tmp_path / "out/history.jsonl").read_text().splitlines() if '"strike"' in line]
    assert len(strikes) == 1
    assert "exit code 0" in strikes[0]
    assert 'id="fates"' in (tmp_path / "out/report.html").read_text()


def told_of_a_missed_reign(out):
    """Exit code, and what was said."""
    settings = [word for entry in missed_reign.SETTINGS.items() for word in ("--broker-config", "{}={}".format(*entry))]
    with brokers("canary-reign", *settings) as bootstrap:
        words = "--bootstrap", bootstrap, "--topic", "reign", "--partitions", "1", "--report", "--json"
        command = [TIDEMARK, "canary", *words, "--out", out]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as canary:
            try:
                until = time.monotonic() + 60
                while not (out / "history.jsonl").exists():
                    assert time.monotonic() < until
                    time.sleep(0.5)
                time.sleep(5)
                missed_reign.stage("canary-reign", bootstrap, "reign")
                time.sleep(5)
                canary.terminate()
                told = json.loads(canary.communicate(timeout=120)[0])
            finally:
                canary.kill()
    return canary.returncode, told


def test_a_missed_reign_on_its_topic_is_a_loss_that_it_finds(tmp_path):
    for number in range(3):  # it is staged by the clock, which a busy machine does not keep: then nothing is lost
        out = tmp_path / str(number)
        code, told = told_of_a_missed_reign(out)
        if code:
            break
    assert (code, told["verdict"]["valid"], told["topic_kept"]) == (1, "invalid", True)
    assert "lost-write" in {anomaly["name"] for anomaly in told["verdict"]["anomalies"]}
    lost = [one["count"] for one in told["records"] if (one["told"], one["there"]) == ("acknowledged", "not there")]
    assert lost[0] >= 1
    page = (out / "report.html").read_text()
    assert "is told that record" in page
    assert "lost, or deleted on purpose" in page

"""Three real brokers, of which one is killed while the canary sings."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.systems]

NAME = "canary-test"


def tidemark(*words, code=0):
    done = subprocess.run(
        [Path(sys.executable).with_name("tidemark"), *words], check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def bootstrap():
    tidemark("cluster", "up", NAME, "--system", "kafka:4.3.1", "--detach")
    try:
        (cluster,) = json.loads(tidemark("cluster", "status", NAME, "--json").stdout)["clusters"]
        yield cluster["bootstrap_servers"]
    finally:
        tidemark("cluster", "down", NAME, "--force")


def test_a_killed_broker_loses_nothing_and_every_record_has_a_fate(bootstrap, tmp_path):
    kill = f"docker exec tidemark-{NAME}-b2 sh -c 'kill -9 $(pgrep -o java)'"
    words = (
        "canary",
        "--bootstrap",
        bootstrap,
        "--seconds",
        "20",
        "--fault",
        kill,
        "--every",
        "11",
        "--json",
        "--report",
    )
    told = json.loads(tidemark(*words, "--out", str(tmp_path / "out")).stdout)
    assert (told["verdict"]["valid"], told["topic_kept"]) == ("valid", False)
    records = (tmp_path / "out/records.csv").read_text().splitlines()
    assert len(records) - 1 == sum(fate["count"] for fate in told["records"]) > 100
    strikes = [line for line in (tmp_path / "out/history.jsonl").read_text().splitlines() if '"strike"' in line]
    assert len(strikes) == 1
    assert "exit code 0" in strikes[0]
    assert 'id="fates"' in (tmp_path / "out/report.html").read_text()

"""What the command makes of a cluster, with clients and topics that only play their part."""

import json

import pytest
from click.testing import CliRunner

from tidemark.checkers.history.history import Op
from tidemark.cli.canary import canary_command
from tidemark.harness.canary import canary, topic
from tidemark.harness.clients.counters import Counters


class Cluster:
    """Three brokers, and whether the last acknowledged record is lost, or the last read ends."""

    def __init__(self):
        self.brokers, self.topics, self.loses, self.reads_back, self.interrupted = 3, {}, False, True, False

    def topics_of(self, bootstrap, security):
        cluster = self

        class Topics:
            def brokers(self):
                return cluster.brokers

            def create(self, name, partitions, replication_factor, settings):
                cluster.topics[name] = (partitions, replication_factor, settings["min.insync.replicas"])

            def delete(self, name):
                del cluster.topics[name]

        return Topics()

    def clients_of(self, bootstrap, shape, spec, *, clock, record, topic, **_):
        cluster, key = self, f"{topic}-0"

        class Clients:
            counters = Counters()

            def start(self):
                for offset, value in enumerate((1_000_000, 1_000_001)):
                    record(Op(clock(), "p1", "invoke", "send", (("send", key, value),), None, "all"))
                    record(Op(clock(), "p1", "ok", "send", (("send", key, (offset, value)),), None, "all"))

            def stop(self):
                pass

            def final_read(self, deadline_us):
                there = [(0, 1_000_000)] if cluster.loses else [(0, 1_000_000), (1, 1_000_001)]
                record(Op(clock(), "final", "invoke", "poll", (("poll", {}),), None, None, True))
                record(Op(clock(), "final", "ok", "poll", (("poll", {key: there}),), None, None, True))
                return cluster.reads_back

        return Clients()


@pytest.fixture
def cluster(monkeypatch):
    made = Cluster()
    monkeypatch.setattr(topic, "Topics", made.topics_of)
    monkeypatch.setattr(canary, "KafkaWorkload", made.clients_of)

    def wait(order, clock, full, minute):
        minute(1)
        if made.interrupted:
            raise KeyboardInterrupt

    monkeypatch.setattr(canary, "_wait", wait)
    return made


def run(tmp_path, *options):
    words = ["--bootstrap", "h:1", "--out", str(tmp_path / "out"), *options]
    return CliRunner().invoke(canary_command, words, standalone_mode=False)


def test_all_is_there_and_the_topic_is_gone(cluster, tmp_path):
    told = run(tmp_path, "--seconds", "1", "--topic", "mine")
    assert told.return_value == 0
    assert "topic mine: 3 partitions, 3 replicas, min ISR 2" in told.stderr
    assert "minute 1: sent 2, acknowledged 2, failed 0" in told.stderr
    assert "2 records acknowledged, there: as promised" in told.stdout
    assert "elections" not in told.stdout  # nobody counted them
    assert cluster.topics == {}
    records = (tmp_path / "out/records.csv").read_text().splitlines()
    assert records[0] == "key,value,offset,sent_us,ended_us,told,error,there"
    assert records[1].startswith("mine-0,1000000,0,")


def test_a_loss_is_found_and_the_topic_kept_as_evidence(cluster, tmp_path):
    cluster.loses = True
    told = run(tmp_path, "--json", "--topic", "mine")
    assert told.return_value == 1
    found = json.loads(told.stdout)
    assert (found["topic"], found["topic_kept"], found["verdict"]["valid"]) == ("mine", True, "invalid")
    assert {"told": "acknowledged", "there": "not there", "count": 1} in found["records"]
    assert cluster.topics == {"mine": (3, 3, "2")}
    assert (
        "topic mine is left in the cluster, as evidence; with all brokers' logs in a folder, tidemark scan"
        in told.stderr
    )


def test_ctrl_c_ends_in_a_verdict(cluster, tmp_path):
    cluster.interrupted = True
    told = run(tmp_path)
    assert (told.return_value, cluster.topics) == (0, {})
    assert "stopping; everything is read back first" in told.stderr


def test_who_was_not_read_to_the_end_is_unknown(cluster, tmp_path):
    cluster.loses, cluster.reads_back = True, False
    told = run(tmp_path, "--topic", "mine")
    assert (told.return_value, list(cluster.topics)) == (2, ["mine"])


def test_the_topic_is_kept_if_asked(cluster, tmp_path):
    assert run(tmp_path, "--keep-topic", "--topic", "mine").return_value == 0
    assert list(cluster.topics) == ["mine"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--seconds", "9", "--minutes", "1"], "--seconds or --minutes, not both"),
        (["--heal", "true"], "--heal is for faults: say with --fault what breaks something"),
        (["--topic", "a/b"], "'a/b' cannot name a topic"),
        (["--replication-factor", "2", "--min-isr", "3"], "--min-isr 3 is above --replication-factor 2"),
        (["--replication-factor", "5"], "the cluster has 3 brokers, too few for 5 replicas: start more, or give"),
        (["--client-config", "nowhere.properties"], "nowhere.properties cannot be read"),
    ],
)
def test_what_is_refused_and_nothing_is_made(cluster, tmp_path, options, sentence):
    told = run(tmp_path, *options)
    assert sentence in told.exception.format_message()
    assert cluster.topics == {}
    assert not (tmp_path / "out").exists()


def test_a_folder_with_a_run_in_it_is_left_alone(cluster, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/history.jsonl").write_text("mine")
    assert "holds a run already" in run(tmp_path).exception.format_message()

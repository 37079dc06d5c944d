"""tshark, which knows Kafka's protocol from elsewhere, understands every byte between clients and nodes."""

import re
import signal
import subprocess
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from kio.schema.api_versions.v3.request import ApiVersionsRequest

PATIENCE_S = 60
MOST_SECONDS, MOST_KILOBYTES = 60, 50_000
"""The capture ends by itself then."""

LAST_WORD = b"the-end-of-the-capture"

HEADING = re.compile(r"^Kafka \((\w+) v(\d+) (Request|Response)\)$", re.MULTILINE)
TROUBLE = re.compile(r".*(?:malformed|unknown(?! topic or partition)|unsupported|undecoded).*", re.IGNORECASE)
TOO_NEW = re.compile(
    r"DeleteRecords \(v0-2\) \[Unsupported API version\. Supports v0-1\]|Unsupported DeleteRecords version"
)
"""What tshark 4.0 says of an ApiVersions response that offers DeleteRecords 2, which is younger than it is."""

APIS = {
    0: "Produce",
    1: "Fetch",
    2: "Offsets",
    3: "Metadata",
    18: "ApiVersions",
    21: "DeleteRecords",
    22: "InitProducerId",
    23: "OffsetForLeaderEpoch",
}
"""tshark's names."""


@contextmanager
def captured(dumpcap, ports, file, client, eventually_true):
    """Capture what passes on loopback through these ports; ``client`` says a last word, which is waited for."""
    wanted = " or ".join(f"tcp port {port}" for port in ports)
    bounds = ["-a", f"duration:{MOST_SECONDS}", "-a", f"filesize:{MOST_KILOBYTES}"]
    command = [dumpcap, "-q", "-i", "lo", "-f", wanted, "-w", str(file), "-s", "0", "-B", "64", *bounds]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as capture:
        try:
            line = next((line for line in capture.stderr if line.startswith("File:")), "")
            assert line, "dumpcap does not capture"
            yield
            client.ask(18, 3, ApiVersionsRequest(client_software_name=LAST_WORD.decode(), client_software_version="1"))
            eventually_true(lambda: LAST_WORD in file.read_bytes())
        finally:
            capture.send_signal(signal.SIGINT)
            rest = capture.stderr.read()
    assert capture.returncode == 0, rest
    assert re.search(r"dropped on interface '[^']*': \d+/0 ", rest), rest


def trouble(words):
    """The lines in which tshark does not understand what it sees, without those of a version that it does not know.

    Such a version is named in a group of lines, the last of which names the group.
    """
    lines = [line for line in TROUBLE.findall(words) if not TOO_NEW.search(line)]
    return [line for line in lines if line.strip() != "[Group: Undecoded]"]


def dissected(tshark, ports, file):
    """What tshark says of the Kafka in a capture, and which requests and responses it saw: (API, version, what)."""
    kafka = [part for port in ports for part in ("-d", f"tcp.port=={port},kafka")]
    command = [tshark, "-n", "-r", str(file), *kafka, "-O", "kafka"]
    words = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_S).stdout
    return words, {(api, int(version), what) for api, version, what in HEADING.findall(words)}


@pytest.mark.slow
def test_every_version_of_every_api(three_nodes, program, every_request, eventually_true, tmp_path):
    tshark, dumpcap, file = program("tshark"), program("dumpcap"), tmp_path / "captured.pcapng"
    requests = [request for request in every_request("kafka-2.7") if request[:2] != (21, 2)]
    with three_nodes("kafka-2.7") as cluster:
        leader = cluster.leader()
        with captured(dumpcap, [cluster.port(leader)], file, cluster.client(leader), eventually_true):
            client = cluster.client(leader)
            for request in requests:
                client.ask(*request)
            client.close()

    words, seen = dissected(tshark, [cluster.port(leader)], file)
    assert seen == {(APIS[key], version, what) for key, version, _ in requests for what in ("Request", "Response")}
    assert trouble(words) == []


@pytest.mark.slow
def test_traffic_of_librdkafka_and_kcat(three_nodes, program, eventually_true, tmp_path):
    tshark, dumpcap, kcat = program("tshark"), program("dumpcap"), program("kcat")
    file = tmp_path / "captured.pcapng"
    with three_nodes("kafka-2.7") as cluster:
        ports = [cluster.port(broker) for broker in cluster.brokers]
        with captured(dumpcap, ports, file, cluster.client(1), eventually_true):
            producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all", "enable.idempotence": True})
            for number in range(1_000):
                producer.produce("t", b"%d" % number, partition=0)
            assert producer.flush(PATIENCE_S) == 0
            consumer = Consumer(
                {"bootstrap.servers": cluster.bootstrap, "group.id": "none", "enable.auto.commit": False}
            )
            consumer.assign([TopicPartition("t", 0, 0)])
            read = []
            while len(read) < 1_000:
                read += consumer.consume(1_000, 1)
            consumer.close()
            command = [kcat, "-b", cluster.bootstrap, "-C", "-t", "t", "-p", "0", "-o", "beginning", "-e", "-q"]
            subprocess.run(command, check=True, timeout=PATIENCE_S, capture_output=True)

    words, seen = dissected(tshark, ports, file)
    assert {api for api, _, _ in seen} >= {"Produce", "Fetch", "Metadata", "ApiVersions", "InitProducerId"}
    assert {(api, version) for api, version, what in seen if what == "Response"} == {pair[:2] for pair in seen}
    assert trouble(words) == []

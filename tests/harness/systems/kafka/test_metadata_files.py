"""The metadata logs of several nodes at the end of a run, read from their files and judged: a true one, and doctored ones."""

import gzip
import struct
from pathlib import Path

import pytest
from crc32c import crc32c

from tidemark.checkers import History, check
from tidemark.harness.evidence.collect import Evidence
from tidemark.harness.systems.kafka.metadata_files import batches_in, metadata_log_of
from tidemark.nodes.formats.record_batch import read_header

LOGS = Path(__file__).parents[3] / "nodes" / "sidecar" / "controller" / "logs"
VERSIONS = ("3.9.1", "4.1.1", "4.2.1", "4.3.1")
OF_CONTROLLER, OF_BOTH, OF_BROKER = (
    f"/var/lib/tidemark/{above}/__cluster_metadata-0" for above in ("data/kafka", "metadata", "data")
)


@pytest.fixture(params=VERSIONS)
def log(request):
    """A log that a real controller wrote."""
    return gzip.decompress((LOGS / f"metadata-{request.param}.gz").read_bytes())


def evidence(folder, log, *snapshots):
    files = {f"{folder}/{0:020}.log": log} | {f"{folder}/{name}": b"" for name in snapshots}
    return Evidence(0, "b0", b"", "", "", {}, files)


def doctored(log, number, at=-1):
    """The log with another byte in one batch, and a checksum that fits."""
    places, place = [], 0
    while place < len(log):
        places.append((place, read_header(log, place).size))
        place += places[-1][1]
    begin, size = places[number]
    batch = bytearray(log[begin : begin + size])
    batch[at] ^= 1
    batch[17:21] = struct.pack(">I", crc32c(bytes(batch[21:])))
    return log[:begin] + bytes(batch) + log[begin + size :]


def judged(*logs):
    """Anomalies of nodes 0, 1 … with these (folder, log, high watermark, snapshots)."""
    trace = [
        (9, node, *metadata_log_of(evidence(folder, log, *snapshots), hw))
        for node, (folder, log, hw, *snapshots) in enumerate(logs)
    ]
    return [(one.name, one.evidence["nodes"]) for one in check(History.of(trace=trace)).anomalies]


def test_the_batches_of_a_segment_follow_each_other(log):
    batches = batches_in(log)

    assert batches[0][0] == 0
    assert [base for base, *_ in batches[1:]] == [end for _, end, *_ in batches[:-1]]
    assert batches_in(log[:-1]) == batches[:-1]


def test_the_same_log_on_all_nodes_is_no_anomaly(log):
    end = batches_in(log)[-1][1]

    assert judged((OF_CONTROLLER, log, end), (OF_BOTH, log, end), (OF_BROKER, log, end)) == []


def test_one_byte_that_differs_below_both_high_watermarks_is_found(log):
    batches = batches_in(log)
    end = batches[-1][1]
    other = doctored(log, len(batches) // 2)

    assert judged((OF_CONTROLLER, log, end), (OF_BOTH, log, end), (OF_BROKER, other, end)) == [
        ("metadata-divergence", [0, 2]),
        ("metadata-divergence", [1, 2]),
    ]


def test_what_one_of_them_does_not_know_to_be_committed_may_differ(log):
    batches = batches_in(log)
    last, end = batches[-1][:2]

    assert judged((OF_CONTROLLER, log, end), (OF_BOTH, doctored(log, -1), last)) == []


def test_a_hole_below_both_high_watermarks_is_found(log):
    batches = batches_in(log)
    first = read_header(log, 0).size
    second = read_header(log, first).size
    holed = log[:first] + log[first + second :]

    assert judged((OF_CONTROLLER, log, batches[-1][1]), (OF_BOTH, holed, batches[-1][1])) == [
        ("metadata-divergence", [0, 1])
    ]


def test_a_log_that_begins_with_a_snapshot_is_compared_from_there_on(log):
    batches = batches_in(log)
    first = read_header(log, 0).size
    begin, epoch, end = batches[0][1], batches[0][2], batches[-1][1]
    files = {f"{OF_BOTH}/{begin:020}.log": log[first:], f"{OF_BOTH}/{begin:020}-{epoch:010}.checkpoint": b""}
    short = metadata_log_of(Evidence(1, "b1", b"", "", "", {}, files), end)
    whole = metadata_log_of(evidence(OF_CONTROLLER, log), end)
    trace = [(9, 0, *whole), (9, 1, *short)]

    assert check(History.of(trace=trace)).anomalies == ()
    wrong = (9, 1, *short[:4], ((begin, epoch + 1),), short[5])
    (found,) = check(History.of(trace=[trace[0], wrong])).anomalies
    assert found.name == "metadata-divergence"
    assert "has a snapshot of the metadata log up to offset" in found.message


def test_two_active_controllers_in_one_epoch_are_found():
    trace = [(1, 0, "controls", "", 3), (2, 1, "controls", "", 4), (3, 1, "controls", "", 4), (4, 2, "controls", "", 4)]
    (found,) = check(History.of(trace=trace)).anomalies

    assert (found.name, found.evidence) == (
        "two-controllers",
        {"controller": 2, "before": 1, "epoch": 4, "since": 2},
    )
    assert check(History.of(trace=trace[:3])).anomalies == ()


def test_a_node_without_a_metadata_log_has_none():
    assert metadata_log_of(Evidence(1, "b1", b"", "", "", {}, {"/var/lib/tidemark/data/t-0/0.log": b""}), 5) is None

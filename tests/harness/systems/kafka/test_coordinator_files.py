"""The coordinators' logs at the end of a run, read from brokers' files: segments that real brokers wrote, and what is not told."""

import gzip
from pathlib import Path
from zlib import crc32

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.history.history import Op
from tidemark.checkers.history.trace_events import CoordinatorLog
from tidemark.harness.evidence.collect import Evidence
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.systems.kafka.coordinator_files import coordinator_logs_of
from tidemark.nodes.formats.record_batch import build, place, single

LOGS = Path(__file__).parent / "logs"
DATA = "/var/lib/tidemark/data"
FIRST_COMMITS = {
    "2.8.2": ((0, "k70", 1), (1, "k71", 1), (2, "k62", 1)),
    "3.9.2": ((0, "k86", 1), (1, "k9", 1), (2, "k33", 1)),
    "4.1.2": ((5, "k9", 1), (16, "k86", 1), (17, "k33", 1)),
    "4.3.1": ((0, "k75", 1), (1, "k14", 1), (2, "k10", 1)),
}
"""As the runs' clients had them acknowledged. In 4.1.2's log records of a group's members lie between."""
LAST = {"2.8.2": 25, "3.9.2": 25, "4.1.2": 64, "4.3.1": 60}


def segment(version):
    return gzip.decompress((LOGS / f"consumer-offsets-{version}.gz").read_bytes())


def told(files, node=1):
    evidence = Evidence(node, f"b{node}", b"", "", "", {}, files)
    return [CoordinatorLog((90, node, *event)) for event in coordinator_logs_of(evidence)]


def of_groups(content, hw=None, folder=DATA):
    files = {f"{folder}/__consumer_offsets-0/{0:020}.log": content}
    if hw is not None:
        files[f"{folder}/replication-offset-checkpoint"] = b"0\n1\n__consumer_offsets 0 %d\n" % hw
    return files


@pytest.mark.parametrize("version", FIRST_COMMITS)
def test_what_groups_committed_is_read_from_their_coordinator_s_log(version):
    (log,) = told(of_groups(segment(version), 20))

    assert (log.partition, log.start, log.hw) == ("__consumer_offsets-0", 0, 20)
    assert log.commits[:3] == FIRST_COMMITS[version]
    assert log.entries[-1][1] == LAST[version]
    assert all(end == begin for (_, end, *_), (begin, *_) in zip(log.entries, log.entries[1:], strict=False))


@pytest.mark.parametrize("folder", [DATA, f"{DATA}/first", f"{DATA}/second"])
def test_it_is_found_in_each_log_directory(folder):
    assert [log.partition for log in told(of_groups(segment("4.3.1"), 9, folder))] == ["__consumer_offsets-0"]


@pytest.mark.parametrize(("hw", "known"), [(None, 0), (9, 9), (500, LAST["4.3.1"])])
def test_the_high_watermark_is_what_the_checkpoint_says_as_far_as_the_log_reaches(hw, known):
    assert told(of_groups(segment("4.3.1"), hw))[0].hw == known


def test_a_batch_that_is_cut_off_is_not_there():
    log = segment("4.3.1")

    assert told(of_groups(log[:-1]))[0].entries == told(of_groups(log))[0].entries[:-1]


def test_other_topics_and_other_files_are_passed_over():
    files = {
        f"{DATA}/{path}": segment("4.3.1")
        for path in (f"t-0/{0:020}.log", f"__other-0/{0:020}.log", "__consumer_offsets-0/partition.metadata")
    }

    assert told(files) == []


def test_what_other_coordinators_keep_is_told_without_commits():
    of_a_transaction = single(b"\0\0\0\x02p1", b"\0" * 30)

    (log,) = told({f"{DATA}/__transaction_state-2/{0:020}.log": of_a_transaction})

    assert (log.partition, len(log.entries), log.commits) == ("__transaction_state-2", 1, ())


def test_what_compaction_may_have_thinned_is_not_told():
    batches = [place(build((1,)), base, 0) for base in (0, 1)]
    split = {
        f"{DATA}/{topic}-0/{base:020}.log": batch
        for topic in ("__consumer_offsets", "__share_group_state")
        for base, batch in enumerate(batches)
    }

    assert [(log.partition, len(log.entries)) for log in told(split)] == [("__share_group_state-0", 2)]


def test_a_log_of_an_old_message_format_is_not_told():
    magic_attributes_time_key_value = b"\x01\0" + b"\0" * 8 + b"\0\0\0\x01k" + b"\0\0\0\x01v"
    summed = crc32(magic_attributes_time_key_value).to_bytes(4) + magic_attributes_time_key_value
    message = b"\0" * 8 + len(summed).to_bytes(4) + summed

    assert told(of_groups(message)) == []


def test_a_checkpoint_that_is_damaged_is_an_error():
    files = of_groups(segment("4.3.1"), 9)
    files[f"{DATA}/replication-offset-checkpoint"] = b"0\nmany\n"

    with pytest.raises(RunError, match="the coordinators' logs of b1 cannot be read"):
        told(files)


def judged(*logs, ops=()):
    trace = [event for node, files in enumerate(logs, 1) for event in told(files, node)]
    meta = {"model": "key-value", "contract": "durable", "faults": 0, "replicas": {"t-0": [*range(1, len(logs) + 1)]}}
    return [(one.name, one.verdict) for one in check(History.of(**meta, ops=ops, trace=trace)).anomalies]


def commit(group, offset, at=1):
    return [Op(at, "c1", "invoke", "write", (group, offset)), Op(at + 1, "c1", "ok", "write", (group, offset))]


def test_a_real_log_has_what_was_acknowledged_and_not_what_was_cut_from_it():
    log = segment("4.3.1")
    cut = told(of_groups(log))[0].commits[-1][1:]
    shorter = log[: len(log) // 2]

    assert judged(*[of_groups(log)] * 3, ops=commit(*cut)) == []
    assert judged(of_groups(shorter), of_groups(log), of_groups(shorter), ops=commit(*cut)) == []
    assert judged(*[of_groups(shorter)] * 3, ops=commit(*cut)) == [("lost-offset-commit", "violation")]

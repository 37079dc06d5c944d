"""Lines and files that real brokers (Apache Kafka 4.3.1) left when the findings were staged, and in valid runs."""

import gzip
import re
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidemark.cli.scan import scan_command
from tidemark.harness.scan.brokers_folder import BrokersFolderError
from tidemark.harness.scan.scan import scan_folder

REAL = Path(__file__).parent / "real"


def found_in(folder):
    return [(one.name, one.partition, one.broker) for one in scan_folder(folder).findings]


@pytest.mark.parametrize(
    ("staged", "found"),
    [
        (
            "missed-reign",
            [
                ("missed-reign", "t-0", "1"),
                ("cut-below-high-watermark", "t-0", "3"),
                ("cut-below-high-watermark", "t-0", "1"),
            ],
        ),
        (
            "forgotten-log-start",
            [
                ("log-start-taken-back", "t-0", "2"),
                ("log-start-taken-back", "t-0", "3"),
                ("replicas-differ", "t-0", "1"),
                ("epochs-contradict-segments", "t-0", "2"),
                ("epochs-contradict-segments", "t-0", "3"),
            ],
        ),
        ("cut-at-a-log-start", [("cut-at-log-start", "t-0", "1")]),
        ("hole-behind-a-cut", [("hole", "t-0", "1")]),
        ("unclean-election", [("unclean-election", "t-0", "0"), ("cut-below-high-watermark", "t-0", "1")]),
        (
            "stale-log-start",
            [
                ("unclean-election", "t-0", "0"),  # which lost nothing: what broker 2 had not fetched was deleted
                ("cut-below-high-watermark", "t-0", "1"),
                ("cut-below-high-watermark", "t-0", "3"),
                ("stale-log-start", "t-0", "1"),
            ],
        ),
        (
            "back-below-its-log-start",
            [
                ("unclean-election", "t-0", "0"),  # which lost nothing
                ("cut-below-high-watermark", "t-0", "3"),  # what it cut had been deleted
                ("back-below-log-start", "t-0", "1"),
                ("cut-below-high-watermark", "t-0", "1"),
            ],
        ),
        ("unheard-shrink", [("last-known-leader-behind", "t-0", "0"), ("cut-below-high-watermark", "t-0", "3")]),
        ("valid-reign-skipped", []),  # nobody cut a log in the reign that the leader missed
        ("valid-cut-outside-the-isr", []),  # who did counts for no high watermark
        ("valid-last-known-leader", []),  # elected from outside the ISR, as the last one that was in it
    ],
)
def test_each_staged_finding_is_named_and_nothing_in_valid_runs(staged, found):
    assert found_in(REAL / staged) == found


def without(line, tmp_path):
    told = (REAL / "stale-log-start/b1/server.log").read_text().splitlines(keepends=True)
    (tmp_path / "server.log").write_text("".join(one for one in told if line not in one))
    return [name for name, _, _ in found_in(tmp_path)]


def test_a_log_that_lost_its_end_with_the_power_may_be_deleted(tmp_path):
    assert without("Truncating to offset", tmp_path) == []


def test_a_log_start_that_a_cut_moved_down_was_not_taken_back(tmp_path):
    """The checkpoint was written again before the broker was killed: the log starts at 1 then."""
    told = (REAL / "stale-log-start/b3/server.log").read_text().splitlines(keepends=True)
    started = next(line for line in told if "Completed load" in line).replace("T19:23:16.378", "T19:23:27.000")
    started = started.replace("logStartOffset=5, logEndOffset=5", "logStartOffset=1, logEndOffset=4")
    (tmp_path / "server.log").write_text("".join([*told[:8], started]))
    assert "log-start-taken-back" not in [name for name, _, _ in found_in(tmp_path)]


RECORDED = Path(__file__).parents[2] / "nodes/sidecar/lines/recordings"
LOSSES = {"acked-loss", "kip-279"}
"""Stories of runs that were not valid."""


@pytest.mark.parametrize(
    "recording",
    [one for one in sorted(RECORDED.iterdir()) if not any(one.name.endswith(loss) for loss in LOSSES)],
    ids=lambda one: one.name,
)
def test_what_was_recorded_without_a_loss_shows_nothing_in_any_version(recording):
    scanned = scan_folder(recording)
    assert scanned.lines
    assert scanned.findings == []


def test_a_finding_has_time_line_meaning_and_page():
    first = scan_folder(REAL / "missed-reign").findings[0]
    assert first.time == "2026-11-26T11:14:21.007"
    assert "starts at leader epoch 2 from offset 2" in first.line
    assert (REAL / "missed-reign" / first.file).read_text().splitlines()[first.number - 1] == first.line
    assert "broker 3 led epoch 1 in between, when broker 2 truncated its log to 1" in first.meaning
    assert first.page == "docs/findings/missed-reign.md"


def as_kafka_configures_log4j(line):
    return re.sub(r"^(\S+)T(\S+)\.(\d+) (\w+) (\S+) - (.*)$", r"[\1 \2,\3] \4 \6 (\5)", line)


def test_kafkas_own_pattern_and_all_brokers_in_one_folder(tmp_path):
    for log in (REAL / "missed-reign").glob("*/server.log"):
        lines = [as_kafka_configures_log4j(line) for line in log.read_text().splitlines()]
        assert lines[0].startswith("[2026-11-26 ")
        (tmp_path / f"{log.parent.name}-server.log.2026-11-26-11").write_text("\n".join(lines) + "\n")
    assert found_in(tmp_path) == found_in(REAL / "missed-reign")


def test_archives_are_looked_into(tmp_path):
    for broker in ("b1", "b2", "b3"):
        with tarfile.open(tmp_path / f"{broker}.tar.gz", "w:gz") as archive:
            archive.add(REAL / "hole-behind-a-cut" / broker, "var")
    assert found_in(tmp_path) == [("hole", "t-0", "1")]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda folder: None, "holds no logs of Kafka brokers"),
        (lambda folder: (folder / "syslog.log").write_text("Nov 26 kernel: nothing of Kafka's\n"), "holds no logs"),
        (lambda folder: (folder / "b1.tar.gz").write_bytes(b"no archive"), "is a damaged archive"),
    ],
)
def test_what_cannot_be_scanned_is_told_in_a_sentence(tmp_path, make, sentence):
    make(tmp_path)
    with pytest.raises(BrokersFolderError, match=sentence):
        scan_folder(tmp_path)


PACKED = gzip.compress((REAL / "stale-log-start/b1/server.log").read_bytes())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("server.log.1.gz", b"not packed\n"),
        ("server.log.1.gz", PACKED[:-200]),
        ("server.log.1.gz", PACKED[:30] + b"xxxxxxxx" + PACKED[38:]),
        ("logs.tar.gz", b"no archive, whatever is tried"),
    ],
    ids=["unpacked", "cut", "changed", "archive"],
)
def test_what_is_packed_and_damaged_is_told_in_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BrokersFolderError, match="damaged") as told:
        scan_folder(tmp_path)
    assert name in str(told.value)
    assert "\n" not in str(told.value)


def test_a_checkpoint_that_is_none_is_told(tmp_path):
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        archive.add(REAL / "hole-behind-a-cut" / "b1", "b1")
    with tarfile.open(tmp_path / "b.tar") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "b.tar").unlink()
    (tmp_path / "b1/data/t-0/leader-epoch-checkpoint").write_text("nonsense")
    with pytest.raises(BrokersFolderError, match="leader-epoch-checkpoint is not a checkpoint"):
        scan_folder(tmp_path)


def test_exit_codes(tmp_path):
    run = CliRunner()
    assert run.invoke(scan_command, [str(REAL / "missed-reign")], standalone_mode=False).return_value == 1
    assert run.invoke(scan_command, [str(REAL / "valid-reign-skipped")], standalone_mode=False).return_value == 0
    told = run.invoke(scan_command, [str(tmp_path / "nowhere")], standalone_mode=False)
    assert told.exception.format_message() == f"{tmp_path}/nowhere is no folder: name one with brokers' logs"


def test_json_has_all_of_it():
    import json

    told = CliRunner().invoke(scan_command, [str(REAL / "unclean-election"), "--json"], standalone_mode=False)
    found = json.loads(told.stdout)
    assert [one["name"] for one in found["findings"]] == ["unclean-election", "cut-below-high-watermark"]
    assert found["findings"][0]["page"] == "docs/for-operators.md#what-you-may-lose"
    assert found["brokers"] == ["0", "1", "2"]

"""A broker's files, as they were collected."""

import pytest

from tidemark.harness.evidence.collect import Evidence
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.systems.kafka.evidence import files_of, segments_of
from tidemark.nodes.formats.record_batch import build

DATA = "/var/lib/tidemark/data"
FIRST = "00000000000000000000.log"
FILES = {
    f"{DATA}/t-0/{FIRST}": build((1, 2), 0, 3),
    f"{DATA}/t-0/00000000000000000002.log": build((3,), 2, 4),
    f"{DATA}/t-0/00000000000000000000.index": bytes(10),
    f"{DATA}/t-0/leader-epoch-checkpoint": b"0\n2\n3 0\n4 2\n",
    f"{DATA}/t-1/{FIRST}": b"",
    f"{DATA}/__consumer_offsets-0/{FIRST}": b"whatever",
    f"{DATA}/__cluster_metadata-0/{FIRST}": b"whatever",
    f"{DATA}/replication-offset-checkpoint": b"0\n3\nt 0 2\n__consumer_offsets 0 5\nt 1 0\n",
    f"{DATA}/recovery-point-offset-checkpoint": b"",
    "/var/log/tidemark/node.log": b"Started",
}


def test_everything_is_found():
    found = files_of(FILES, "n2")

    assert found.segments == {"t-0": [(0, 3, (1, 2)), (2, 4, (3,))], "t-1": []}
    assert found.epochs == {"t-0": ((3, 0), (4, 2)), "t-1": ()}
    assert found.high_watermarks == {"t-0": 2, "t-1": 0}
    assert found.recovery_points == {}


@pytest.mark.parametrize("aside", ["t-0.0123456789abcdef-delete", "t-0.0123456789abcdef-stray"])
def test_a_log_that_was_set_aside_is_no_partition(aside):
    found = files_of({**FILES, f"{DATA}/{aside}/{FIRST}": b"whatever"}, "n2")

    assert sorted(found.segments) == ["t-0", "t-1"]


def test_of_two_log_directories_a_checkpoint_counts_for_the_logs_beside_it():
    files = {
        f"{DATA}/first/t-0.0123-delete/{FIRST}": build((1, 2), 0, 3),
        f"{DATA}/first/replication-offset-checkpoint": b"0\n2\nt 0 9\nt 1 1\n",
        f"{DATA}/first/t-1/{FIRST}": build((4,), 0, 3),
        f"{DATA}/second/t-0/{FIRST}": build((1, 2), 0, 3),
        f"{DATA}/second/t-0/leader-epoch-checkpoint": b"0\n1\n3 0\n",
        f"{DATA}/second/t-1.4567-future/{FIRST}": b"whatever",
        f"{DATA}/second/replication-offset-checkpoint": b"0\n2\nt 0 2\nt 1 7\n",
    }
    found = files_of(files, "n2")

    assert found.segments == {"t-0": [(0, 3, (1, 2))], "t-1": [(0, 3, (4,))]}
    assert found.epochs == {"t-0": ((3, 0),), "t-1": ()}
    assert found.high_watermarks == {"t-0": 2, "t-1": 1}


def test_the_logs_of_collected_evidence():
    evidence = Evidence(2, "n2", b"", "", "", {}, FILES)

    assert segments_of(evidence) == {"t-0": [(0, 3, (1, 2)), (2, 4, (3,))], "t-1": []}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (f"t-0/{FIRST}", b"damaged"),
        ("t-0/leader-epoch-checkpoint", b"0\n1\nthree 0\n"),
        ("replication-offset-checkpoint", b"7\n0\n"),
    ],
)
def test_a_damaged_file_is_an_error_that_names_the_node(path, content):
    with pytest.raises(RunError, match="the files of n2 cannot be read"):
        files_of({**FILES, f"{DATA}/{path}": content}, "n2")

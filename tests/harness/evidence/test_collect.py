"""Everything a node knows is fetched, or the run is an error."""

import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from tidemark.harness.evidence.collect import fetch, fetch_all
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.machines.errors import NodeUnreachable
from tidemark.harness.machines.node_places import Places
from tidemark.nodes.formats.record_batch import build


@pytest.fixture
def files(control):
    """What a broker that ran leaves."""
    places = control.places
    contents = {
        places.trace: b'[1,1,"start","",1]\n',
        places.log: b"node 1 started\n",
        f"{places.volatile}/t-0/00000000000000000000.log": build([7, 8], 0, 3) + build([9], 2, 3),
        f"{places.volatile}/t-0/written-at": b"",
        f"{places.volatile}/.ballast": bytes(1000),
        f"{places.data}/t-0/leader-epoch-checkpoint": b"0\n1\n3 0\n",
        f"{places.data}/t-0/00000000000000000000.log": b"",
    }
    for name, content in contents.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
    return contents


def test_traces_logs_and_segments_are_fetched(control, files):
    found = fetch(0, control)

    assert found.trace == '[1,1,"start","",1]\n'
    assert found.log == "node 1 started\n"
    assert found.read_segments() == {"t-0": [(0, 3, (7, 8)), (2, 3, (9,))]}


def test_a_log_may_begin_later(control, files):
    first = Path(control.places.volatile, "t-0", "00000000000000000000.log")
    first.with_name("00000000000000000002.log").write_bytes(build([9], 2, 3))
    assert fetch(0, control).read_segments() == {"t-0": [(2, 3, (9,))]}
    first.unlink()

    assert fetch(0, control).read_segments() == {"t-0": [(2, 3, (9,))]}


def test_the_archives_are_kept_without_the_ballast(control, files, tmp_path):
    fetch_all({0: control}, tmp_path / "run")
    with tarfile.open(tmp_path / "run" / "nodes" / "controller.tar.gz") as archive:
        names = {f"/{member.name.lstrip('/')}" for member in archive if member.isfile()}

    assert names == {name for name in files if not name.endswith(".ballast")}


def test_a_torn_batch_at_the_end_of_a_segment_is_left_out(control, files):
    Path(f"{control.places.volatile}/t-0/00000000000000000000.log").write_bytes(
        build([7], 0, 3) + build([9], 1, 3)[:40]
    )

    assert fetch(0, control).read_segments() == {"t-0": [(0, 3, (7,))]}


def test_a_node_without_a_trace_makes_the_run_an_error(control, files):
    Path(control.places.trace).unlink()
    with pytest.raises(RunError, match="controller has no trace, so the history would not be whole"):
        fetch_all({0: control})


def test_a_node_that_cannot_be_reached_makes_the_run_an_error(control, files, monkeypatch):
    def unreachable(*args, **options):
        raise NodeUnreachable("no SSH connection to controller")

    monkeypatch.setattr(control.machine.shell, "run", unreachable)
    with pytest.raises(RunError, match="the evidence of controller cannot be fetched: no SSH connection"):
        fetch_all({0: control})


class OneDirectory(Places):
    """Of a system whose files are where they belong at once."""

    @property
    def volatile(self):
        return self.data


def test_a_directory_that_is_both_is_packed_once(control, files, tmp_path):
    control.places = OneDirectory(str(tmp_path))
    found = fetch(0, control)
    with tarfile.open(fileobj=BytesIO(found.archive)) as archive:
        names = [member.name for member in archive if member.isfile()]

    assert sorted(names) == sorted(set(names))
    assert found.files[f"{control.places.data}/t-0/leader-epoch-checkpoint"] == b"0\n1\n3 0\n"


def test_what_can_be_made_again_from_a_log_is_left_where_it_is(control, files):
    directory = Path(control.places.data, "t-0")
    for name in ("00000000000000000000.index", "00000000000000000000.timeindex", "00000000000000000000.snapshot"):
        (directory / name).write_bytes(bytes(100))
    found = fetch(0, control)

    assert {path.rpartition(".")[2] for path in found.files if path.startswith(f"{directory}/0")} == {"log", "snapshot"}


def test_every_file_is_there_for_a_system_to_read_its_own_way(control, files):
    found = fetch(0, control)

    assert {path: found.files[path] for path in files if ".ballast" not in path} == {
        path: content for path, content in files.items() if ".ballast" not in path
    }

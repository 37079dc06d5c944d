"""What `tidemark run` says of a run on real servers, and where it puts it."""

from types import SimpleNamespace

import pytest

from tidemark.checkers import History, Verdict
from tidemark.checkers.history.history import Op
from tidemark.cli import run
from tidemark.harness.runs.folder import HISTORY


def send(type_, error=None):
    return Op(1, "p1", type_, "send", (("send", "t-0", 1),), error)


def told(share, *ops):
    return run._thin(Verdict("valid", "majority", (), "", {"availability": share}), History.of(ops=list(ops)))


def test_hardly_anything_acknowledged_is_told_with_what_clients_were_told_most_often():
    ops = [send("info", "OSError: gone"), send("fail", "no leader"), send("fail", "no leader")]

    assert told(0.04, *ops).startswith(
        "only 4% of what was sent before healing was acknowledged, so there was little to lose"
    )
    assert told(0.04, *ops).endswith("Most often: no leader")
    assert told(0.9, *ops) == told(None) == ""


def test_where_nothing_was_acknowledged_nobody_is_sent_to_other_times():
    said = told(0, send("info", "RemoteDisconnected"))
    assert (
        said
        == "nothing that was sent before healing was acknowledged: the client may be wrong. Most often: RemoteDisconnected"
    )


@pytest.mark.parametrize(("is_simulated", "second"), [(True, "x-1-0"), (False, "x-1-0-2")])
def test_only_what_can_be_had_again_is_written_over(tmp_path, monkeypatch, is_simulated, second):
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    world = SimpleNamespace(is_simulated=is_simulated)
    first = run._own_folder("x-1-0", world)
    first.mkdir(parents=True)
    (first / HISTORY).write_text("")

    assert first.name == "x-1-0"
    assert run._own_folder("x-1-0", world).name == second

"""What the harness sees is on disk as it happens, and the whole history takes its place."""

from tidemark.checkers import read_history
from tidemark.checkers.history.history import History, Op, sent
from tidemark.harness.live.progress import RunProgress
from tidemark.harness.live.recorder import Recorder

STRIKE = (7, "strike", 0, "crash", {"node": 1})


def test_a_run_that_is_killed_leaves_a_readable_history(tmp_path):
    recorder = Recorder({"variant": "kafka-2.7"}, tmp_path)
    recorder.op(Op(4, "p1", "invoke", "send", (("send", "t-0", 1),), None, "all"))
    recorder.op(sent(5, "p1", "t-0", 1, 0))
    recorder.nemesis_op(STRIKE)
    recorder.event((9, 1, "stop", "", "crash"))
    history = read_history(tmp_path / "history.jsonl")
    recorder.close()

    assert history == History(
        {"variant": "kafka-2.7"},
        recorder.ops,
        [STRIKE],
        [(9, 1, "stop", "", "crash")],
        cut_off="the history was not written to its end",
    )


def test_the_whole_history_takes_its_place(tmp_path):
    whole = History({"variant": "kafka-2.7", "end_us": 9}, trace=[(3, 1, "start", "", 1)])
    with Recorder({}, tmp_path) as recorder:
        recorder.op(sent(5, "p1", "t-0", 1))
        recorder.replace(whole)
        recorder.op(sent(6, "p1", "t-0", 2))

    assert read_history(tmp_path / "history.jsonl") == whole
    assert [path.name for path in tmp_path.iterdir()] == ["history.jsonl"]


def test_without_a_folder_it_is_only_remembered():
    recorder = Recorder({})
    recorder.op(sent(5, "p1", "t-0", 1))
    recorder.replace(History())

    assert len(recorder.ops) == 1


def test_progress_is_told_of_faults():
    progress = RunProgress()
    Recorder({}, on_nemesis=progress.note).nemesis_op(STRIKE)

    assert progress.faults == {0: "crash"}

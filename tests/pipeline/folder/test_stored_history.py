"""A history that a chunk stored is the history that the checkers saw, whatever the protocol."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tidemark.checkers import History, check, polled, sent
from tidemark.checkers.history.columns.rows_back import ops_of
from tidemark.harness.runs.judged import JudgedRun
from tidemark.nemesis import Plan
from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.stored_history import stored_histories
from tidemark.pipeline.folder.tables import chunk_file
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate


def stored(spec: CampaignSpec, folder: Path, plans: int, run: object = simulate, **how: bool) -> dict[int, History]:
    variant = spec.variants[0]
    run_chunk(Task(spec, folder, "this-one", run), Chunk(variant, 0, 0, plans))
    file = {table: chunk_file(folder, table, spec.name, variant, 0) for table in ("runs", "ops", "trace")}
    rows = pq.read_table(file["runs"], partitioning=None).to_pylist()
    return dict(stored_histories(file["ops"], file["trace"], {row["plan"]: row["meta"] for row in rows}, **how))


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-4.0", "raft"])
def test_a_history_comes_back_as_it_was(variant: str, tmp_path: Path) -> None:
    spec = CampaignSpec("demo", (variant,), plans=3, seed=1, profile="destructive", keep="all")

    found = stored(spec, tmp_path, 3)

    assert list(found) == [0, 1, 2]
    for plan, history in found.items():
        run = simulate(spec, variant, plan)[1]
        assert (history.ops, history.nemesis, history.trace) == (
            run.history.ops,
            run.history.nemesis,
            run.history.trace,
        )
        assert history.meta == json.loads(json.dumps(run.history.meta))
        assert check(history).to_json() == run.verdict.to_json()


def test_of_clients_alone_a_history_comes_back_in_columns_or_as_operations(tmp_path: Path) -> None:
    ops = [sent(1, "p1", "t-0", 7, 0), sent(2, "p1", "t-1", 8, 0), polled(3, "c1", "t-0", (0, 7))]
    history = History(ops=ops, cut_off="its end is missing")

    def run(spec: CampaignSpec, variant: str, index: int) -> tuple[Plan, JudgedRun]:
        plan = simulate(spec, variant, index)[0]
        return plan, JudgedRun(history, check(history), "digest", 0, 0)

    spec = CampaignSpec("demo", ("kafka-2.7",), plans=1, seed=1, keep="all")
    in_columns = stored(spec, tmp_path, 1, run)[0]
    assert in_columns.columns is not None
    assert list(ops_of(in_columns.columns)) == ops
    assert in_columns.cut_off == "its end is missing"
    assert stored(spec, tmp_path, 1, run, rows=True)[0].ops == ops

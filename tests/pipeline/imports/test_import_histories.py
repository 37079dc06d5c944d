"""Histories of others as a campaign: what is stored is what was there, nothing twice, and the verdicts are those of any check."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from rich.console import Console
from seeded_bugs import buggy_history

from tidemark.checkers import Anomaly, History, Op, check, write_history
from tidemark.checkers.history.columns.builder import columns_of
from tidemark.checkers.history.edn_lines import edn_lines
from tidemark.harness.runs.folder import load_file, load_history, store_history
from tidemark.pipeline.compare.compare import compare
from tidemark.pipeline.compare.examples import choose_examples
from tidemark.pipeline.engines.spark_engine import SparkEngine
from tidemark.pipeline.folder.campaign_list import ListedCampaign, list_campaigns
from tidemark.pipeline.folder.finished_chunks import take_stock
from tidemark.pipeline.folder.history_tables import UnstorableError, ops_table, trace_table
from tidemark.pipeline.folder.imported_from import imported_from
from tidemark.pipeline.folder.manifest import CampaignRefusedError, Manifest, clear, open_campaign
from tidemark.pipeline.folder.record import ChunkRecord
from tidemark.pipeline.folder.run_list import Wanted, list_runs
from tidemark.pipeline.folder.stored_history import stored_histories
from tidemark.pipeline.folder.tables import SCHEMAS, chunk_file
from tidemark.pipeline.imports import import_chunk
from tidemark.pipeline.imports import import_histories as module
from tidemark.pipeline.imports.import_histories import ImportOutcome, import_histories
from tidemark.pipeline.imports.sources import find_files
from tidemark.pipeline.recheck.recheck import NothingToRecheckError, Question, changed_runs, recheck_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate
from tidemark.pipeline.watch.watch import WatchFailedError, watch_campaign

SILENT = Console(quiet=True)


def imported(folder: Path, *paths: Path, **how) -> ImportOutcome:
    return import_histories(folder, find_files(paths).files, console=SILENT, **how)


def jsonl(place: Path, seed: int, bugs: int = 0, **meta: object) -> Path:
    ops = buggy_history(seed, 40, bugs)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_history(History(meta=meta, ops=ops), place)
    return place


def rows(folder: Path, table: str) -> list[dict]:
    """Of all finished chunks, in order of plan."""
    manifest = Manifest.read(folder)
    files = take_stock(folder, manifest).files(folder, manifest.spec.name, table)
    found = [row for file in files for row in pq.read_table(file, partitioning=None).to_pylist()]
    return sorted(found, key=lambda row: (row["plan"], row.get("seq", 0)))


def stored(folder: Path) -> dict[str, History]:
    """The histories by the names of their files."""
    manifest = Manifest.read(folder)
    found = {}
    for variant, number in take_stock(folder, manifest).finished:
        runs, ops, trace = (
            chunk_file(folder, table, manifest.spec.name, variant, number) for table in ("runs", "ops", "trace")
        )
        metas = {row["plan"]: row["meta"] for row in pq.read_table(runs, partitioning=None).to_pylist()}
        sources = imported_from(runs)
        for plan, history in stored_histories(ops, trace, metas):
            found[Path(sources[plan]).name] = history
    return found


def assert_same_columns(one, other) -> None:
    for name in (
        "time",
        "type",
        "acks",
        "final",
        "row_half",
        "row_kind",
        "row_offset",
        "row_value",
        "row_key",
        "process",
    ):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.keys, one.values, list(map(str, one.processes))) == (
        other.keys,
        other.values,
        list(map(str, other.processes)),
    )
    assert [one.errors[n] for n in one.error] == [other.errors[n] for n in other.error]
    assert [one.fs[n] for n in one.f] == [other.fs[n] for n in other.f]


JEPSENS = """\
{:type :invoke, :process 0, :f :txn, :value [[:send :x "a"] [:poll] [:poll]], :time 1000000}
{:type :ok, :process 0, :f :txn, :value [[:send :x [0 "a"]] [:poll {:x [[0 "a"]], 7 []}] [:poll {:x [[1 "b"]] 7 [[0 1]]}]], \
:time 2000000, :rebalance-log [{:keys [:x 7]}]}
{:type :info, :process :nemesis, :f :kill, :value nil, :time 2500000}
{:type :invoke, :process 1, :f :send, :value [[:send :x "b"]], :time 2600000}
{:type :info, :process 1, :f :send, :value [[:send :x "b"]], :time 2700000, :error :timeout}
{:type :invoke, :process 2, :f :assign, :value [:x], :time 2800000}
{:type :ok, :process 2, :f :assign, :value [:x], :time 2800000, :rebalance-log [{:keys [7]}]}
{:type :invoke, :process 2, :f :crash, :value nil, :time 2800000}
{:type :info, :process 2, :f :crash, :value nil, :time 2900000, :rebalance-log [{:keys [:x]}]}
{:type :invoke, :process 3, :f :poll, :value [[:poll]], :time 2900000}
{:type :ok, :process 3, :f :poll, :value [[:poll {:x [] 7 [[0 1] [-1 2]]}]], :time 3000000, :final? true}
"""


def test_a_history_of_jepsens_comes_back_to_the_row(tmp_path: Path) -> None:
    (tmp_path / "history.edn").write_text(JEPSENS, encoding="utf-8")

    imported(tmp_path / "theirs", tmp_path / "history.edn")

    read, back = load_file(tmp_path / "history.edn"), stored(tmp_path / "theirs")["history.edn"]
    assert_same_columns(back.columns, read.columns)
    assert back.nemesis == read.nemesis
    assert check(back).anomalies == check(read).anomalies


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.systems) for seed in range(3, 6))])
def test_histories_with_bugs_come_back_and_are_judged_as_any_check_judges_them(seed: int, tmp_path: Path) -> None:
    ops = buggy_history(seed, 60, bugs=4, isolated=False)
    (tmp_path / "a.jsonl").write_text("")
    write_history(History(meta={"variant": "v"}, ops=ops), tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes()))
    (tmp_path / "c.edn").write_text("".join(f"{line}\n" for line in edn_lines(History(ops=ops))), encoding="utf-8")
    columns = {name: [getattr(op, name) for op in ops] for name in ("time", "process", "type", "f")}
    pq.write_table(pa.table({**columns, "value": [json.dumps(op.value) for op in ops]}), tmp_path / "d.parquet")

    outcome = imported(tmp_path / "theirs", tmp_path)

    assert outcome.runs == {"v": 2, "unnamed": 2}
    found = {Path(json.loads(row["meta"])["imported_from"]).name: row for row in rows(tmp_path / "theirs", "runs")}
    anomalies = rows(tmp_path / "theirs", "anomalies")
    for name, history in stored(tmp_path / "theirs").items():
        read = load_file(tmp_path / name)
        assert_same_columns(history.columns, read.columns or columns_of(read.ops))
        verdict = check(read)
        assert check(history).valid == found[name]["valid"] == verdict.valid
        told = [
            (row["name"], row["verdict"], row["message"]) for row in anomalies if row["plan"] == found[name]["plan"]
        ]
        assert told == [(one.name, one.verdict, one.message) for one in verdict.anomalies]


def test_several_batches_of_rows_are_one_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark.pipeline.folder.history_tables.BATCH_ROWS", 7)
    ops = buggy_history(3, 50, bugs=5)

    whole = ops_table(0, History(columns=columns_of(ops)))

    assert whole["seq"].to_pylist() == list(range(len(ops)))
    assert whole.column("value").num_chunks > 2
    assert whole["time_us"].to_pylist() == [op.time for op in ops]


def test_runs_of_ours_keep_their_traces_variants_and_folders(tmp_path: Path) -> None:
    spec = CampaignSpec("demo", ("kafka-0.10",), plans=1, seed=4, profile="destructive")
    for plan in (2, 3):
        drawn, run = simulate(spec, "kafka-0.10", plan)
        store_history(tmp_path / f"run-{plan}", drawn, run.history)

    outcome = imported(tmp_path / "theirs", tmp_path / "run-2", tmp_path / "run-3")

    assert outcome.runs == {"kafka-0.10": 2}
    assert outcome.verdicts["invalid"] >= 1
    for name, history in stored(tmp_path / "theirs").items():
        run = load_history(tmp_path / name)
        assert (history.trace, history.nemesis, history.ops) == (run.trace, run.nemesis, run.ops)
        assert check(history).to_json() == check(run).to_json()
    run = next(list_runs(tmp_path / "theirs", Wanted()))
    assert run.command == f"tidemark report {(tmp_path / 'run-2').resolve()}"
    assert run.marks
    again = recheck_campaign(tmp_path / "theirs", Question(), console=SILENT)
    assert (again.total("judged"), again.total("changed")) == (2, 0)


@pytest.mark.systems
def test_twice_the_same_adds_nothing_and_more_adds_runs_with_the_next_numbers(tmp_path: Path) -> None:
    first, copy = jsonl(tmp_path / "a.jsonl", 1, variant="one"), tmp_path / "copy.jsonl"
    copy.write_bytes(first.read_bytes())
    folder = tmp_path / "theirs"

    begun = imported(folder, first, copy)
    same = imported(folder, first)
    more = imported(
        folder, jsonl(tmp_path / "b.jsonl", 2, variant="two"), jsonl(tmp_path / "c.jsonl", 3, variant="one")
    )

    assert (begun.runs, [path.name for path in begun.there]) == ({"one": 1}, ["copy.jsonl"])
    assert (same.added, len(same.there)) == (0, 1)
    assert more.runs == {"two": 1, "one": 1}
    assert [row["plan"] for row in rows(folder, "runs")] == [0, 1, 2]
    manifest = Manifest.read(folder)
    assert (manifest.spec.variants, manifest.spec.plans) == (("one", "two"), 3)
    assert [(asked.plans, asked.variants) for asked in manifest.asked] == [(1, ("one",)), (3, ("one", "two"))]
    listed = next(list_campaigns(tmp_path))
    assert isinstance(listed, ListedCampaign)
    assert (listed.world, listed.runs, listed.expected) == ("imported", 3, 3)


def test_the_same_files_make_the_same_tables_however_the_work_is_cut_and_who_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(7):
        jsonl(tmp_path / "all" / f"{seed}.jsonl", seed, bugs=2, variant=f"v{seed % 2}")
    imported(tmp_path / "x" / "theirs", tmp_path / "all")
    monkeypatch.setattr(module, "MOST", 2)

    imported(tmp_path / "y" / "theirs", tmp_path / "all", spread=lambda work, items: [work(one) for one in items])

    for table in SCHEMAS:
        assert rows(tmp_path / "x" / "theirs", table) == rows(tmp_path / "y" / "theirs", table)
    assert Manifest.read(tmp_path / "y" / "theirs").layout.chunks == 4


def test_what_is_no_history_is_named_and_the_rest_goes_in(tmp_path: Path) -> None:
    jsonl(tmp_path / "good.jsonl", 1)
    (tmp_path / "bad.jsonl").write_text('{"kind":"op","time":"5"}\n')
    (tmp_path / "bad.edn").write_text("{:type :ok, :process 0, :f :send, :value [[:send 0]]}")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "clash.jsonl").write_text(
        '{"kind":"op","time":1,"process":"nemesis","type":"invoke","f":"heal","value":null}\n'
    )
    jsonl(tmp_path / "long.jsonl", 2, variant="v" * 201)

    outcome = imported(tmp_path / "theirs", tmp_path)

    assert outcome.added == 1
    assert {path.name: why.partition(" (")[0] for path, why in outcome.unread} == {
        "bad.edn": "line 1: [:send 0] is neither [:send key value] nor [:poll {…}]",
        "bad.jsonl": "line 1: \"time\" must be an integer number of microseconds, and is '5'",
        "bad.parquet": "line 1: the file is Parquet, and broken",
        "clash.jsonl": "it has a client called nemesis that does a heal, which could not be told from a fault",
        "long.jsonl": "its variant's name cannot be a folder's; choose another with --as",
    }
    assert imported(tmp_path / "theirs", tmp_path / "long.jsonl", variant="short").runs == {"short": 1}


def test_what_the_tables_cannot_hold_is_refused() -> None:
    trace = [(1, 2**40, "start", "t-0", 1)]
    with pytest.raises(UnstorableError, match="it cannot be stored"):
        trace_table(0, History(trace=trace))


def test_processes_that_the_tables_could_not_tell_apart_are_refused(tmp_path: Path) -> None:
    ops = [Op(1, process, "invoke", "poll", (("poll", {}),)) for process in (1, "1")]
    write_history(History(ops=ops), tmp_path / "a.jsonl")

    assert imported(tmp_path / "theirs", tmp_path / "a.jsonl").unread == (
        (tmp_path / "a.jsonl", 'it has the processes 1 and "1", which the tables could not tell apart'),
    )


def test_a_checker_that_stumbles_costs_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbling(history: History, contract: str | None) -> object:
        if history.meta["variant"] == "bad":
            raise ZeroDivisionError("over a stone")
        return check(history, contract)

    monkeypatch.setattr(import_chunk, "check", stumbling)

    outcome = imported(
        tmp_path / "theirs",
        jsonl(tmp_path / "a.jsonl", 1, variant="bad"),
        jsonl(tmp_path / "b.jsonl", 2, variant="good"),
    )

    assert (outcome.added, outcome.errors) == (2, 1)
    (run,) = list_runs(tmp_path / "theirs", Wanted(variant="bad", unknown=True))
    assert run.because == "ZeroDivisionError: over a stone"
    monkeypatch.undo()
    again = recheck_campaign(tmp_path / "theirs", Question(), console=SILENT)
    assert (again.total("judged"), again.total("changed")) == (2, 1)


@pytest.mark.systems
def test_a_kill_between_chunk_and_manifest_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, c = (jsonl(tmp_path / f"{name}.jsonl", seed, variant=name) for seed, name in enumerate("abc"))
    folder = tmp_path / "theirs"
    imported(folder, a)

    def killed(manifest: Manifest, folder: Path) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "write", killed)
        with pytest.raises(MemoryError):
            imported(folder, b)
    assert [row["plan"] for row in rows(folder, "runs")] == [0]

    imported(folder, c)
    imported(folder, b)

    assert [(row["plan"], json.loads(row["meta"])["variant"]) for row in rows(folder, "runs")] == [
        (0, "a"),
        (1, "c"),
        (2, "b"),
    ]
    stock = take_stock(folder, Manifest.read(folder))
    assert (stock.damaged, stock.foreign) == ((), ())


def test_somebody_stops_it_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 1)
    for seed in range(3):
        jsonl(tmp_path / "all" / f"{seed}.jsonl", seed)

    def stopped(work, items):
        yield work(next(iter(items)))
        raise KeyboardInterrupt

    first = imported(tmp_path / "theirs", tmp_path / "all", spread=stopped)
    second = imported(tmp_path / "theirs", tmp_path / "all")

    assert (first.interrupted, first.added) == (True, 1)
    assert (second.interrupted, second.added, len(second.there)) == (False, 2, 1)


def test_a_damaged_chunk_is_taken_out_and_its_histories_come_in_again(tmp_path: Path) -> None:
    a, b = jsonl(tmp_path / "a.jsonl", 1, variant="a"), jsonl(tmp_path / "b.jsonl", 2, variant="b")
    folder = tmp_path / "theirs"
    imported(folder, a, b)
    chunk_file(folder, "ops", "theirs", "a", 0).write_bytes(b"damaged")

    outcome = imported(folder, a, b)

    assert outcome.damaged == ("chunk 0 of a: its file of `ops` has another size",)
    assert (outcome.runs, len(outcome.there)) == ({"a": 1}, 1)
    assert [row["plan"] for row in rows(folder, "runs")] == [1, 2]
    whole = pq.read_table(folder / "runs", partitioning=None)["digest"].to_pylist()  # as any other reader reads it
    assert len(whole) == len(set(whole)) == 2


@pytest.mark.systems
def test_a_kill_in_the_first_chunk_is_no_tables_of_nobodys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = jsonl(tmp_path / "a.jsonl", 1), jsonl(tmp_path / "b.jsonl", 2, variant="b")
    folder = tmp_path / "theirs"

    def killed(record: ChunkRecord, folder: Path, campaign: str) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(ChunkRecord, "write", killed)
        with pytest.raises(MemoryError):
            imported(folder, a)
    imported(folder, b)
    imported(folder, a, b)

    assert [(row["plan"], Path(json.loads(row["meta"])["imported_from"]).name) for row in rows(folder, "runs")] == [
        (0, "b.jsonl"),
        (1, "a.jsonl"),
    ]
    assert [(found.runs, found.expected) for found in list_campaigns(tmp_path)] == [(2, 2)]
    assert len(pq.read_table(folder / "runs", partitioning=None)) == 2


def test_what_a_meta_line_says_is_not_taken_for_ours(tmp_path: Path) -> None:
    meta = {"numbered_processes": True, "cut_off": "here", "gaps": "there", "imported_from": "elsewhere", "mine": 1}
    jsonl(tmp_path / "a.jsonl", 1, bugs=2, **meta)
    imported(tmp_path / "theirs", tmp_path / "a.jsonl")

    again = recheck_campaign(tmp_path / "theirs", Question(), console=SILENT)

    assert (again.total("judged"), again.total("changed")) == (1, 0)
    (history,) = stored(tmp_path / "theirs").values()
    assert (history.meta, history.cut_off, history.gaps) == ({"mine": 1}, "", "")


def test_what_makes_no_sense_is_refused_in_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    history = jsonl(tmp_path / "a.jsonl", 1, variant="kafka-2.7")
    imported(folder, history)
    spec = CampaignSpec("theirs", ("kafka-2.7",), plans=5, seed=1)

    with pytest.raises(NothingToRecheckError, match="nothing can be run again"):
        recheck_campaign(folder, Question(again=True), console=SILENT)
    with pytest.raises(CampaignRefusedError, match="tidemark import adds to them"):
        open_campaign(folder, spec)
    with pytest.raises(WatchFailedError, match="nothing runs there"):
        next(watch_campaign(folder))
    with pytest.raises(CampaignRefusedError, match="judged by their own promises, not by durable"):
        imported(folder, history, contract="durable")
    open_campaign(tmp_path / "run", spec)
    with pytest.raises(CampaignRefusedError, match="holds a campaign that was run"):
        imported(tmp_path / "run", history)


def test_imported_histories_are_moved_aside_and_not_thrown_away(tmp_path: Path) -> None:
    imported(tmp_path / "theirs", jsonl(tmp_path / "a.jsonl", 1))

    aside = clear(tmp_path / "theirs")

    assert aside == tmp_path / "theirs" / "earlier-1"
    assert [row["plan"] for row in rows(aside, "runs")] == [0]


def test_what_todays_checkers_say_otherwise_is_told_with_the_file(tmp_path: Path) -> None:
    history = jsonl(tmp_path / "a b.jsonl", 1)
    imported(tmp_path / "theirs", history)

    def always(history: History) -> list[Anomaly]:
        return [Anomaly("it-is-there", "violation", 5, "", "It is.")]

    outcome = recheck_campaign(tmp_path / "theirs", Question(checkers={"always": always}), console=SILENT)

    (run,) = changed_runs(outcome)
    assert run.command == f"tidemark report '{history.resolve()}'"
    assert run.anomalies == (("it-is-there", "–", "violation"),)


def test_in_a_folder_histories_are_found_and_nothing_else(tmp_path: Path) -> None:
    for name in (
        "s/1/history.edn",
        "s/1/results.edn",
        "s/2/history.edn.gz",
        "s/2/jepsen.log",
        "s/.x/history.edn",
        "s/n.jsonl",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "s" / "latest").symlink_to("2")
    (tmp_path / "odd.txt").write_text("")
    imported(tmp_path / "s" / "mine", jsonl(tmp_path / "a.jsonl", 1))

    found = find_files([tmp_path / "s", tmp_path / "s" / "latest", tmp_path / "odd.txt"])

    assert [path.relative_to(tmp_path.resolve()).as_posix() for path in found.files] == [
        "s/n.jsonl",
        "s/1/history.edn",
        "s/2/history.edn.gz",
        "odd.txt",
    ]
    assert found.campaigns == ((tmp_path / "s" / "mine").resolve(),)


@pytest.mark.spark
@pytest.mark.slow
def test_they_are_compared_without_pairs_and_without_what_nobody_knows(spark: SparkSession, tmp_path: Path) -> None:
    for seed, bugs in enumerate((0, 6, 6)):
        jsonl(tmp_path / "all" / f"{seed}.jsonl", seed, bugs, variant="theirs" if bugs else "ours")
    folder = tmp_path / "mine"
    outcome = imported(folder, tmp_path / "all")

    comparison = compare(SparkEngine(spark), folder)

    assert {variant.variant: variant.runs for variant in comparison.variants} == outcome.runs
    assert (comparison.pairs, comparison.primary) == ((), None)
    assert [variant.recovery.never.runs for variant in comparison.variants] == [0, 0]
    assert [variant.promises["durable"].hits for variant in comparison.variants] == [
        variant.loss.hits for variant in comparison.variants
    ]
    assert choose_examples(SparkEngine(spark), folder) == ()

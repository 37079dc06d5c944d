"""Anybody's histories: what reading them costs, and what judging them costs, up to ten million operations.

An operation is an invocation and a completion. 20 keys, 50 processes: in each round 30 send a record, and 20 poll a key each and
get what was sent to it since; the history is valid. The same is judged as if each were a transaction: then it takes a longer look
to see that there is no cycle. A file of a million, of JSON lines and of EDN, is read by one process and judged, beside
``json.loads`` of each of the JSON lines, and read in blocks by two. CPU time of one core, where nothing else is said;
``json.loads`` of a small object, done along with it, tells how fast the machine is while it is measured.
"""

from __future__ import annotations

import gc
import io
import json
import resource
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from tidemark.checkers import check, read_any, read_stream
from tidemark.checkers.history.columns.columns import F_TXN, INVOKE, OK, READ, SEND, Columns
from tidemark.checkers.history.columns.rows_back import ops_of
from tidemark.checkers.history.edn_lines import edn_lines
from tidemark.checkers.history.history import History
from tidemark.checkers.history.history_blocks import places, read_block, together
from tidemark.checkers.history.history_file import history_lines, op_line

KEYS, SENDERS, ROUND = 20, 30, 50
SIZES = (100_000, 1_000_000, 10_000_000)
READ_SIZE = 100_000
BLOCKS_SIZE = 1_000_000
PROCESSES = 2


def main() -> None:
    """Print rates."""
    print(f"json.loads: {_calibration():,.0f} small objects a second just now")
    _reading(valid_history(READ_SIZE))
    _reading_in_blocks(valid_history(BLOCKS_SIZE))
    for size in SIZES:
        _judging("operations", valid_history(size))
    for size in SIZES[:2]:
        history = valid_history(size)
        _judging("transactions", replace(history, f=np.full_like(history.f, F_TXN)))
    print(f"json.loads: {_calibration():,.0f} small objects a second in the end")


def _judging(what: str, columns: Columns) -> None:
    size = len(columns) // 2
    history = History(columns=columns)
    gc.collect()
    start = process_time()
    verdict = check(history)
    cpu = process_time() - start
    assert verdict.valid == "valid", verdict.unknown_because or verdict.anomalies[:3]
    print(
        f"judged {size:>10,} {what}: {cpu:6.1f} s CPU, {size / cpu:>9,.0f} {what} a second, "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB at most so far"
    )


def _reading(columns: Columns) -> None:
    history = History(ops=list(ops_of(columns)))
    for name, lines in (("EDN", edn_lines(history)), ("JSON lines", history_lines(history))):
        data = "\n".join(lines).encode() + b"\n"
        start = process_time()
        found = read_stream(io.BytesIO(data))
        cpu = process_time() - start
        assert found.columns is not None
        assert len(found.columns) == 2 * READ_SIZE
        print(
            f"read {READ_SIZE:,} operations of {name} ({len(data) / 2**20:.0f} MiB): {READ_SIZE / cpu:,.0f} a second, "
            f"{len(data) / 2**20 / cpu:.1f} MiB a second"
        )


def _reading_in_blocks(columns: Columns) -> None:
    """As `tidemark check FILE --jobs 2` does, by the clock, and the judging after it; of JSON lines, and of EDN."""
    history = History(ops=list(ops_of(columns)))
    with TemporaryDirectory() as folder:
        json_lines, edn = Path(folder) / "history.jsonl", Path(folder) / "history.edn"
        with json_lines.open("w", encoding="utf-8") as file:
            file.writelines(op_line(op, number) + "\n" for number, op in enumerate(history.ops, 1))
        with edn.open("w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in edn_lines(history))
        del history
        for path, what in ((json_lines, "JSON lines"), (edn, "EDN")):
            before = _decoding(json_lines)
            start, cpu = perf_counter(), process_time()
            alone = read_any(path)
            one, read = perf_counter() - start, process_time() - cpu
            cpu = process_time()
            check(alone)
            judged = process_time() - cpu
            decoded = (before + _decoding(json_lines)) / 2
            start = perf_counter()
            with ProcessPoolExecutor(PROCESSES) as pool:
                found = together(path, pool.map(read_block, places(path, PROCESSES)))
            several = perf_counter() - start
            assert found is not None
            assert found.columns is not None
            assert alone.columns is not None
            assert (found.columns.row_value == alone.columns.row_value).all()
            print(
                f"read {BLOCKS_SIZE:,} operations of {what}: {one:.1f} s by one process, {several:.1f} s by {PROCESSES} "
                f"(by the clock); of CPU time {read:.1f} s and judging {judged:.1f}, where json.loads of the JSON lines takes "
                f"{decoded:.1f} s: {(read + judged) / decoded:.2f} times as much"
            )


def _decoding(path: Path) -> float:
    """Seconds of CPU for ``json.loads`` of each line of a file, and nothing else."""
    with path.open(encoding="utf-8") as file:
        lines = list(file)
    start = process_time()
    for line in lines:
        json.loads(line)
    return process_time() - start


def valid_history(size: int) -> Columns:
    """So many operations, in columns."""
    rounds = size // ROUND
    to_key = np.arange(SENDERS) % KEYS
    nth = np.arange(SENDERS) // KEYS
    of_round = np.bincount(to_key, minlength=KEYS)
    halves = np.arange(2 * ROUND)
    is_send = halves // 2 < SENDERS
    number = np.arange(rounds)[:, None]
    offset = number * of_round[to_key] + nth
    order = np.argsort(to_key, kind="stable")
    begin = number * 2 * ROUND
    sender, reader = 2 * np.arange(SENDERS), 2 * (SENDERS + to_key[order])
    columns = [
        # half, kind, key, offset
        np.stack(np.broadcast_arrays(begin + sender, SEND, to_key, -1 + 0 * offset, offset)),
        np.stack(np.broadcast_arrays(begin + sender + 1, SEND, to_key, offset, offset)),
        np.stack(np.broadcast_arrays(begin + reader + 1, READ, to_key[order], offset[:, order], offset[:, order])),
    ]
    rows = np.concatenate(columns, axis=2).reshape(5, -1)
    rows = rows[:, np.argsort(rows[0], kind="stable")]
    time = np.arange(rounds * 2 * ROUND) * 10

    def tiled(one: np.ndarray, kind: type[np.generic]) -> np.ndarray:
        return np.tile(one.astype(kind), rounds)

    return Columns(
        time=time,
        time_ns=np.zeros(len(time), np.int16),
        process=tiled(halves // 2, np.int32),
        type=tiled(np.where(halves % 2, OK, INVOKE), np.int8),
        f=tiled(np.where(is_send, 0, 1), np.int32),
        acks=np.zeros(len(time), np.int8),
        error=np.zeros(len(time), np.int32),
        final=np.zeros(len(time), np.int8),
        row_half=rows[0],
        row_kind=rows[1].astype(np.int8),
        row_key=rows[2].astype(np.int32),
        row_offset=rows[3],
        row_value=rows[4],
        keys=[str(key) for key in range(KEYS)],
        processes=list(range(ROUND)),
        values=[],
        errors=[None],
        fs=["send", "poll", "txn", "assign", "subscribe", "delete"],
    )


def _calibration() -> float:
    text = json.dumps({"type": "ok", "process": 3, "value": [["send", 1, [2, 3]]], "time": 12345678})
    start = process_time()
    for _ in range(100_000):
        json.loads(text)
    return 100_000 / (process_time() - start)

"""Corrupted histories of all kinds through the command line: each has a documented exit code and at most one sentence.

Runs of ours, with a trace and without, Jepsen's EDN, Parquet, and histories of objects, packed and not, are spoiled: bits
flipped, bytes put in, files cut, lines swapped, doubled and dropped, numbers made huge, values nested deep or of another type,
invalid UTF-8, marks of byte order. Every file is judged, exported or judged as an object in a forked process of its own, with
10 s of processor time and 500 MB; some with a standard output that is closed, full, or read by nobody. Seeded;
`corrupted_files:NUMBER` runs so many.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from bench.corruptions import HOW as LINE_BY_LINE
from tidemark.checkers import History, Op, check
from tidemark.checkers.history.columns.builder import columns_of
from tidemark.checkers.history.edn_lines import edn_lines
from tidemark.checkers.history.history_file import history_lines
from tidemark.checkers.objects.workloads.by_name import NAMES, OPERATIONS
from tidemark.cli import main as command_line
from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

FILES = 10_000
SEED = 28
MEMORY = 500 << 20
CPU_S = 10
PATIENCE_S = 120
"""By the clock: others may have the processor."""
DOCUMENTED = (0, 1, 2, 254)
SENTENCE = re.compile(r"tidemark: (?!internal error)[^\n]{1,2200}\n")
UNWRITTEN = "tidemark: not all output could be written (No space left on device)\n"


class Told(NamedTuple):
    """What a command said: its exit code (negative: the signal that ended it), standard error, seconds and bytes it took."""

    code: int
    error: str
    cpu: float
    memory: int
    """All of the process's: with the program, and with what this one had loaded when it forked."""
    grown: int
    """Without that."""


def main(files: str = "") -> None:
    """Spoil, ask, count; what is wrong is printed with its number."""
    began = time.monotonic()
    counts: Counter[str] = Counter()
    slowest = largest = 0.0
    count = int(files or FILES)
    for number in range(count):
        wrong, words, told = one(number)
        counts[words] += 1
        slowest, largest = max(slowest, told.cpu), max(largest, told.memory)
        wrong = wrong or ("memory" if told.memory > MEMORY else "")
        if wrong:
            print(f"{number}: {wrong}: {words}: {told}", file=sys.stderr, flush=True)
        if number % 1000 == 999:
            print(f"{number + 1} files, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    for words, times in sorted(counts.items()):
        print(f"{words:<60}{times:>7}")
    seconds = time.monotonic() - began
    print(
        f"{count} files in {seconds:.0f} s; at most {slowest:.1f} s of processor time and {largest / (1 << 20):.0f} MB each"
    )


def one(number: int) -> tuple[str, str, Told]:
    """What is wrong with how the file of a number is dealt with (nothing, mostly), what it was and came to, and what was said."""
    random = Random(f"{SEED} {number}")
    kind = random.choice(["EDN", "Parquet", "clients", "object", "trace"])
    name = random.choice([name for name in sorted(_sources()) if name.startswith(kind)])
    how = random.choice(sorted(SPOILS))
    data = SPOILS[how](_sources()[name], random)
    if random.random() < 0.15:
        packed = gzip.compress(data, 1)
        data = packed if random.random() < 0.5 else _flipped(packed, random)
    arguments = _arguments(name, random)
    output = random.choices(["kept", *sorted(OUTPUTS)], [20, 1, 1, 1, 1])[0]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "history.jsonl"
        path.write_bytes(data)
        told = ask([*arguments, folder if "export" not in arguments and random.random() < 0.1 else str(path)], output)
    return _wrong(told, output), f"{' '.join(arguments[:2])} {output}: {told.code}", told


def _wrong(told: Told, output: str) -> str:
    if told.code == 255 and output == "full" and told.error == UNWRITTEN:
        return ""
    if told.code not in DOCUMENTED:
        return "exit code"
    if not (SENTENCE.fullmatch(told.error) if told.code == 254 else told.error == ""):
        return "sentence"
    return "memory" if told.grown > MEMORY else ""


def _arguments(name: str, random: Random) -> list[str]:
    if name.startswith("object"):
        model = name.split()[1] if random.random() < 0.9 else random.choice(NAMES)
        return ["check", "--model", model, *random.choice([[], ["--json"]])]
    return random.choice([["check"], ["check"], ["check", "--json"], ["check", "--jobs", "2"], ["export"]])


def _closed(fd: int) -> None:
    os.close(fd)


def _full(fd: int) -> None:
    os.dup2(os.open("/dev/full", os.O_WRONLY), fd)


def _broken(fd: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    os.dup2(writing, fd)


def _nowhere(fd: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), fd)


OUTPUTS: dict[str, Callable[[int], None]] = {"broken": _broken, "closed": _closed, "kept": _nowhere, "full": _full}


def ask(arguments: Sequence[str], output: str) -> Told:
    """Give a command in a forked process with its limits and such a standard output."""
    error = os.memfd_create("error")
    before = _memory("resident")
    child = os.fork()
    if child == 0:
        code = 254
        try:
            code = _inside(arguments, output, error)
        finally:
            os._exit(code)
    _, status, used = os.wait4(child, 0)
    os.lseek(error, 0, os.SEEK_SET)
    with os.fdopen(error, "rb") as file:
        said = file.read().decode(errors="replace")
    memory = used.ru_maxrss << 10
    return Told(os.waitstatus_to_exitcode(status), said, used.ru_utime + used.ru_stime, memory, memory - before)


def _memory(kind: Literal["size", "resident"]) -> int:
    """Bytes of this process's memory: all of its addresses, or what is in use of them."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[kind == "resident"]
    return int(pages) * resource.getpagesize()


def _inside(arguments: Sequence[str], output: str, error: int) -> int:
    room = MEMORY + _memory("size")
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(PATIENCE_S)
    os.dup2(error, 2)
    OUTPUTS[output](1)
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as Python begins with it
    sys.stdout = None if output == "closed" else open(1, "w", encoding="utf-8", closefd=False)  # type: ignore[assignment]  # noqa: SIM115
    sys.argv = ["tidemark", *arguments]
    try:
        command_line()
    except SystemExit as ended:
        with contextlib.suppress(AttributeError):
            sys.stdout.flush()
        sys.stderr.flush()
        return int(ended.code or 0)
    except BaseException as escaped:  # noqa: BLE001 - nothing may
        os.write(2, f"escaped: {escaped!r}\n".encode())
    return 120


@cache
def _sources() -> dict[str, bytes]:
    """Histories in order, by what they are."""
    found: dict[str, bytes] = {}
    for variant, profile, index in (("kafka-4.0", "intact", 5), ("kafka-0.11", "destructive", 38)):
        run = simulate(generate_plan(7, index, profile, ClusterSpec()), parse_variant(variant)).history
        clients = replace(run, trace=[], nemesis=[])
        found[f"trace of {variant}"] = _joined(history_lines(run))
        found[f"clients of {variant}"] = _joined(history_lines(clients))
        found[f"EDN of {variant}"] = _joined(edn_lines(clients))
        found[f"EDN vector of {variant}"] = (
            b"[" + _joined(edn_lines(clients)).replace(b"{", b"#jepsen.history.Op{", 9) + b"]"
        )
        found[f"Parquet of {variant}"] = _parquet(clients.ops)
        check(run)
        check(History(columns=columns_of(clients.ops)))
    for model, kinds in OPERATIONS.items():
        objects = History(ops=_operations(model, kinds.split(), Random(f"{SEED} {model}")))
        found[f"object {model} in JSON"] = _joined(history_lines(objects))
        found[f"object {model} in EDN"] = _joined(edn_lines(objects))
    return found


def _operations(model: str, kinds: Sequence[str], random: Random) -> list[Op]:
    """Halves of operations, one after the other, such as the model has them; some end otherwise than they should."""
    made = []
    held: list[int] = []
    keyed = model in ("key-value", "append-log")
    for number in range(150):
        f = random.choice(kinds)
        asked: object = {"cas": [number - 1, number]}.get(f, number)
        answered = asked
        if f in ("add", "append", "enqueue"):
            held.append(number)
            asked = answered = "ab" if model == "key-value" else number
        elif f in ("read", "get", "drain", "dequeue", "generate", "delete"):
            asked = None
            answered = {"counter": sum(held), "register": number - 1}.get(model, [*held])
            answered = held.pop(0) if f == "dequeue" and held else number if f in ("generate", "dequeue") else answered
        if keyed:
            asked, answered = ["x", asked], ["x", answered]
        end = random.choice(["ok"] * 8 + ["fail", "info"])
        made += [Op(20 * number, str(number % 4), "invoke", f, asked)]
        made += [Op(20 * number + 9, str(number % 4), end, f, answered)]
    return made


def _parquet(ops: Sequence[Op]) -> bytes:
    rows = [{**op._asdict(), "value": json.dumps(op.value)} for op in ops]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


def _joined(lines: object) -> bytes:
    return b"".join(line.encode() + b"\n" for line in lines)  # type: ignore[attr-defined]


def _flipped(data: bytes, random: Random) -> bytes:
    spoiled = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        spoiled[random.randrange(len(spoiled))] ^= 1 << random.randrange(8)
    return bytes(spoiled)


def _put_in(*pieces: bytes) -> Callable[[bytes, Random], bytes]:
    def spoil(data: bytes, random: Random) -> bytes:
        place = random.choice([0, len(data), random.randrange(len(data)), random.randrange(len(data))])
        return data[:place] + random.choice(pieces) + data[place:]

    return spoil


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|:[\w./?-]+|-?\d+|true|false|null|nil|[][{}]')
_OTHERS = (
    *(
        b"nil null true -1 0 1.5 1e400 1N 1/2 :ok :a #{} #{1} {} [] [[]] () \\a ##NaN ##Inf #_ #inst ^ ; NaN 1e9999999".split()
    ),
    *(
        b'"" "x" "\\ud800" "\\u0000" 9223372036854775807 18446744073709551616 "invoke" "poll" :poll :send "txn" :txn'.split()
    ),
    *(
        b'{"a":1} {:a 1} [1,2] "send" "delete" "assign" :assign "final" "trace" "meta" "kind" "time" :type :process'.split()
    ),
    b"9" * 5_000,
    b'"' + b"k" * 50_000 + b'"',
)


def _another_token(data: bytes, random: Random) -> bytes:
    """Some tokens become others, of any type."""
    for _ in range(random.choice([1, 1, 1, 5, 50])):
        start = random.randrange(len(data))
        found = _TOKEN.search(data, start)
        if found:
            data = data[: found.start()] + random.choice(_OTHERS) + data[found.end() :]
    return data


def _everywhere(data: bytes, random: Random) -> bytes:
    """A token becomes another wherever it stands: as a key of maps, say."""
    tokens = list(dict.fromkeys(_TOKEN.findall(data)))
    return data.replace(random.choice(tokens), random.choice(_OTHERS), random.choice([-1, 40]))


def _nested(data: bytes, random: Random) -> bytes:
    depth = random.choice([30, 200, 5_000, 200_000])
    opening, closing = random.choice(
        [(b"[", b"]"), (b'{"a":', b"}"), (b"{:a ", b"}"), (b"#{", b"}"), (b"(", b")"), (b"#a ", b"")]
    )
    found = _TOKEN.search(data, random.randrange(len(data)))
    begin, end = found.span() if found else (0, 0)
    return data[:begin] + opening * depth + b"1" + closing * depth + data[end:]


def _by_lines(spoil: Callable[[Sequence[bytes], Random], bytes]) -> Callable[[bytes, Random], bytes]:
    return lambda data, random: spoil(data.splitlines(keepends=True), random)


def _rewritten(data: bytes, random: Random) -> bytes:
    """The whole text in another form."""
    text = data.decode(errors="replace")
    return random.choice(
        [
            text.encode("utf-16"),
            text.encode("utf-16-le"),
            text.replace("\n", "\r\n").encode(),
            text.replace("\n", "").encode(),
            text.replace(" ", "\n").encode(),
            ("x" + text).encode(),
            json.dumps(text).encode(),
            data * 3 + b"{",
            text[::-1].encode(),
        ]
    )


def _mixed(data: bytes, random: Random) -> bytes:
    """The beginning of one file and the end of another."""
    other = _sources()[random.choice(sorted(_sources()))]
    return data[: random.randrange(len(data))] + other[random.randrange(len(other)) :]


SPOILS: dict[str, Callable[[bytes, Random], bytes]] = {
    **{name: _by_lines(spoil) for name, spoil in LINE_BY_LINE.items()},
    "bits": _flipped,
    "bytes put in": _put_in(
        b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\n", b'"', b"\\", b"\x1b[31m", b"{"
    ),
    "byte order": _put_in(b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"),
    "zeros": _put_in(b"\0" * 4096, b"\0" * 3_000_000),
    "long": _put_in(b" " * 3_000_000, b"a" * 3_000_000, b"9" * 3_000_000, b'"' + b"a" * 20_000_000, b"\n" * 1_000_000),
    "another token": _another_token,
    "everywhere": _everywhere,
    "deep": _nested,
    "rewritten": _rewritten,
    "mixed": _mixed,
}

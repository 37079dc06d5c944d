"""Bad options and files, signals in the first seconds, output that nobody takes, at all commands: ``python -m bench bad_inputs``.

Each try is a process of its own. It must end with a documented exit code and without a traceback, and what is refused (254) is
refused in one sentence. Tries are drawn from a seed; ``bad_inputs:TRIES`` makes so many.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

TRIES, SEED = 400, 1
PATIENCE_S = 120.0
PROGRAM = (sys.executable, "-c", "import sys; sys.argv[0] = 'tidemark'; from tidemark.command import main; main()")
DOCUMENTED = {0, 1, 2, 254}
ENDED = {130, -signal.SIGINT, -signal.SIGTERM}
"""By a signal: when there was something to say, and before."""
BEFORE_US = 'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\nKeyboardInterrupt\n'
NO_CONTAINERS = {"DOCKER_HOST": "tcp://127.0.0.1:1"}
GOOD = b"""\
{"kind":"op","time":1,"process":"p","type":"invoke","f":"send","value":[["send","t-0",1]]}
{"kind":"op","time":2,"process":"p","type":"ok","f":"send","value":[["send","t-0",[0,1]]]}
{"kind":"op","time":3,"process":"c","type":"invoke","f":"poll","value":[["poll",{}]],"final":true}
{"kind":"op","time":4,"process":"c","type":"ok","f":"poll","value":[["poll",{"t-0":[[0,1]]}]],"final":true}
"""
SETTINGS = b"""\
security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
"""
LOG = b"""\
[2026-11-26 11:15:44,205] INFO [UnifiedLog partition=t-0, dir=/d] Incremented log start offset to 5 due to client delete records \
request (org.apache.kafka.storage.internals.log.UnifiedLog)
[2026-11-26 11:15:45,205] INFO [UnifiedLog partition=t-0, dir=/d] Truncating to offset 1 \
(org.apache.kafka.storage.internals.log.UnifiedLog)
[2026-11-26 11:15:46,205] WARN [LogLoader partition=t-0, dir=/d] Deleting all segments because logEndOffset (4) is smaller than \
logStartOffset 5. (org.apache.kafka.storage.internals.log.LogLoader)
"""
COMMANDS = """\
scenario kip-101-data-loss
scenario --all
variants
anomalies
faults
zoo
zoo --format latex
doctor
list .
scan logs
scan logs --json
canary --bootstrap 127.0.0.1:1 --seconds 1
check good.jsonl
check good.jsonl --jobs 2
export good.jsonl
import good.jsonl --out i
report good.jsonl --force
run --variant kafka-0.10 --index 98 --out r --report
hunt --seconds 2 --jobs 2 --out h
explore --brokers 2 --records 1 --jobs 2
explore --variant kafka-3.7 --brokers 2 --records 1 --pass-over known --jobs 1
shrink --variant kafka-2.0 --index 112 --jobs 2 --out s.json
compare --plans 4 --out c
runs c
runs c --format csv
compare --variants kafka-0.10,kafka-2.7 --plans 2 --sweep min-isr=1,2 --out w
watch c
check c""".splitlines()
FOREVER = "serve . --port 0"
WRONG = {
    click.types.IntParamType: ("x", "", "1e400", "nan", "0x1", "1.5"),
    click.types.FloatParamType: ("x", "", "1e400", "nan", "-inf", "1,5"),
    click.Choice: ("nonsense", "", "\x1b[31m"),
    click.Path: ("file/below", "empty/../file/x"),
}
"""What no option of the type can take."""


class Try(NamedTuple):
    """What is typed, and what is done to the process: a signal after so many seconds, or so many bytes read of its output."""

    words: tuple[str, ...]
    allowed: frozenset[int]
    signal: int = 0
    after: float = 0.0
    read: int | None = None
    to: str = ""


class Told(NamedTuple):
    """How it ended; `code` is None if it did not."""

    code: int | None
    error: str


def main(tries: str = str(TRIES)) -> None:
    """Print what is not as it should be, and how often each exit code was seen."""
    seen: Counter[object] = Counter()
    wrong = 0
    with TemporaryDirectory() as folder:
        prepare(Path(folder))
        for one in drawn(SEED, int(tries), Path(folder)):
            told = carry_out(one, Path(folder))
            seen[told.code] += 1
            if complaint := what_is_wrong(one, told):
                wrong += 1
                print(f"  {complaint}: tidemark {' '.join(map(repr, one.words))} {one[2:]}\n{told.error[-1500:]}")
    print(f"  {tries} bad inputs, {wrong} not as they should be; exit codes: {dict(sorted(seen.items(), key=str))}")


def prepare(folder: Path) -> None:
    """Things to be named."""
    (folder / "good.jsonl").write_bytes(GOOD)
    (folder / "logs").mkdir()
    (folder / "logs" / "server.log").write_bytes(LOG)
    (folder / "file").write_bytes(b"neither this nor that")
    (folder / "empty").mkdir()
    subprocess.run([*PROGRAM, "compare", "--plans", "2", "--out", "c"], cwd=folder, capture_output=True, check=True)


def drawn(seed: int, count: int, folder: Path) -> Iterator[Try]:
    """So many tries; bad files are written as they are drawn."""
    source = random.Random(seed)
    kinds = (_bad_option, _bad_file, _signal, _closed_pipe, _full_disk)
    for number in range(count):
        yield kinds[number % len(kinds)](source, folder)


def _bad_option(source: random.Random, folder: Path) -> Try:
    words, command = source.choice([*_commands()])
    options = [one for one in command.params if isinstance(one, click.Option) and _wrong_for(one)]
    if not options:
        return Try((*words, "--nothing"), frozenset({254}))
    option = source.choice(options)
    return Try((*words, option.opts[0], source.choice(_wrong_for(option))), frozenset({254}))


def _commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    from tidemark.cli import tidemark

    for name, command in tidemark.commands.items():
        if isinstance(command, click.Group):
            yield from (((name, inner), one) for inner, one in command.commands.items())
        else:
            yield (name,), command


def _wrong_for(option: click.Option) -> tuple[str, ...]:
    if option.is_flag:
        return ()
    return next((values for kind, values in WRONG.items() if isinstance(option.type, kind)), ())


def _bad_file(source: random.Random, folder: Path) -> Try:
    command = source.choice(
        (
            "check",
            "export",
            "check --model register",
            "report --out page.html",
            "scenario",
            "run --plan",
            "scan",
            "canary",
        )
    )
    first, *more = command.split(" ")
    content = bytearray(LOG if first == "scan" else SETTINGS if first == "canary" else GOOD)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(content))
        source.choice(_DAMAGES)(content, at, source)
    if first == "scan":
        where = (
            folder
            / "brokers"
            / source.choice(("server.log", "server.log.1.gz", "logs.tar.gz", "t-0/00000000000000000000.log"))
        )
        shutil.rmtree(folder / "brokers", ignore_errors=True)
        where.parent.mkdir(parents=True)
        where.write_bytes(content)
        return Try((first, "brokers"), frozenset(DOCUMENTED))
    name = f"bad{source.choice(('.jsonl', '.edn', '.parquet', '.jsonl.gz', '.scenario', ''))}"
    (folder / name).write_bytes(content)
    if first == "canary":
        more = ["--bootstrap", "127.0.0.1:1", "--seconds", "1", "--client-config"]
    return Try((first, *more, name), frozenset(DOCUMENTED))


_DAMAGES: tuple[Callable[[bytearray, int, random.Random], object], ...] = (
    lambda content, at, _: content.__delitem__(slice(at, None)) if at else None,
    lambda content, at, source: content.__setitem__(at, source.randrange(256)),
    lambda content, at, source: content.__delitem__(slice(at, at + source.randint(1, 30))) if at else None,
    lambda content, at, source: content.__setitem__(slice(at, at), source.randbytes(source.randint(1, 9))),
)


def _signal(source: random.Random, folder: Path) -> Try:
    known = [*COMMANDS, FOREVER]
    words = tuple(source.choice(known).split())
    number = source.choice((signal.SIGINT, signal.SIGINT, signal.SIGTERM))
    return Try(
        words, frozenset(DOCUMENTED | ENDED), number, source.choice((0.2, 0.6, 1.0, 3.0)) * source.uniform(0.3, 1)
    )


def _closed_pipe(source: random.Random, folder: Path) -> Try:
    words = tuple(source.choice(COMMANDS).split())
    return Try(words, frozenset(DOCUMENTED), read=source.choice((0, 1, 100)))


def _full_disk(source: random.Random, folder: Path) -> Try:
    words = tuple(source.choice(COMMANDS).split())
    return Try(words, frozenset(DOCUMENTED | {255}), to="/dev/full")


def carry_out(one: Try, folder: Path) -> Told:
    """Let it run in the folder."""
    with open(one.to or os.devnull, "w") as nowhere:  # noqa: PTH123 (a device)
        out = subprocess.PIPE if one.read is not None else nowhere
        how = {"cwd": folder, "env": os.environ | NO_CONTAINERS, "stdin": subprocess.DEVNULL, "start_new_session": True}
        begun = subprocess.Popen([*PROGRAM, *one.words], stdout=out, stderr=subprocess.PIPE, **how)  # type: ignore[call-overload]
        if begun.stdout is not None:
            begun.stdout.read(one.read)
            begun.stdout.close()
        if one.signal:
            time.sleep(one.after)
            if begun.poll() is None:
                os.killpg(begun.pid, one.signal)
        assert begun.stderr is not None
        try:
            _, error = begun.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(begun.pid, signal.SIGKILL)
            return Told(None, begun.communicate()[1].decode(errors="replace"))
        return Told(begun.returncode, error.decode(errors="replace"))


def what_is_wrong(one: Try, told: Told) -> str:
    """In a few words; empty if nothing is. Before Python itself has begun, nobody can say what a signal means."""
    if one.signal and ("init_import_site" in told.error or told.error == BEFORE_US):
        return ""
    if told.code is None:
        return f"not over after {PATIENCE_S:g} s"
    if "Traceback" in told.error:
        return "a traceback"
    if told.code not in one.allowed:
        return f"exit code {told.code}"
    complaint = told.error.rstrip("\n")
    if told.code == 254 and (not complaint.startswith("tidemark: ") or "\n" in complaint):
        return "not one sentence"
    if told.code == 255 and "not all output could be written" not in complaint:
        return "an internal error"
    return ""

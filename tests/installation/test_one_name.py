"""No process holds a file of ours under two names: a class would then be two, and each would refuse the other's objects."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = ("nodes", "nemesis", "checkers", "harness", "pipeline", "tidemark")

AT_EXIT = """
import atexit, json, runpy, sys
from pathlib import Path

@atexit.register
def tell():
    files = [(name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items())]
    print("\\n" + json.dumps([(name, str(Path(file).resolve())) for name, file in files if file]))

"""


def ours(loaded):
    """Name → file of modules that lie in our folders."""
    found = {name: Path(file).relative_to(ROOT) for name, file in loaded if Path(file).is_relative_to(ROOT)}
    return {name: path for name, path in found.items() if path.parts[0] in OURS}


def misnamed(modules):
    """Those that are not loaded by the name that says where they lie."""
    for name, path in modules.items():
        parts = path.with_suffix("").parts
        parts = parts if parts[0] == "tidemark" else ("tidemark", *parts)
        if name not in (".".join(parts), ".".join(parts[:-1] if parts[-1] == "__init__" else parts), "__main__"):
            yield name


def test_this_process_does_not():
    loaded = [(name, file) for name, module in sys.modules.items() if (file := getattr(module, "__file__", None))]

    assert len(ours(loaded)) > 50
    assert list(misnamed(ours(loaded))) == []


@pytest.mark.parametrize(
    "program",
    [
        "sys.argv[1:] = ['run', '--variant', 'kafka-2.7', '--index', '0']; from tidemark.cli import main; main()",
        "sys.argv[1:] = ['scenario', 'kip-101-data-loss']; from tidemark.cli import main; main()",
        "sys.argv[1:] = ['--help']; runpy.run_module('tidemark.nodes.process', run_name='__main__')",
        "runpy.run_module('bench.simulator', run_name='bench.simulator')",
    ],
)
def test_nor_does_a_command_in_a_checkout(program, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{AT_EXIT}{program}"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    modules = ours(json.loads(done.stdout.splitlines()[-1]))

    assert "tidemark" in {name.partition(".")[0] for name in modules}, done.stderr
    assert list(misnamed(modules)) == []

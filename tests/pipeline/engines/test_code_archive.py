"""The zip of our code: the same bytes from the same code, and enough to run a plan where nothing of ours is installed."""

import subprocess
import sys
from pathlib import Path

from tidemark.pipeline.engines.code_archive import code_archive
from tidemark.pipeline.folder.code_digest import ROOMS

RUN_A_PLAN = """
import sys
sys.path.insert(0, sys.argv[1])
from tidemark import nodes
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate
plan, result = simulate(CampaignSpec("x", ("kafka-0.10",), plans=1, seed=7), "kafka-0.10", 0)
print(nodes.__file__, result.digest)
"""


def tree(root: Path, junk: str = "") -> Path:
    for room in ROOMS:
        (root / room / "__pycache__").mkdir(parents=True)
        (root / room / "__init__.py").write_text(f"ROOM = {room!r}\n")
        (root / room / "words.txt").write_text("data\n")
        (root / room / "__pycache__" / "x.cpython-311.pyc").write_text(junk)
    return root


def test_the_same_code_makes_the_same_bytes_in_any_folder(tmp_path: Path) -> None:
    one, two = tree(tmp_path / "one"), tree(tmp_path / "two", junk="compiled")
    (two / "nodes" / "__init__.py").touch()

    assert code_archive(one) == code_archive(two)
    (two / "nodes" / "words.txt").write_text("other data\n")
    code_archive.cache_clear()
    assert code_archive(one)[0] != code_archive(two)[0]


def test_a_plan_runs_from_it_as_it_does_here(tmp_path: Path) -> None:
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec
    from tidemark.pipeline.runs.simulate import simulate

    name, content = code_archive()
    path = tmp_path / name
    path.write_bytes(content)

    said = subprocess.run(
        [sys.executable, "-I", "-c", RUN_A_PLAN, path], capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout.split()

    _, result = simulate(CampaignSpec("x", ("kafka-0.10",), plans=1, seed=7), "kafka-0.10", 0)
    assert said == [str(path / "tidemark" / "nodes" / "__init__.py"), result.digest]

"""What decides about a run, and nothing else, decides whether a campaign can go on."""

import ast
from pathlib import Path

import pytest

from tidemark.pipeline.folder.code_digest import CONTAINED, ROOT, SIMULATED, changed, code_digest, code_parts

NAMES = (
    "nodes/core/log.py",
    "harness/simulator/execute.py",
    "tidemark/cli/compare.py",
    "pipeline/compare/compare.py",
    "pipeline/chunks/rows.py",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('"""Says something."""\nx = 1  # once\n')
    return tmp_path


@pytest.mark.parametrize("name", ["nodes/core/log.py", "harness/simulator/execute.py", "pipeline/chunks/rows.py"])
def test_what_can_change_a_run_or_a_table_counts(name: str, root: Path) -> None:
    before = code_parts("sim", root)
    (root / name).write_text('"""Says something."""\nx = 2\n')

    assert changed(before, code_parts("sim", root)) == [name]
    assert code_digest(before) != code_digest(code_parts("sim", root))


def test_words_pages_and_commands_do_not(root: Path) -> None:
    before = code_parts("sim", root)
    (root / "nodes/core/log.py").write_text('"""Says it better."""\n\nx = 1\n')
    (root / "tidemark/cli/compare.py").write_text("HELP = 'another'\n")
    (root / "pipeline/compare/compare.py").write_text("x = 2\n")

    assert code_parts("sim", root) == before


def test_a_recipe_decides_about_machines_only(root: Path) -> None:
    (root / "docker" / "node").mkdir(parents=True)
    (root / "docker" / "spark").mkdir()
    before = {world: code_parts(world, root) for world in ("sim", "docker")}
    (root / "docker" / "node" / "Dockerfile").write_text("FROM x")
    (root / "docker" / "spark" / "Dockerfile").write_text("FROM x")

    assert code_parts("sim", root) == before["sim"]
    assert changed(before["docker"], code_parts("docker", root)) == ["docker/node/Dockerfile"]


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {name for name in names if name.startswith("tidemark.")}


@pytest.mark.parametrize("rooms", [SIMULATED, CONTAINED])
def test_what_a_run_passes_through_imports_nothing_that_does_not_count(rooms: tuple[str, ...]) -> None:
    no_matter = {
        "tidemark.pipeline.folder.layout",
        "tidemark.pipeline.folder.record",
        "tidemark.pipeline.folder.evidence",
    }  # where things lie, not what they are
    if rooms is CONTAINED:
        no_matter.add("tidemark.harness.simulator.execute")  # of it only the plan is asked
    for room in rooms:
        place = ROOT / room
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            for name in imports(path) - no_matter:
                file = name.removeprefix("tidemark.").replace(".", "/")
                assert any(f"{file}.py" == one or f"{file}/".startswith(f"{one}/") for one in rooms), (path, name)

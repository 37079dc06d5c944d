"""The wheel holds all that pip must install, says what it is, and works where no checkout is."""

import email
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from readers_own import readers_own_packages

from tidemark.cli.extras import EXTRAS

ROOT = Path(__file__).parents[2]
ROOMS = ("nodes", "nemesis", "checkers", "harness", "pipeline")

pytestmark = [pytest.mark.slow, pytest.mark.systems]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built without a network from a checkout; of that nothing is left but what was there."""
    folder = tmp_path_factory.mktemp("wheel")
    for room in (*ROOMS, "tidemark"):
        shutil.copytree(ROOT / room, folder / "source" / room, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / file, folder / "source")
    git("init", "-q", at=folder / "source")
    git("add", "-A", at=folder / "source")
    git("commit", "-qm", "one", at=folder / "source")
    there = {*(folder / "source").rglob("*")}
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, *offline, "--wheel-dir", folder, folder / "source"], check=True)
    assert {*(folder / "source").rglob("*")} == there
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def git(*words, at):
    command = ["git", "-C", at, "-c", "user.name=x", "-c", "user.email=x@example.org", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    """Where pip would have put it."""
    folder = tmp_path_factory.mktemp("unpacked")
    wheel.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def metadata(wheel):
    """As pip reads it."""
    return email.message_from_bytes(wheel.read("tidemark_chaos-0.2.0.dist-info/METADATA"))


def test_it_holds_every_file_of_the_rooms_and_its_commit_and_nothing_else(wheel):
    files = {
        f"tidemark/{path.relative_to(place.parent if place.name in ROOMS else place).as_posix()}"
        for place in (ROOT / room for room in (*ROOMS, "tidemark"))
        for path in place.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == files | {"tidemark/commit.txt"}


def test_it_brings_one_name(wheel):
    assert {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" not in name} == {"tidemark"}


def test_it_works_beside_a_readers_own_packages_of_the_rooms_names(tidemark, python, unpacked, tmp_path):
    readers_own_packages(tmp_path)

    assert python("-c", "import tidemark", code=f"{tmp_path}:{unpacked}").stderr == ""
    assert tidemark("run", "--variant", "kafka-2.7", "--index", "0", code=f"{tmp_path}:{unpacked}")[0] == 0


def test_it_says_what_it_is(metadata):
    assert metadata["Name"] == "tidemark-chaos"
    assert metadata["Author"] == "The Tidemark authors"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "Find out whether a replicated log keeps its promises." in metadata.get_payload()


def test_it_comes_with_its_licence(wheel, metadata):
    licences = "tidemark_chaos-0.2.0.dist-info/licenses"

    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert wheel.read(f"{licences}/LICENSE").startswith(b"\n                                 Apache License\n")
    assert wheel.read(f"{licences}/NOTICE").startswith(b"Tidemark")


def test_it_asks_for_little_unless_extras_are_asked_for(metadata):
    required = metadata.get_all("Requires-Dist")

    assert [one for one in required if "extra ==" not in one] == ["click", "rich", "numpy", "msgspec"]
    assert metadata.get_all("Provides-Extra") == [*EXTRAS, "all"]


def test_it_installs_the_program_and_the_plugin_of_pytest(wheel):
    assert wheel.read("tidemark_chaos-0.2.0.dist-info/entry_points.txt").split() == (
        b"[console_scripts] tidemark = tidemark.command:main [pytest11] tidemark = tidemark.pytest_plugin".split()
    )


def test_it_tells_its_version_and_the_commit_that_it_was_built_from(tidemark, unpacked, wheel):
    commit = git("rev-parse", "--short=12", "HEAD", at=Path(wheel.filename).parent / "source")

    assert tidemark("--version", code=unpacked) == (0, f"tidemark, version 0.2.0 (commit {commit})\n", "")


def test_the_base_works_from_it(tidemark, unpacked):
    assert tidemark("scenario", "kip-101-data-loss", code=unpacked)[0] == 0
    assert tidemark("run", "--variant", "kafka-0.10", "--index", "98", code=unpacked)[0] == 1
    assert tidemark("check", "results/runs/kafka-0.10-1-98", code=unpacked)[0] == 1


@pytest.mark.systems
def test_pages_are_made_from_it(tidemark, unpacked):
    done = tidemark("run", "--variant", "kafka-0.10", "--index", "98", "--report", extras=("report",), code=unpacked)

    assert done[0] == 1


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (("compare",), "pip install 'tidemark-chaos[campaign]'"),
        (("compare", "--report"), "pip install 'tidemark-chaos[campaign,report]'"),
        (("run", "--report"), "pip install 'tidemark-chaos[report]'"),
        (("run", "--world", "docker"), "make env, in a checkout of Tidemark"),
        (("images", "build"), "make env, in a checkout of Tidemark"),
    ],
)
def test_where_no_checkout_is_pip_mends_all_but_containers(tidemark, unpacked, words, fix):
    code, out, error = tidemark(*words, code=unpacked)

    assert (code, out) == (254, "")
    assert error.endswith(f" not installed; run: {fix}\n")
    assert error.count("\n") == 1


def test_the_container_world_says_that_it_needs_a_checkout(python, unpacked):
    look = "from tidemark.harness.machines.node_code import lock_text; lock_text()"
    done = python("-c", look, extras=("containers",), code=unpacked)

    assert done.stderr.endswith(
        "requirements-node.lock is missing; the container world needs a checkout of Tidemark "
        "(make env, or pip install --editable)\n"
    )

"""Installations of the base and some extras, as pip would make them: links to those of the packages that are here."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
AS_INSTALLED = ROOT / ".venv" / "as-installed"
"""Links that `make env` makes, below tidemark as a wheel has the files."""

IN_TURN = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from tidemark.cli import main

told = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["tidemark", *words]
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as error:
        try:
            main()
        except SystemExit as end:
            told.append([end.code, out.getvalue(), error.getvalue()])
print(json.dumps(told))
"""


@pytest.fixture(scope="session")
def project():
    """The table ``[project]`` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="session")
def site_packages(project, tmp_path_factory):
    """Extras → a folder with the packages of the base and of these, and with what they need in turn."""
    made = {}

    def site_packages(*extras):
        if extras not in made:
            wanted = [*project["dependencies"]]
            for extra in extras:
                wanted += project["optional-dependencies"][extra]
            made[extras] = tmp_path_factory.mktemp("-".join(["base", *extras]))
            _link(_closure(wanted), made[extras])
        return made[extras]

    return site_packages


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory):
    """Where it is kept between tests: nothing is written beside the sources, and nothing compiled twice."""
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture
def python(site_packages, bytecode, tmp_path):
    """Run Python in an empty folder with some extras; ``-S`` leaves out the environment that the tests run in."""

    def python(*words, extras=(), code=AS_INSTALLED):
        return subprocess.run(
            [sys.executable, "-S", *map(str, words)],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(map(str, (site_packages(*extras), code))),
                "PYTHONDONTWRITEBYTECODE": "",
                "PYTHONPYCACHEPREFIX": str(bytecode),
                "COLUMNS": "200",
                "DOCKER_HOST": "tcp://127.0.0.1:1",  # no test here wants an engine
            },
            capture_output=True,
            text=True,
            check=False,
        )

    return python


@pytest.fixture
def tidemark(python):
    """Run the program with some extras; gives exit code, output and complaint."""

    def tidemark(*words, extras=(), code=AS_INSTALLED):
        program = "import sys; sys.argv[0] = 'tidemark'; from tidemark.cli import main; main()"
        done = python("-c", program, *words, extras=extras, code=code)
        return done.returncode, done.stdout, done.stderr

    return tidemark


@pytest.fixture
def tidemark_in_turn(python):
    """Run several commands in one process of the base; gives exit code, output and complaint of each."""

    def tidemark_in_turn(commands):
        commands = list(commands)
        told = json.loads(python("-c", IN_TURN, json.dumps(commands)).stdout)
        return {words: tuple(one) for words, one in zip(commands, told, strict=True)}

    return tidemark_in_turn


def _closure(requirements):
    """Names of the packages that are asked for, and of what they ask for in turn."""
    found, waiting = set(), [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        asked = {"", *requirement.extras}
        if name in found or (requirement.marker and not any(requirement.marker.evaluate({"extra": e}) for e in asked)):
            continue
        found.add(name)
        waiting += [
            inner
            for inner in map(Requirement, distribution(name).requires or [])
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in asked)
        ]
    return found


def _link(names, folder):
    for name in names:
        for top in {file.parts[0] for file in distribution(name).files} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(distribution(name).locate_file(top))

"""Where the packages lie: the rooms are folders at the top of the repository, and are installed below ``tidemark``.

A wheel that is built in a checkout holds its commit (`harness/runs/code_version.py`), for ``tidemark --version``.

All else about the distribution is in pyproject.toml, which has no word for this. What a build needs on its way lies in a folder of
its own, which goes when it ends: nothing is left in the tree, and nothing of an earlier build gets into a wheel.
"""

from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py

ROOMS = ("nodes", "nemesis", "checkers", "harness", "pipeline")


class BuildWithCommit(build_py):
    """Build the packages, and write down what they are built from."""

    def run(self) -> None:
        """Copy the packages, then add the commit, unless they stay where they are or git does not know it."""
        super().run()
        code_version = run_path("harness/runs/code_version.py")
        commit = code_version["commit_of_code"](Path.cwd())
        if not self.editable_mode and commit != code_version["UNKNOWN"]:
            place = Path(self.build_lib, "tidemark", code_version["BUILT_FROM"])
            place.write_text(f"{commit}\n", encoding="ascii")


inside = find_namespace_packages(
    include=[pattern for room in ROOMS for pattern in (room, f"{room}.*")], exclude=["*.__pycache__"]
)
with TemporaryDirectory(prefix="tidemark-build-") as on_the_way:
    setup(
        package_dir={"tidemark": "tidemark", **{f"tidemark.{room}": room for room in ROOMS}},
        packages=[
            *find_namespace_packages(include=["tidemark", "tidemark.*"], exclude=["*.__pycache__"]),
            *(f"tidemark.{name}" for name in inside),
        ],
        cmdclass={"build_py": BuildWithCommit},
        options={"build": {"build_base": on_the_way}, "egg_info": {"egg_base": on_the_way}},
    )

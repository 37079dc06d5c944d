"""Where the packages lie: the rooms are folders at the top of the repository, and are installed below ``tidemark``.

All else about the distribution is in pyproject.toml, which has no word for this.
"""

from setuptools import find_namespace_packages, setup

ROOMS = ("nodes", "nemesis", "checkers", "harness", "pipeline")

inside = find_namespace_packages(
    include=[pattern for room in ROOMS for pattern in (room, f"{room}.*")], exclude=["*.__pycache__"]
)
setup(
    package_dir={"tidemark": "tidemark", **{f"tidemark.{room}": room for room in ROOMS}},
    packages=[
        *find_namespace_packages(include=["tidemark", "tidemark.*"], exclude=["*.__pycache__"]),
        *(f"tidemark.{name}" for name in inside),
    ],
)

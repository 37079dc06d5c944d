"""Where the packages lie: the rooms are folders at the top of the repository, and are installed below ``tidemark``.

All else about the distribution is in pyproject.toml, which has no word for this. What a build needs on its way lies in a folder of
its own, which goes when it ends: nothing is left in the tree, and nothing of an earlier build gets into a wheel.
"""

from tempfile import TemporaryDirectory

from setuptools import find_namespace_packages, setup

ROOMS = ("nodes", "nemesis", "checkers", "harness", "pipeline")

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
        options={"build": {"build_base": on_the_way}, "egg_info": {"egg_base": on_the_way}},
    )

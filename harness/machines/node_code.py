"""What a machine needs to run a node process: our packages, and theirs from PyPI for that machine's Python.

The node's packages are installed here, for there: a node image or a foreign host needs no pip and no network.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import tidemark
from tidemark import nodes
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.folders import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

CHECKOUT = Path(__file__).resolve().parents[2]
LOCK = CHECKOUT / "requirements-node.lock"
OLDEST_GLIBC = 17
"""manylinux2014; every machine that has Python 3.11 has it."""
INSTALL_S = 600

PROBE = (
    "import os, platform, sys; "
    "print(*sys.version_info[:2], platform.machine(), os.confstr('CS_GNU_LIBC_VERSION') or 'none', sep=' ')"
)
"""Run by a machine's ``python3``, prints what :meth:`PythonPlatform.parse` reads."""


class PythonPlatform(NamedTuple):
    """A machine's Python, as far as wheels care: version, processor, and the minor version of its glibc 2."""

    major: int
    minor: int
    machine: str
    glibc: int

    @staticmethod
    def parse(text: str) -> PythonPlatform:
        """What :data:`PROBE` printed, e.g. ``3 11 x86_64 glibc 2.36``.

        Raises:
            ContainerWorldError: a Python older than 3.11, or no glibc.
        """
        try:
            major, minor, machine, libc, number = text.split()
            found = PythonPlatform(int(major), int(minor), machine, int(number.split(".")[1]))
        except (ValueError, IndexError):
            raise ContainerWorldError(
                f"nodes need a Linux with glibc and Python 3.11 or newer; there is '{text.strip()}'"
            ) from None
        if libc != "glibc" or (found.major, found.minor) < (3, 11):
            raise ContainerWorldError(
                f"nodes need glibc and Python 3.11 or newer; there is Python {major}.{minor} with {libc}"
            )
        return found

    @property
    def tags(self) -> list[str]:
        """The platforms whose wheels run there, as pip wants them, newest first."""
        new = [f"manylinux_2_{minor}_{self.machine}" for minor in range(self.glibc, OLDEST_GLIBC - 1, -1)]
        return [*new, f"manylinux2014_{self.machine}"]


def code_files() -> Iterator[tuple[str, bytes]]:
    """``(path, content)`` of every file of the packages in ``tidemark.nodes``, sorted by path, as installed here."""
    yield "tidemark/__init__.py", Path(tidemark.__file__).read_bytes()
    root = Path(nodes.__path__[0])
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"tidemark/nodes/{path.relative_to(root).as_posix()}", path.read_bytes()


def lock_text() -> bytes:
    """The node's lock file.

    Raises:
        ContainerWorldError: Tidemark was installed without its checkout.
    """
    try:
        return LOCK.read_bytes()
    except OSError:
        raise ContainerWorldError(
            f"{LOCK} is missing; the container world needs a checkout of Tidemark (make env, or pip install --editable)"
        ) from None


def site_packages(there: PythonPlatform, tell: Callable[[str], None]) -> Path:
    """A folder with the packages of requirements-node.lock for another Python; from the cache if they are there.

    Every file is checked against the lock's hashes.

    Raises:
        ContainerWorldError: pip cannot get them; the last thing it said is in the message.
    """
    lock = lock_text()
    key = hashlib.sha256(repr(there).encode() + lock).hexdigest()[:16]
    folder = cache_folder() / "site-packages" / f"{there.machine}-{there.major}.{there.minor}-{key}"
    if folder.is_dir():
        return folder
    tell(f"fetching the nodes' packages for Python {there.major}.{there.minor} on {there.machine}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder.parent))
    try:
        _pip_install(there, unfinished)
        unfinished.chmod(0o755)
        try:
            unfinished.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def package_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """``(path, content)`` of what :func:`site_packages` installed, without programs."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).parts[0] != "bin":
            yield f"site-packages/{path.relative_to(folder).as_posix()}", path.read_bytes()


def tar_of(files: Iterable[tuple[str, bytes]]) -> bytes:
    """A tar with these files and nothing of this computer in it: no owner, no times."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path, content in files:
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _pip_install(there: PythonPlatform, target: Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", "install"]
    command += ["--target", str(target), "--no-compile", "--no-deps", "--only-binary", ":all:"]
    command += ["--implementation", "cp", "--python-version", f"{there.major}.{there.minor}"]
    for tag in there.tags:
        command += ["--platform", tag]
    command += ["--require-hashes", "--requirement", str(LOCK)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        raise ContainerWorldError(
            f"pip did not get the nodes' packages within {INSTALL_S} s; is there a network?"
        ) from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["it said nothing"]
        errors = [line for line in said if line.startswith("ERROR")] or said
        raise ContainerWorldError(f"pip cannot get the nodes' packages: {errors[-1].removeprefix('ERROR: ')}")

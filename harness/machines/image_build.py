"""What images of every kind share: one build at a time, a name made of the content, the engine's build, what old ones become."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import re
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from docker.errors import APIError, ImageNotFound

from tidemark.harness.machines.errors import ImageError
from tidemark.harness.machines.folders import cache_folder
from tidemark.harness.machines.node_code import PROBE, PythonPlatform, package_files, site_packages, tar_of
from tidemark.harness.machines.survivor import survived

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from docker import DockerClient
    from docker.models.images import Image

LABEL = "tidemark.image"
"""Says of an image of ours what it is: ``base``, ``node``, ``kafka``, ``kafka-jars``."""
GRACE = timedelta(hours=2)
"""An image this young may be another run's, about to be used, even if its code is not ours."""
REFUSED = "tidemark: "
"""A step of a build that fails for a reason it knows prints a line that begins so."""


class BuiltImage(NamedTuple):
    """An image of ours: its name, id, age, size in bytes, whether it is what would be used now, and the Kafka it holds, if any."""

    name: str
    id: str
    created: str
    size: int
    current: bool
    version: str = ""


@contextmanager
def one_at_a_time(tell: Callable[[str], None] | None = None, what: str = "images") -> Iterator[None]:
    """Commands that start together do the work once; whoever comes second is told for whom it waits, and finds what is built.

    Args:
        tell: hears that.
        what: is made; who makes something else does not wait.
    """
    with (cache_folder() / f"{what}.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if tell is not None:
                tell(_who_has(file))
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"{os.getpid()} {time.time():.0f}")
        file.flush()
        survived()
        yield


def _who_has(file: IO[str]) -> str:
    """For whom this process waits, by what that one wrote into the lock's file."""
    file.seek(0)
    told = re.fullmatch(r"(\d+) (\d+)", file.read().strip())
    if told is None:
        return "waiting for another command that gets or builds an image"
    lasts = max(0, round(time.time()) - int(told[2]))
    return f"waiting for another command (process {told[1]}) that gets or builds an image, {lasts} s already"


def recipe_files(folder: Path, names: Iterable[str] | None = None) -> list[tuple[str, bytes]]:
    """``(name, content)`` of a folder's files, sorted by name.

    Args:
        folder: of the checkout.
        names: only these.

    Raises:
        ImageError: it is not there.
    """
    try:
        paths = sorted(folder.iterdir()) if names is None else [folder / name for name in sorted(names)]
        return [(path.name, path.read_bytes()) for path in paths if path.is_file()]
    except OSError:
        raise ImageError(f"{folder} is missing; building images needs a checkout of Tidemark") from None


def content_name(files: Iterable[tuple[str, bytes]], *words: bytes) -> str:
    """Twelve hex digits that stand for these files, and for the words that stand for what else goes in."""
    digest = hashlib.sha256(b"".join(words))
    for path, content in files:
        digest.update(f"\n{path} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def local_id(client: DockerClient, name: str) -> str | None:
    """The id of an image that this engine has."""
    try:
        return str(client.images.get(name).id)
    except ImageNotFound:
        return None


def build(
    client: DockerClient,
    files: Iterable[tuple[str, bytes]],
    arguments: Mapping[str, str],
    *,
    what: str = "the node image",
    dockerfile: str = "Dockerfile",
    labels: Mapping[str, str] | None = None,
    target: str | None = None,
    tag: str | None = None,
) -> str:
    """Build up to a stage.

    Args:
        client: of the engine.
        files: the build context.
        arguments: of the Dockerfile.
        what: how messages call the image.
        dockerfile: its name in the context.
        labels: that the image gets.
        target: the stage; the last one if not given.
        tag: the image's name.

    Returns:
        The image's id.

    Raises:
        ImageError: a step failed; the message says what it said, or which it was.
    """
    answer: Iterable[dict[str, Any]] = client.api.build(
        fileobj=io.BytesIO(tar_of(files)),
        custom_context=True,
        dockerfile=dockerfile,
        buildargs=dict(arguments),
        labels=dict(labels or {}),
        target=target,
        tag=tag,
        rm=True,
        forcerm=True,
        decode=True,
    )
    built, where, refused, failed = "", "", "", ""
    for step in answer:  # to its end, so that the connection is given back
        if "error" in step:
            failed = refused or f"{what} cannot be built: {step['error'].strip()}{where}"
        for line in step.get("stream", "").splitlines():
            if line.startswith("Step "):
                where = f" ({line.strip()})"
            elif line.startswith(REFUSED):
                refused = line.removeprefix(REFUSED).strip()
        built = step.get("aux", {}).get("ID", built)
    if failed:
        raise ImageError(failed)
    if not built:
        raise ImageError(f"{what} cannot be built: the engine named no image at the end")
    return built


def name_of(image: Image) -> str:
    """What a Dockerfile's FROM takes."""
    return str(image.tags[0] if image.tags else image.id)


def python_packages(client: DockerClient, image: str, tell: Callable[[str], None]) -> Iterator[tuple[str, bytes]]:
    """``(path, content)`` of the nodes' packages from PyPI for the Python of an image.

    Raises:
        ContainerWorldError: it has none that will do, or pip cannot get them.
    """
    output = client.containers.run(
        image,
        ["-c", PROBE],
        entrypoint="python3",
        network_mode="none",
        remove=True,
        labels=survived().labels("probe"),
    )
    return package_files(site_packages(PythonPlatform.parse(bytes(output).decode()), tell))


def is_old(image: Image) -> bool:
    """Whether no other run can be about to use it."""
    return datetime.now(UTC) - when(image.attrs["Created"]) >= GRACE


def discard(client: DockerClient, image: Image) -> None:
    """Remove an image, unless a container uses it or another process has just removed it."""
    for tag in image.tags or [str(image.id)]:
        try:
            client.images.remove(tag)
        except (APIError, ImageNotFound):
            return


def when(text: str) -> datetime:
    """An engine's time stamp: it has nine decimals, and Python's six."""
    return datetime.fromisoformat(text[:19] + "+00:00")

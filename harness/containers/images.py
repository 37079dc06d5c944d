"""The node image: built when it is wanted, named by a hash of everything that goes into it.

An image whose name is right is right: a changed line in ``nodes`` or in a lock gives another name, so a stale image is never
used, and a second build finds the first one's image at once.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from docker.errors import APIError, DockerException, ImageNotFound
from requests import RequestException

from harness.containers.base_image import DEFAULT, base_image, local_base, remember_base
from harness.containers.errors import ContainerWorldError, ImageError
from harness.containers.folders import cache_folder
from harness.containers.node_code import (
    CHECKOUT,
    PROBE,
    PythonPlatform,
    code_files,
    lock_text,
    package_files,
    site_packages,
    tar_of,
)
from harness.containers.owner import Owner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from docker import DockerClient
    from docker.models.images import Image

REPOSITORY = "tidemark/node"
LABEL = "tidemark.image"
RECIPE = CHECKOUT / "docker" / "node"
GRACE = timedelta(hours=2)
"""An image this young may be another run's, about to be used, even if its code is not ours."""


class BuiltImage(NamedTuple):
    """An image of ours: its name, id, age, size in bytes, and whether it is what would be built now."""

    name: str
    id: str
    created: str
    size: int
    current: bool


def ensure_image(client: DockerClient, tell: Callable[[str], None]) -> str:
    """The node image's id; it is built if this engine does not have it (tens of ms if it has).

    Raises:
        ImageError: see :func:`build_images`.
    """
    return build_images(client, tell=tell)


def build_images(
    client: DockerClient, *, base: str | None = None, tell: Callable[[str], None], rebuild: bool = False
) -> str:
    """Build the node image unless there is one of the same content; remove older ones that nobody uses.

    Args:
        client: of the engine.
        base: the base image to build on; else see :mod:`harness.containers.base_image`.
        tell: says what takes long.
        rebuild: build even so, on a fresh base.

    Returns:
        The image's id.

    Raises:
        ImageError: it cannot be built; the message says which step said what.
    """
    try:
        with _one_at_a_time():
            below = base_image(client, base, tell, fresh=rebuild)
            recipe = _recipe()
            name = f"{REPOSITORY}:{_content(recipe, below)}"
            built = None if rebuild else _local(client, name)
            if built is None:
                built = _make(client, recipe, below, name, tell)
            if base not in {None, DEFAULT}:
                remember_base(client, below)
    except ImageError:
        raise
    except (ContainerWorldError, DockerException, RequestException, OSError) as error:
        raise ImageError(f"the node image cannot be built: {error}") from None
    return built


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Commands that start together do the work once; whoever comes second finds what the first has built."""
    with (cache_folder() / "images.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(
    client: DockerClient, recipe: list[tuple[str, bytes]], below: Image, name: str, tell: Callable[[str], None]
) -> str:
    tell("building the node image")
    system = _build(client, recipe, below, target="system")
    there = PythonPlatform.parse(_probe(client, system))
    packages = site_packages(there, tell)
    built = _build(client, [*recipe, *package_files(packages)], below, tag=name)
    remove_old(client, keep=built)
    return built


def current_image(client: DockerClient) -> str | None:
    """The name of the node image that would be used now, if it is built; nothing is built, pulled or made.

    Raises:
        ContainerWorldError: the engine does not answer, or there is no checkout to build from.
    """
    try:
        below = local_base(client)
        name = f"{REPOSITORY}:{_content(_recipe(), below)}" if below is not None else ""
        return name if name and _local(client, name) else None
    except (DockerException, RequestException) as error:
        raise ImageError(f"the engine cannot be asked for its images: {error}") from None


def list_images(client: DockerClient) -> list[BuiltImage]:
    """Node and base images of this engine, newest first; none is built, pulled or made.

    Raises:
        ImageError: the engine does not answer.
    """
    try:
        below = local_base(client)
        current = {f"{REPOSITORY}:{_content(_recipe(), below)}", *below.tags} if below is not None else set()
        found = client.images.list(filters={"label": LABEL})
    except (DockerException, RequestException) as error:
        raise ImageError(f"the engine cannot be asked for its images: {error}") from None
    built = [
        BuiltImage(tag, str(image.id), image.attrs["Created"], image.attrs["Size"], tag in current)
        for image in found
        for tag in image.tags
    ]
    return sorted(built, key=lambda image: image.created, reverse=True)


def remove_old(client: DockerClient, keep: str) -> None:
    """Remove node images of another content, unless a container uses them or they are younger than two hours."""
    for image in client.images.list(filters={"label": f"{LABEL}=node"}):
        if image.id != keep and datetime.now(UTC) - _when(image.attrs["Created"]) >= GRACE:
            _discard(client, image)


def _discard(client: DockerClient, image: Image) -> None:
    for tag in image.tags or [str(image.id)]:
        try:
            client.images.remove(tag)
        except (APIError, ImageNotFound):
            return  # in use, or just removed by another process


def _when(text: str) -> datetime:
    """Docker's time stamps have nine decimals, and Python's six."""
    return datetime.fromisoformat(text[:19] + "+00:00")


def _recipe() -> list[tuple[str, bytes]]:
    """``(path, content)`` of what the image is built from, but for the PyPI packages, which the lock stands for."""
    try:
        files = [(path.name, path.read_bytes()) for path in sorted(RECIPE.iterdir()) if path.is_file()]
    except OSError:
        raise ImageError(f"{RECIPE} is missing; building images needs a checkout of Tidemark") from None
    return [*files, *code_files()]


def _content(recipe: Iterable[tuple[str, bytes]], below: Image) -> str:
    digest = hashlib.sha256(f"{below.id}\n".encode() + lock_text())
    for path, content in recipe:
        digest.update(f"\n{path} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def _local(client: DockerClient, name: str) -> str | None:
    """The id of an image that this engine has."""
    try:
        return str(client.images.get(name).id)
    except ImageNotFound:
        return None


def _build(
    client: DockerClient,
    files: Iterable[tuple[str, bytes]],
    below: Image,
    *,
    target: str | None = None,
    tag: str | None = None,
) -> str:
    """Build up to a stage; the image's id."""
    answer: Iterable[dict[str, Any]] = client.api.build(
        fileobj=io.BytesIO(tar_of(files)),
        custom_context=True,
        buildargs={"BASE_IMAGE": below.tags[0] if below.tags else below.id},
        labels={LABEL: "node"} if tag else {},
        target=target,
        tag=tag,
        rm=True,
        forcerm=True,
        decode=True,
    )
    built, said = "", ""
    for step in answer:
        if "error" in step:
            raise ImageError(f"the node image cannot be built: {step['error'].strip()}{said}")
        if (line := step.get("stream", "").strip()).startswith("Step "):
            said = f" ({line})"
        built = step.get("aux", {}).get("ID", built)
    if not built:
        raise ImageError("the node image cannot be built: the engine named no image at the end")
    return built


def _probe(client: DockerClient, image: str) -> str:
    """What Python the image has."""
    output = client.containers.run(
        image,
        ["-c", PROBE],
        entrypoint="python3",
        network_mode="none",
        remove=True,
        labels=Owner.this_process().labels("probe"),
    )
    return bytes(output).decode()

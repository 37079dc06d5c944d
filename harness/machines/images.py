"""The node image: built when it is wanted, named by a hash of everything that goes into it.

An image whose name is right is right: a changed line in ``nodes`` or in a lock gives another name, so a stale image is never
used, and a second build finds the first one's image at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docker.errors import DockerException
from requests import RequestException

from tidemark.harness.machines.base_image import DEFAULT, base_image, local_base, remember_base
from tidemark.harness.machines.errors import ContainerWorldError, ImageError
from tidemark.harness.machines.image_build import (
    LABEL,
    BuiltImage,
    build,
    content_name,
    discard,
    is_old,
    local_id,
    name_of,
    one_at_a_time,
    python_packages,
    recipe_files,
)
from tidemark.harness.machines.node_code import CHECKOUT, code_files, lock_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from docker import DockerClient
    from docker.models.images import Image

REPOSITORY = "tidemark/node"
RECIPE = CHECKOUT / "docker" / "node"
KINDS = ("node", "base")
"""What is listed here; images of other systems list themselves."""


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
        base: the base image to build on; else see :mod:`tidemark.harness.machines.base_image`.
        tell: says what takes long.
        rebuild: build even so, on a fresh base.

    Returns:
        The image's id.

    Raises:
        ImageError: it cannot be built; the message says which step said what.
    """
    try:
        with one_at_a_time(tell):
            below = base_image(client, base, tell, fresh=rebuild)
            recipe = _recipe()
            name = _name(recipe, below)
            built = None if rebuild else local_id(client, name)
            if built is None:
                built = _make(client, recipe, below, name, tell)
            if base not in {None, DEFAULT}:
                remember_base(client, below)
    except ImageError:
        raise
    except (ContainerWorldError, DockerException, RequestException, OSError) as error:
        raise ImageError(f"the node image cannot be built: {error}") from None
    return built


def _make(
    client: DockerClient, recipe: list[tuple[str, bytes]], below: Image, name: str, tell: Callable[[str], None]
) -> str:
    tell("building the node image")
    arguments = {"BASE_IMAGE": name_of(below)}
    system = build(client, recipe, arguments, target="system")
    built = build(
        client, [*recipe, *python_packages(client, system, tell)], arguments, labels={LABEL: "node"}, tag=name
    )
    remove_old(client, keep=built)
    return built


def current_image(client: DockerClient) -> str | None:
    """The name of the node image that would be used now, if it is built; nothing is built, pulled or made.

    Raises:
        ContainerWorldError: the engine does not answer, or there is no checkout to build from.
    """
    try:
        below = local_base(client)
        name = _name(_recipe(), below) if below is not None else ""
        return name if name and local_id(client, name) else None
    except (DockerException, RequestException) as error:
        raise ImageError(f"the engine cannot be asked for its images: {error}") from None


def list_images(client: DockerClient) -> list[BuiltImage]:
    """Node and base images of this engine, newest first; none is built, pulled or made.

    Raises:
        ImageError: the engine does not answer.
    """
    try:
        below = local_base(client)
        current = {_name(_recipe(), below), *below.tags} if below is not None else set()
        found = [image for kind in KINDS for image in client.images.list(filters={"label": f"{LABEL}={kind}"})]
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
        if image.id != keep and is_old(image):
            discard(client, image)


def _recipe() -> list[tuple[str, bytes]]:
    """``(path, content)`` of what the image is built from, but for the PyPI packages, which the lock stands for."""
    return [*recipe_files(RECIPE), *code_files()]


def _name(recipe: list[tuple[str, bytes]], below: Image) -> str:
    content = content_name(recipe, f"{below.id}\n".encode(), lock_text())
    return f"{REPOSITORY}:{content}"

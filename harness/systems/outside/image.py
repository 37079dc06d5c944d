"""The image of a system's nodes: Tidemark's own, with what the system wants on it; named by its content, like all images."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from docker.errors import DockerException
from requests import RequestException

from tidemark.harness.machines.errors import ImageError
from tidemark.harness.machines.image_build import LABEL, build, content_name, discard, is_old, local_id, one_at_a_time
from tidemark.harness.machines.images import ensure_image
from tidemark.harness.systems.outside.jars import MANUALS, stage_of_jars, taken_from_stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from docker import DockerClient

    from tidemark.harness.systems.outside.real_system import Install

REPOSITORY = "tidemark/outside"
KIND = "outside"


def build_image(client: DockerClient, name: str, install: Install, tell: Callable[[str], None]) -> str:
    """Build it unless there is one of the same content; remove older ones that nobody uses.

    Args:
        client: of the engine.
        name: of the system, for people.
        install: what is wanted.
        tell: says what takes long.

    Returns:
        The image's id.

    Raises:
        ImageError: it cannot be built.
    """
    below = ensure_image(client, tell)
    if not (install.packages or install.files or install.jars or install.commands):
        return below
    try:
        with one_at_a_time(tell):
            context = _context(install)
            tag = f"{REPOSITORY}:{content_name(context, below.encode())}"
            found = local_id(client, tag)
            if found is None:
                tell(f"building the image of {name}")
                found = build(
                    client, context, {"BELOW": below}, what=f"the image of {name}", labels={LABEL: KIND}, tag=tag
                )
                _remove_old(client, found)
    except (DockerException, RequestException, OSError) as error:
        raise ImageError(f"the image of {name} cannot be built: {error}") from None
    return found


def _context(install: Install) -> list[tuple[str, bytes]]:
    files, stage = stage_of_jars(install.jars)
    lines = ["ARG BELOW", *stage, "FROM ${BELOW}"]
    if install.packages:
        packages = " ".join(map(quote, sorted(install.packages)))
        lines.append(
            f"RUN mkdir -p {MANUALS} && apt-get update -q "
            f"&& apt-get install -qy --no-install-recommends {packages} && apt-get clean"
        )
    for number, (there, content) in enumerate(sorted(install.files.items())):
        files.append((f"files/{number}", content.read_bytes() if isinstance(content, Path) else content))
        lines.append(f'COPY ["files/{number}", "{there}"]')
        lines.append(f"RUN chmod 755 {quote(there)}")
    lines += taken_from_stage(install.jars)
    lines += [f"RUN {command}" for command in install.commands]
    return [*files, ("Dockerfile", "\n".join([*lines, ""]).encode())]


def _remove_old(client: DockerClient, keep: str) -> None:
    for image in client.images.list(filters={"label": f"{LABEL}={KIND}"}):
        if image.id != keep and is_old(image):
            discard(client, image)

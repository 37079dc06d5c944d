"""A command in a container of its own: files in, files out, and the container is gone."""

from __future__ import annotations

import io
import tarfile
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING

from docker.errors import DockerException
from requests.exceptions import RequestException

from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.node_code import tar_of
from tidemark.harness.machines.survivor import survived

if TYPE_CHECKING:
    from collections.abc import Mapping

    from docker import DockerClient

IN, OUT = "/tmp/in", "/tmp/out"  # noqa: S108 (in the container)
PATIENCE_S = 600


def run_once(client: DockerClient, image: str, script: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """What a script of the shell leaves in its folder ``/tmp/out``.

    Args:
        client: of the engine.
        image: that it runs in, without a network.
        script: finds its files in ``/tmp/in``.
        files: path → content.

    Raises:
        ContainerWorldError: it cannot be run, or fails.
    """
    name = f"once-{token_hex(4)}"
    try:
        container = client.containers.create(
            image,
            ["-c", f"mkdir -p {OUT}\n{script}"],
            entrypoint="sh",
            name=f"tidemark-{name}",
            network_mode="none",
            labels=survived().labels(name),
        )
        try:
            container.put_archive("/", tar_of((f"{IN}/{path}".lstrip("/"), content) for path, content in files.items()))
            container.start()
            code = container.wait(timeout=PATIENCE_S)["StatusCode"]
            if code:
                last = container.logs(tail=3).decode(errors="replace").strip()
                raise ContainerWorldError(f"a command in a container of {image} failed ({code}): {last}")
            chunks, _ = container.get_archive(OUT)
            return _unpacked(b"".join(chunks))
        finally:
            with suppress(DockerException, RequestException):
                container.remove(force=True, v=True)
    except (DockerException, RequestException, OSError) as error:
        raise ContainerWorldError(f"no command can be run in a container of {image}: {error}") from None


def _unpacked(data: bytes) -> dict[str, bytes]:
    found = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                found[member.name.partition("/")[2]] = content.read()
    return found

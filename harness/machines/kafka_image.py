"""The images that brokers of Apache Kafka run from: a node's machine, with Java and the jars of one version.

A version's jars are got once, from Maven or from a ready image of Kafka, and kept as an image of their own. The image that
brokers run from is named by a hash like the node image, and like it needs no network when only Tidemark's code has changed.
"""

from __future__ import annotations

import re
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from docker.errors import DockerException, ImageNotFound
from requests import RequestException

from tidemark.harness.machines.base_image import DEFAULT, base_image, local_base, named_image, remember_base
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

REPOSITORY = "tidemark/kafka"
JARS_REPOSITORY = "tidemark/kafka-jars"
KIND = "kafka"
VERSION_LABEL = "tidemark.kafka"
SOURCE_LABEL = "tidemark.kafka-from"
"""Says where jars are from: ``maven HASH`` or ``IMAGE FOLDER``."""
MAVEN = "maven"
LIBS = "/opt/kafka/libs"
"""Where Kafka's own images have the jars, and ours too."""
RECIPE = CHECKOUT / "docker" / "kafka"
NODE_RECIPE = CHECKOUT / "docker" / "node"
NODE_SYSTEM = ("install-packages", "packages")
NODE_FILES = (*NODE_SYSTEM, "entrypoint", "sshd_config")
READY_FILES = ("Dockerfile.ready", "java-packages", "one-logger")
JARS_FILES = ("Dockerfile.jars", "fetch-jars", "java-packages", "maven-packages", "pom.xml", "trust-certificates")
BROKER_FILES = ("Dockerfile", "java-packages", "prepare-kafka")
OLDEST = (2, 4, 0)
"""The first Kafka for Scala 2.13, the only one that all later ones have."""
TRUSTED = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where Debian, Fedora, SUSE, and Alpine and macOS keep whom they trust."""


class ReadyKafka(NamedTuple):
    """Somebody's image of Kafka to take the jars from: its name, and the folder they are in."""

    image: str
    libs: str = LIBS

    @property
    def source(self) -> str:
        """As :data:`SOURCE_LABEL` has it."""
        return f"{self.image} {self.libs}"


def build_kafka_image(
    client: DockerClient,
    version: str,
    tell: Callable[[str], None],
    *,
    ready: ReadyKafka | None = None,
    base: str | None = None,
    rebuild: bool = False,
) -> str:
    """Build a Kafka's image unless there is one of the same content; remove older ones that nobody uses.

    Args:
        client: of the engine.
        version: such as ``2.8.2``.
        tell: says what takes long.
        ready: take the jars from there instead of Maven, now and for later builds of this version.
        base: the base image to build on; else see :mod:`tidemark.harness.machines.base_image`.
        rebuild: build even so, on a fresh base; without ``ready``, with jars from Maven.

    Returns:
        The image's id.

    Raises:
        ImageError: there is no such version, or it cannot be had or built; the message is one sentence.
    """
    check_version(version)
    try:
        with one_at_a_time():
            below = base_image(client, base, tell, fresh=rebuild)
            jars = None if rebuild else _local_jars(client, version, ready)
            if jars is None:
                jars = _get_jars(client, version, below, ready, tell)
            recipe = _recipe()
            name = _name(version, recipe, below, jars)
            built = None if rebuild else local_id(client, name)
            if built is None:
                built = _make(client, version, recipe, below, name, tell)
            if base not in {None, DEFAULT}:
                remember_base(client, below)
    except ImageError:
        raise
    except (ContainerWorldError, DockerException, RequestException, OSError) as error:
        raise ImageError(f"the image of Kafka {version} cannot be built: {error}") from None
    return built


def check_version(version: str) -> None:
    """Refuse what cannot be the number of a Kafka that can be had.

    Raises:
        ImageError: in one sentence.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ImageError(f"'{version}' is no version of Kafka; give its three numbers, such as 2.8.2")
    if tuple(map(int, version.split("."))) < OLDEST:
        raise ImageError(
            f"Kafka {version} is older than {'.'.join(map(str, OLDEST))}, the oldest that is packaged here; "
            f"2.8.2 speaks the protocols of older ones, such as kafka:2.8.2@0.10.2"
        )


def list_kafka_images(client: DockerClient) -> list[BuiltImage]:
    """Kafka's images of this engine, newest first; none is built, pulled or made.

    Raises:
        ImageError: the engine does not answer, or there is no checkout.
    """
    try:
        below = local_base(client)
        recipe = _recipe()
        found = [
            BuiltImage(
                tag,
                str(image.id),
                image.attrs["Created"],
                image.attrs["Size"],
                current=tag == _current_name(client, image, recipe, below),
                version=image.labels.get(VERSION_LABEL, ""),
            )
            for image in client.images.list(filters={"label": f"{LABEL}={KIND}"})
            for tag in image.tags
        ]
    except (DockerException, RequestException) as error:
        raise ImageError(f"the engine cannot be asked for its images: {error}") from None
    return sorted(found, key=lambda image: image.created, reverse=True)


def _local_jars(client: DockerClient, version: str, ready: ReadyKafka | None) -> Image | None:
    """The jars of an earlier build, if they are from where they are wanted from; a ready image is remembered."""
    try:
        jars = client.images.get(f"{JARS_REPOSITORY}:{version}")
    except ImageNotFound:
        return None
    source = jars.labels.get(SOURCE_LABEL, "")
    if ready is not None:
        return jars if source == ready.source else None
    return jars if source == _maven_source() or not source.startswith(f"{MAVEN} ") else None


def _maven_source() -> str:
    return f"{MAVEN} {content_name(recipe_files(RECIPE, ('pom.xml',)))}"


def _get_jars(
    client: DockerClient, version: str, below: Image, ready: ReadyKafka | None, tell: Callable[[str], None]
) -> Image:
    name = f"{JARS_REPOSITORY}:{version}"
    before = local_id(client, name)
    arguments = {"BASE_IMAGE": name_of(below), "KAFKA": version}
    if ready is None:
        tell(f"getting Kafka {version} from Maven")
        files = [*recipe_files(RECIPE, JARS_FILES), *recipe_files(NODE_RECIPE, NODE_SYSTEM)]
        files.append(("certificates.pem", trusted_certificates()))
        source, dockerfile = _maven_source(), "Dockerfile.jars"
    else:
        arguments |= {"READY": name_of(_ready_image(client, ready.image, tell)), "LIBS": ready.libs}
        tell(f"taking Kafka {version} from {ready.image}")
        files = [*recipe_files(RECIPE, READY_FILES), *recipe_files(NODE_RECIPE, NODE_SYSTEM)]
        source, dockerfile = ready.source, "Dockerfile.ready"
    labels = {LABEL: "kafka-jars", VERSION_LABEL: version, SOURCE_LABEL: source}
    what = f"Kafka {version}"
    try:
        build(client, files, arguments, what=what, dockerfile=dockerfile, labels=labels, tag=name)
    except ImageError as error:
        if ready is not None and "COPY failed" in str(error):
            raise ImageError(
                f"{ready.image} has no folder {ready.libs}; say where its jars are with --ready-libs"
            ) from None
        raise
    jars = client.images.get(name)
    if before is not None and before != jars.id:
        discard(client, client.images.get(before))
    return jars


def _ready_image(client: DockerClient, name: str, tell: Callable[[str], None]) -> Image:
    try:
        return named_image(client, name, tell)
    except ImageError as error:
        raise ImageError(f"{error}; name another ready image, or leave it away: Maven has Kafka, too") from None


def _make(
    client: DockerClient,
    version: str,
    recipe: list[tuple[str, bytes]],
    below: Image,
    name: str,
    tell: Callable[[str], None],
) -> str:
    tell(f"building the image of Kafka {version}")
    what = f"the image of Kafka {version}"
    arguments = {"BASE_IMAGE": name_of(below), "JARS_IMAGE": f"{JARS_REPOSITORY}:{version}", "KAFKA": version}
    system = build(client, recipe, arguments, what=what, target="system")
    files = [*recipe, *python_packages(client, system, tell)]
    labels = {LABEL: KIND, VERSION_LABEL: version}
    built = build(client, files, arguments, what=what, labels=labels, tag=name)
    _remove_old(client, recipe, below)
    return built


def _remove_old(client: DockerClient, recipe: list[tuple[str, bytes]], below: Image) -> None:
    """Remove Kafka images of another content, unless a container uses them or they are younger than two hours."""
    for image in client.images.list(filters={"label": f"{LABEL}={KIND}"}):
        if is_old(image) and _current_name(client, image, recipe, below) not in image.tags:
            discard(client, image)


def _recipe() -> list[tuple[str, bytes]]:
    """``(path, content)`` of what the image is built from, but for jars and PyPI packages."""
    return [*recipe_files(RECIPE, BROKER_FILES), *recipe_files(NODE_RECIPE, NODE_FILES), *code_files()]


def _name(version: str, recipe: list[tuple[str, bytes]], below: Image, jars: Image) -> str:
    content = content_name(recipe, f"{version}\n{below.id}\n{jars.id}\n".encode(), lock_text())
    return f"{REPOSITORY}:{version}-{content}"


def _current_name(
    client: DockerClient, image: Image, recipe: list[tuple[str, bytes]], below: Image | None
) -> str | None:
    """What an image of the same version would be called now."""
    version = image.labels.get(VERSION_LABEL, "")
    jars = _local_jars(client, version, None)
    return _name(version, recipe, below, jars) if below is not None and jars is not None else None


def trusted_certificates() -> bytes:
    """Whom this computer trusts, as PEM: a build reaches Maven's repository the way this computer would."""
    candidates = (ssl.get_default_verify_paths().cafile, *TRUSTED)
    found = next((Path(path) for path in candidates if path and Path(path).is_file()), None)
    return found.read_bytes() if found else b""

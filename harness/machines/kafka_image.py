"""The images that brokers of Apache Kafka run from: a node's machine, with Java and the jars of one version.

A version's jars are got once, from Maven or from a ready image of Kafka, and kept as an image of their own. So are those of a
Kafka that somebody built, by their digest. The image that brokers run from is named by a hash like the node image, and like it
needs no network when only Tidemark's code has changed.
"""

from __future__ import annotations

import re
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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

    from tidemark.harness.machines.kafka_build import KafkaBuild

REPOSITORY = "tidemark/kafka"
JARS_REPOSITORY = "tidemark/kafka-jars"
KIND = "kafka"
VERSION_LABEL = "tidemark.kafka"
SOURCE_LABEL = "tidemark.kafka-from"
"""Says where jars are from: ``maven HASH``, ``IMAGE FOLDER`` or ``build DIGEST``."""
MAVEN = "maven"
BUILD = "build"
JARS = "kafka-jars"
LIBS = "/opt/kafka/libs"
"""Where Kafka's own images have the jars, and ours too."""
RECIPE = CHECKOUT / "docker" / "kafka"
NODE_RECIPE = CHECKOUT / "docker" / "node"
NODE_SYSTEM = ("install-packages", "packages")
NODE_FILES = (*NODE_SYSTEM, "entrypoint", "sshd_config")
READY_FILES = ("Dockerfile.ready", "java-packages", "one-logger")
JARS_FILES = ("Dockerfile.jars", "fetch-jars", "java-packages", "maven-packages", "pom.xml", "trust-certificates")
BUILT_FILES = ("Dockerfile.built", "java-packages", "one-logger")
BROKER_FILES = ("Dockerfile", "java-packages", "prepare-kafka")
UPGRADE_FILES = ("Dockerfile.upgrade",)
UPGRADE = "kafka-upgrade"
"""The kind of an image that has two releases."""
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
    build_of: KafkaBuild | None = None,
    base: str | None = None,
    rebuild: bool = False,
) -> str:
    """Build a Kafka's image unless there is one of the same content; remove older ones that nobody uses.

    Args:
        client: of the engine.
        version: such as ``2.8.2``.
        tell: says what takes long.
        ready: take the jars from there instead of Maven, now and for later builds of this version.
        build_of: somebody's own Kafka of this version, instead of the released one.
        base: the base image to build on; else see :mod:`tidemark.harness.machines.base_image`.
        rebuild: build even so, on a fresh base; without ``ready``, with jars from Maven.

    Returns:
        The image's id.

    Raises:
        ImageError: there is no such version, or it cannot be had or built; the message is one sentence.
    """
    check_version(version)
    edition = build_of.edition if build_of else version
    try:
        with one_at_a_time(tell):
            below = base_image(client, base, tell, fresh=rebuild)
            jars = None if rebuild else _local_jars(client, edition, ready)
            if jars is None and build_of:
                jars = _built_jars(client, build_of, below, tell)
            recipe = _recipe()
            if jars is None:
                with ThreadPoolExecutor(1, "what brokers need besides") as beside:
                    beside.submit(_get_ready, client, version, recipe, below)
                    jars = _get_jars(client, version, below, ready, tell)
            name = _name(edition, recipe, below, jars)
            built = None if rebuild else local_id(client, name)
            if built is None:
                built = _make(client, edition, recipe, below, name, tell)
            if base not in {None, DEFAULT}:
                remember_base(client, below)
    except ImageError:
        raise
    except (ContainerWorldError, DockerException, RequestException, OSError) as error:
        raise ImageError(f"the image of Kafka {version} cannot be built: {error}") from None
    return built


def build_upgrade_image(client: DockerClient, older: str, newer: str, tell: Callable[[str], None]) -> str:
    """Build an image that has two releases, each in ``/opt/kafka-VERSION``, unless there is one of the same content.

    Returns:
        The image's id.

    Raises:
        ImageError: one of them cannot be had or built; the message is one sentence.
    """
    ids = [build_kafka_image(client, version, tell) for version in (older, newer)]
    files = recipe_files(RECIPE, UPGRADE_FILES)
    name = f"{REPOSITORY}:{older}..{newer}-{content_name(files, ' '.join(ids).encode())}"
    try:
        with one_at_a_time(tell):
            if (built := local_id(client, name)) is None:
                tell(f"putting Kafka {older} and {newer} into one image")
                arguments = {"OLDER_IMAGE": ids[0], "NEWER_IMAGE": ids[1], "OLDER": older, "NEWER": newer}
                what = f"the image of Kafka {older} and {newer}"
                labels = {LABEL: UPGRADE}
                built = build(client, files, arguments, what=what, dockerfile=UPGRADE_FILES[0], labels=labels, tag=name)
                for image in client.images.list(filters={"label": f"{LABEL}={UPGRADE}"}):
                    if is_old(image) and name not in image.tags:
                        discard(client, image)
    except ImageError:
        raise
    except (ContainerWorldError, DockerException, RequestException, OSError) as error:
        raise ImageError(f"the image of Kafka {older} and {newer} cannot be built: {error}") from None
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


def _local_jars(client: DockerClient, edition: str, ready: ReadyKafka | None) -> Image | None:
    """The jars of an earlier build, if they are from where they are wanted from; a ready image is remembered."""
    try:
        jars = client.images.get(f"{JARS_REPOSITORY}:{edition}")
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
    labels = {LABEL: JARS, VERSION_LABEL: version, SOURCE_LABEL: source}
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


def _built_jars(client: DockerClient, build_of: KafkaBuild, below: Image, tell: Callable[[str], None]) -> Image:
    """The jars of somebody's own Kafka; those of others, unless they are younger than two hours, are removed."""
    arguments = {"BASE_IMAGE": name_of(below)}
    if build_of.in_front:
        release = build_of.version
        jars = _local_jars(client, release, None) or _get_jars(client, release, below, None, tell)
        files = [*recipe_files(RECIPE, ("Dockerfile.in-front",)), *_in_folder("in-front", build_of)]
        dockerfile, arguments = "Dockerfile.in-front", {"JARS_IMAGE": name_of(jars)}
    else:
        files = [
            *recipe_files(RECIPE, BUILT_FILES),
            *recipe_files(NODE_RECIPE, NODE_SYSTEM),
            *_in_folder("libs", build_of),
        ]
        dockerfile = "Dockerfile.built"
    tell(f"taking Kafka {build_of.version} from {build_of.path}")
    labels = {LABEL: JARS, VERSION_LABEL: build_of.edition, SOURCE_LABEL: f"{BUILD} {build_of.digest}"}
    name = f"{JARS_REPOSITORY}:{build_of.edition}"
    build(client, files, arguments, what=f"Kafka {build_of.version}", dockerfile=dockerfile, labels=labels, tag=name)
    for image in client.images.list(filters={"label": f"{LABEL}={JARS}"}):
        if image.labels.get(SOURCE_LABEL, "").startswith(f"{BUILD} ") and is_old(image) and name not in image.tags:
            discard(client, image)
    return client.images.get(name)


def _in_folder(folder: str, build_of: KafkaBuild) -> list[tuple[str, bytes]]:
    return [(f"{folder}/{name}", content) for name, content in build_of.jars()]


def _ready_image(client: DockerClient, name: str, tell: Callable[[str], None]) -> Image:
    try:
        return named_image(client, name, tell)
    except ImageError as error:
        raise ImageError(f"{error}; name another ready image, or leave it away: Maven has Kafka, too") from None


def _get_ready(client: DockerClient, version: str, recipe: list[tuple[str, bytes]], below: Image) -> None:
    """Java, and the nodes' packages, while the jars are got. What fails here is tried again, and then told."""
    with suppress(ContainerWorldError, DockerException, RequestException, OSError):
        python_packages(client, name_of(below), lambda _: None)
        build(client, recipe, {"BASE_IMAGE": name_of(below)}, what=f"the image of Kafka {version}", target="java")


def _make(
    client: DockerClient,
    edition: str,
    recipe: list[tuple[str, bytes]],
    below: Image,
    name: str,
    tell: Callable[[str], None],
) -> str:
    version = edition.partition("-")[0]
    tell(f"building the image of Kafka {version}")
    what = f"the image of Kafka {version}"
    arguments = {"BASE_IMAGE": name_of(below), "JARS_IMAGE": f"{JARS_REPOSITORY}:{edition}", "KAFKA": version}
    system = build(client, recipe, arguments, what=what, target="system")
    files = [*recipe, *python_packages(client, system, tell)]
    labels = {LABEL: KIND, VERSION_LABEL: edition}
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


def _name(edition: str, recipe: list[tuple[str, bytes]], below: Image, jars: Image) -> str:
    content = content_name(recipe, f"{edition}\n{below.id}\n{jars.id}\n".encode(), lock_text())
    return f"{REPOSITORY}:{edition}-{content}"


def _current_name(
    client: DockerClient, image: Image, recipe: list[tuple[str, bytes]], below: Image | None
) -> str | None:
    """What an image of the same Kafka would be called now."""
    edition = image.labels.get(VERSION_LABEL, "")
    jars = _local_jars(client, edition, None)
    return _name(edition, recipe, below, jars) if below is not None and jars is not None else None


def trusted_certificates() -> bytes:
    """Whom this computer trusts, as PEM: a build reaches Maven's repository the way this computer would."""
    candidates = (ssl.get_default_verify_paths().cafile, *TRUSTED)
    found = next((Path(path) for path in candidates if path and Path(path).is_file()), None)
    return found.read_bytes() if found else b""

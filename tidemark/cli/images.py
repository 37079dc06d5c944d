"""``tidemark images``: what the nodes' containers run from."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click
from rich.table import Table

from tidemark.cli.docker_client import engine, telling
from tidemark.cli.exits import VALID
from tidemark.cli.options import json_option
from tidemark.cli.output import output
from tidemark.cli.system_option import OWN, system_called
from tidemark.cli.typed_options import Options, flag, option, shared, taking

if TYPE_CHECKING:
    from tidemark.harness.machines.kafka_build import KafkaBuild

BUILD_EPILOG = """\b
Examples:
  tidemark images build                             build it, or find that it is built
  tidemark images build --base python:3.12-slim     on a base of your own, also from now on
  tidemark images build --base default              on the usual base again
  tidemark images build --rebuild                   everything anew, also the base (security updates)
  tidemark images build --system kafka:3.9.1        the image that brokers of this Kafka run from, with jars from Maven
  tidemark images build --system kafka:3.9.1 --ready apache/kafka:3.9.1
                                                    with the jars of somebody's image, also from now on
  tidemark images build --system kafka:./kafka      of a Kafka that you built
  tidemark images build --system nats:2.15.1        of another system, on the nodes' image

\b
Takes about a minute where a base image must be made first, or a Kafka be fetched; a few seconds when only Tidemark's code has
changed, and no time when nothing has. Runs build the image themselves when it is missing."""

LIST_EPILOG = """\b
Examples:
  tidemark images list
  tidemark images list --json"""


@click.group("images")
def images_group() -> None:
    """Build and list the container images that nodes run from."""


class BuildOptions(Options):
    """What ``tidemark images build`` can be asked."""

    system: str = option(
        "Whose image: of Tidemark's own nodes, of brokers of Apache Kafka, or of another system.",
        default=OWN,
        metavar="tidemark|kafka:VERSION|kafka:[VERSION+]PATH|nats:VERSION|etcd:VERSION|fluss:VERSION|FILE.py",
    )
    base: str | None = option("Debian image to build on, instead of the usual one.", metavar="IMAGE")
    ready: str | None = option("Take Kafka's jars from this image instead of Maven.", metavar="IMAGE")
    ready_libs: str | None = option("Where that image has its jars.  [default: /opt/kafka/libs]", metavar="FOLDER")
    rebuild: bool = flag("Build even if there is an image of the same content, on a fresh base.")
    as_json: bool = shared(json_option)


@images_group.command("build", epilog=BUILD_EPILOG)
@taking(BuildOptions)
def build_command(options: BuildOptions) -> int:
    """Build the node image, or another system's, unless one of exactly this content is there."""
    from tidemark.harness.machines.images import build_images
    from tidemark.harness.machines.kafka_image import LIBS, ReadyKafka, build_kafka_image

    if options.system != OWN and not options.system.startswith("kafka:"):
        return _outside(options)
    build_of = _kafka_build(options.system)
    version = build_of.number if build_of else _kafka_version(options.system)
    base, ready = options.base, options.ready
    if build_of and (ready or options.ready_libs):
        raise click.UsageError("--ready is for the jars of a release: leave it away, or the path")
    if version is None and (ready or options.ready_libs):
        raise click.UsageError("--ready is for Kafka's jars: say which with --system kafka:VERSION")
    if options.ready_libs and not ready:
        raise click.UsageError("--ready-libs is a folder of an image: say which with --ready IMAGE")
    began = time.monotonic()
    with engine() as client, telling() as tell:
        if version is None:
            image = build_images(client, base=base, tell=tell, rebuild=options.rebuild)
        else:
            source = ReadyKafka(ready, options.ready_libs or LIBS) if ready else None
            image = build_kafka_image(
                client, version, tell, ready=source, build_of=build_of, base=base, rebuild=options.rebuild
            )
        name = client.images.get(image).tags[0]
    return _built(name, image, began, options)


def _built(name: str, image: str, began: float, options: BuildOptions) -> int:
    took = time.monotonic() - began
    if options.as_json:
        click.echo(json.dumps({"name": name, "id": image, "seconds": round(took, 2)}))
    else:
        output().print(f"{name} is ready ({took:.1f} s)", highlight=False)
    return VALID


def _outside(options: BuildOptions) -> int:
    """The image of a system that is neither ours nor Kafka.

    Raises:
        click.UsageError: there is no such system, or an option is not for it.
    """
    system = system_called(options.system)
    for word in ("base", "ready", "ready_libs", "rebuild"):
        if word in options.typed:
            raise click.UsageError(
                f"{options.typed[word]} is for Tidemark's own image and Kafka's: {system.name} is built on what there is"
            )
    began = time.monotonic()
    with engine() as client, telling() as tell:
        image = system.install(client, tell)
        name = client.images.get(image).tags[0]
    return _built(name, image, began, options)


def _kafka_build(system: str) -> KafkaBuild | None:
    """Whose Kafka is asked for, if it is somebody's own: its name has a path in it.

    Raises:
        click.UsageError: there is none, or it cannot be run.
    """
    if not system.startswith("kafka:") or "/" not in system:
        return None
    from tidemark.harness.systems.kafka.system import KafkaSystem

    found = system_called(system)
    return found.kafka.build if isinstance(found, KafkaSystem) else None


def _kafka_version(system: str) -> str | None:
    """Which Kafka is asked for; none for Tidemark's own nodes."""
    return None if system == OWN else system.partition(":")[2].partition("@")[0]


@images_group.command("list", epilog=LIST_EPILOG)
@json_option
def list_command(as_json: bool) -> int:
    """List the images of Tidemark that this engine has, and which of them would be used now."""
    from tidemark.harness.machines.images import list_images
    from tidemark.harness.machines.kafka_image import list_kafka_images

    with engine() as client:
        found = sorted(
            [*list_images(client), *list_kafka_images(client)], key=lambda image: image.created, reverse=True
        )
    if as_json:
        click.echo(json.dumps([image._asdict() for image in found], indent=1))
    elif not found:
        click.echo("no images yet; build them with: tidemark images build")
    else:
        table = Table("image", "Kafka", "size", "created", "used now", box=None, pad_edge=False)
        for image in found:
            created = image.created[:16].replace("T", " ")
            size = f"{image.size / 1e6:.0f} MB"
            table.add_row(image.name, image.version, size, created, "yes" if image.current else "")
        output().print(table)
    return VALID

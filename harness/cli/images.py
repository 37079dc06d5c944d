"""``tidemark images``: what the nodes' containers run from."""

from __future__ import annotations

import json
import time

import click
from rich.console import Console
from rich.table import Table

from harness.cli.engine import engine, telling
from harness.cli.exits import VALID
from harness.cli.options import json_option

BUILD_EPILOG = """\b
Examples:
  tidemark images build                             build it, or find that it is built
  tidemark images build --base python:3.12-slim     on a base of your own, also from now on
  tidemark images build --base default              on the usual base again
  tidemark images build --rebuild                   everything anew, also the base (security updates)

\b
Takes about a minute where a base image must be made first, a few seconds when only Tidemark's code has changed, and no time when
nothing has. Runs build the image themselves when it is missing."""

LIST_EPILOG = """\b
Examples:
  tidemark images list
  tidemark images list --json"""


@click.group("images")
def images_group() -> None:
    """Build and list the container images that nodes run from."""


@images_group.command("build", epilog=BUILD_EPILOG)
@click.option("--base", metavar="IMAGE", help="Debian image to build on, instead of the usual one.")
@click.option("--rebuild", is_flag=True, help="Build even if there is an image of the same content, on a fresh base.")
@json_option
def build_command(base: str | None, rebuild: bool, as_json: bool) -> int:
    """Build the node image, unless one of exactly this content is there."""
    from harness.containers.images import build_images

    began = time.monotonic()
    with engine() as client, telling() as tell:
        image = build_images(client, base=base, tell=tell, rebuild=rebuild)
        name = client.images.get(image).tags[0]
    took = time.monotonic() - began
    if as_json:
        click.echo(json.dumps({"name": name, "id": image, "seconds": round(took, 2)}))
    else:
        Console().print(f"{name} is ready ({took:.1f} s)", highlight=False)
    return VALID


@images_group.command("list", epilog=LIST_EPILOG)
@json_option
def list_command(as_json: bool) -> int:
    """List the images of Tidemark that this engine has, and which of them would be used now."""
    from harness.containers.images import list_images

    with engine() as client:
        found = list_images(client)
    if as_json:
        click.echo(json.dumps([image._asdict() for image in found], indent=1))
    elif not found:
        click.echo("no images yet; build them with: tidemark images build")
    else:
        table = Table("image", "size", "created", "used now", box=None, pad_edge=False)
        for image in found:
            created = image.created[:16].replace("T", " ")
            table.add_row(image.name, f"{image.size / 1e6:.0f} MB", created, "yes" if image.current else "")
        Console().print(table)
    return VALID

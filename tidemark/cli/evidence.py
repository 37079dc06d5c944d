"""``tidemark evidence``: one archive about a run on real Kafka, for somebody who has no Tidemark."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.cli.docker_client import engine, telling
from tidemark.cli.exits import VALID
from tidemark.cli.extras import need
from tidemark.cli.options import NEW_FILE, json_option
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.typed_options import Options, argument, flag, option, shared, taking
from tidemark.cli.writing_to import writing_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.harness.handover.kafka_tools import Run
    from tidemark.harness.handover.kept_folder import KeptFolder

EPILOG = """\b
Examples:
  tidemark scenario missed-reign --system kafka:4.3.1
  tidemark evidence results/scripts/missed-reign-kafka-4.0-kafka-4.3.1/1
  tidemark evidence results/runs/X --out for-the-list.tar.gz      of tidemark run --system kafka:VERSION
  tidemark evidence results/hunts/X/confirmed/Y/kafka-4.3.1/try-1
  tidemark evidence FOLDER --no-dump                              where there is no Docker engine

\b
Exit codes: 0 written, 254 the folder holds no run on real Kafka, or no engine."""


class EvidenceOptions(Options):
    """What ``tidemark evidence`` can be asked."""

    folder: Path = argument(type=click.Path(path_type=Path))
    out: Path | None = option("The archive.  [default: in FOLDER, named after the run]", type=NEW_FILE)
    no_dump: bool = flag(
        "Do not ask Kafka's own tools; without them the page has no dumps and no defaults of settings."
    )
    as_json: bool = shared(json_option)


@click.command("evidence", epilog=EPILOG)
@taking(EvidenceOptions)
def evidence_command(options: EvidenceOptions) -> int:
    """Make one archive about a run on real Kafka brokers in FOLDER, for a reader who has no Tidemark.

    In it: a page, the brokers' logs, segments and checkpoints, dumps by kafka-dump-log, the script that was played, and a shell
    script that repeats it with Docker and Kafka's own tools. Secrets among settings and this machine's paths are left out.
    """
    need(containers=not options.no_dump)
    from tidemark.harness.handover.archive import gather, write_archive
    from tidemark.harness.handover.kept_folder import KeptFolderError, read_kept

    with refused(KeptFolderError), refused(OSError, of=options.folder):
        kept = read_kept(options.folder)
        with _kafka_tools(kept, wanted=not options.no_dump) as run:
            archive = gather(kept, run)
    out = options.out or options.folder / f"{kept.name}.tar.gz"
    with writing_file(out):
        write_archive(out, kept.name, archive.files)
    no_script = archive.repeat if isinstance(archive.repeat, str) else ""
    cannot = [] if isinstance(archive.repeat, str) else archive.repeat.cannot
    if options.as_json:
        told = {"archive": str(out), "files": sorted(archive.files), "no_script": no_script or None, "cannot": cannot}
        click.echo(json.dumps(told))
        return VALID
    console = output(highlight=False)
    console.print(f"{out} ({out.stat().st_size / 1024:.0f} kB)", soft_wrap=True, markup=False)
    if no_script:
        console.print(f"  without repeat.sh: {no_script}", soft_wrap=True, markup=False)
    for command, why in cannot:
        console.print(f"  repeat.sh stops at '{command}': {why}", soft_wrap=True, markup=False)
    return VALID


@contextmanager
def _kafka_tools(kept: KeptFolder, *, wanted: bool) -> Iterator[Run | None]:
    """What runs Kafka's tools of the run's version in a container, if they are wanted."""
    if not wanted:
        yield None
        return
    from tidemark.harness.machines.errors import ContainerWorldError
    from tidemark.harness.machines.kafka_image import build_kafka_image
    from tidemark.harness.machines.run_once import run_once

    with engine() as client, telling() as tell, refused(ContainerWorldError):
        image = build_kafka_image(client, kept.version, tell)
        tell(f"dumping the logs with the tools of Kafka {kept.version}")
        yield partial(run_once, client, image)

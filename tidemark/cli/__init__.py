"""The command line: ``tidemark``.

Exit codes: 0 valid, 1 anomaly found, 2 unknown, 254 bad arguments, 255 internal error, 130 interrupted (Ctrl-C or SIGTERM).
"""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress

import click

from tidemark.cli.commands import Commands
from tidemark.cli.exits import BAD_ARGUMENTS, INTERNAL_ERROR, INTERRUPTED
from tidemark.cli.extras import absences_told
from tidemark.cli.standard_streams import UnwrittenError, forgiving_streams
from tidemark.cli.version import print_version
from tidemark.harness.machines.interrupts import terminated_like_interrupted

LONGEST = 2_000
"""Of a sentence so many characters are printed: it may quote what is in a file."""

EPILOG = """\b
Examples:
  tidemark scenario --all                        every worked example, under every rule it speaks about
  tidemark run --variant kafka-0.10 --index 30   one random run, checked
  tidemark compare --variants kafka-0.10,kafka-2.1 --plans 200 --report
  tidemark check results/runs/kafka-0.10-1-30    judge a stored run again

\b
Exit codes: 0 valid (or done), 1 anomaly found, 2 unknown, 254 bad arguments, 255 internal error."""


@click.group(
    commands=Commands(),
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Show the version, with the commit where it is known.",
)
def tidemark() -> None:
    """Find out whether a replicated log keeps its promises.

    Tidemark runs Kafka-like replication protocols under faults, in a deterministic simulator, and judges the recorded
    histories: lost committed writes, diverging logs, stuck replicas.
    """


def main() -> None:
    """Run the command line; every failure is one sentence and an exit code."""
    try:
        with forgiving_streams():
            code = _run()
    except UnwrittenError as error:
        with suppress(OSError):
            click.echo(f"tidemark: {error}", err=True)
        code = INTERNAL_ERROR
    sys.exit(code)


def _run() -> int:
    """What a command came to, told as an exit code."""
    try:
        with terminated_like_interrupted(), absences_told():
            code = tidemark.main(standalone_mode=False)
    except click.exceptions.Abort:
        code = INTERRUPTED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except click.ClickException as error:
        where = f" (try {error.ctx.command_path} --help)" if isinstance(error, click.UsageError) and error.ctx else ""
        click.echo(f"tidemark: {_told(error.format_message())}{where}", err=True)
        code = BAD_ARGUMENTS
    except Exception as error:  # noqa: BLE001 - the last line of defence: no traceback unless asked for
        if os.environ.get("TIDEMARK_DEBUG"):
            traceback.print_exc()
        sentence = f"{error.__class__.__name__}: {_told(str(error))}"
        click.echo(f"tidemark: internal error: {sentence} (TIDEMARK_DEBUG=1 shows where)", err=True)
        code = INTERNAL_ERROR
    return code if isinstance(code, int) else 0


def _told(sentence: str) -> str:
    from tidemark.checkers.verdict.visible import brief, visible

    return brief(visible(sentence), LONGEST)

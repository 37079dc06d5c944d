"""``tidemark canary``: write to a Kafka cluster that exists, read it back, and say whether it kept its word."""

from __future__ import annotations

import json
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidemark.checkers import check
from tidemark.cli.exits import exit_code
from tidemark.cli.extras import need
from tidemark.cli.options import FILE, FOLDER, POSITIVE, RESULTS, RealRange, json_option, writable_folder
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.show import print_verdict
from tidemark.cli.typed_options import Options, flag, option, shared, taking
from tidemark.harness.runs.folder import REPORT, store_verdict

if TYPE_CHECKING:
    from tidemark.checkers import History, Verdict
    from tidemark.harness.canary.canary import CanaryOrder
    from tidemark.harness.canary.fault_commands import FaultOrder
    from tidemark.harness.canary.meter import Interval
    from tidemark.harness.report.record_fates import RecordFate

LONGEST_S = 30 * 86_400
RECORDS = "records.csv"
_EVIDENCE = "as evidence; with all brokers' logs in a folder, tidemark scan FOLDER looks for the cause"
TOPIC = r"[a-zA-Z0-9._-]{1,249}"

EPILOG = """\b
Examples:
  tidemark canary --bootstrap kafka-1:9092,kafka-2:9092 --minutes 10 --report
  tidemark canary --bootstrap kafka-1:9093 --client-config client.properties       until Ctrl-C, with TLS or SASL
  tidemark canary --bootstrap localhost:9092 --replication-factor 1 --min-isr 1 --seconds 30
  tidemark canary --bootstrap kafka-1:9092 --minutes 10 --every 120 \\
      --fault 'ssh kafka-2 sudo pkill -9 -f kafka.Kafka' --heal 'ssh kafka-2 sudo systemctl start kafka' --after 30

\b
Exit codes: 0 nothing was lost, 1 an anomaly was found, 2 nobody can tell, 254 bad arguments, or the cluster refused.
Ctrl-C and SIGTERM end it with a verdict."""


class CanaryOptions(Options):
    """What ``tidemark canary`` can be asked."""

    bootstrap: str = option("Brokers to begin with.", metavar="HOST:PORT[,…]", required=True)
    seconds: float | None = option("How long.  [default: until Ctrl-C]", type=RealRange(min=1, max=LONGEST_S))
    minutes: float | None = option("The same in minutes.", type=RealRange(min=1 / 60, max=LONGEST_S / 60))
    topic: str | None = option("Name of the topic that is made.  [default: tidemark-canary-DATE-…]", type=str)
    partitions: int = option("Of the topic.", type=click.IntRange(1, 1000), default=3)
    replication_factor: int = option("Of the topic.", type=click.IntRange(1, 100), default=3)
    min_isr: int | None = option(
        "Its min.insync.replicas.  [default: one below the replication factor, at least 1]", type=POSITIVE
    )
    producers: int = option("How many write.", type=click.IntRange(1, 100), default=2)
    interval: float = option(
        "Mean pause of a producer between two batches of 1 to 3 records, seconds.",
        type=RealRange(min=0.001, max=3600),
        default=0.08,
    )
    timeout: float = option(
        "How long a producer waits for an acknowledgement, seconds.", type=RealRange(min=1, max=3600), default=30
    )
    client_config: Path | None = option(
        "Settings of TLS and SASL, by Kafka's names or librdkafka's, as --command-config of Kafka's tools.", type=FILE
    )
    fault: str | None = option("A shell command that breaks something, run every so often.", metavar="COMMAND")
    heal: str | None = option(
        "A shell command that mends it, and is run before the end in any case.", metavar="COMMAND"
    )
    every: float = option("From one fault to the next, seconds.", type=RealRange(min=1, max=LONGEST_S), default=60)
    after: float = option("From a fault to its healing, seconds.", type=RealRange(min=0, max=LONGEST_S), default=20)
    keep_topic: bool = flag("Leave the topic in the cluster.")
    out: Path | None = option("Folder for the history.  [default: results/canary/TOPIC]", type=FOLDER)
    report: bool = flag("Write report.html as well.")
    as_json: bool = shared(json_option)


@click.command("canary", epilog=EPILOG)
@taking(CanaryOptions)
def canary_command(options: CanaryOptions) -> int:
    """Write to a Kafka cluster that exists, and say whether it kept what it acknowledged.

    The canary makes a topic of its own, writes it with acks=all, reads it, and in the end reads all of it again. Then it deletes
    the topic, or keeps it as evidence if the verdict is not valid. It touches no other topic, and injects no fault unless you give
    one with --fault. Each minute it prints a line. It ends by itself when a producer has sent 990,000 records.
    """
    from tidemark.harness.canary.canary import CanaryOrder, work
    from tidemark.harness.canary.canary_error import CanaryError
    from tidemark.harness.canary.topic import Topics
    from tidemark.harness.clients.client_config import ClientConfigError, read_client_config
    from tidemark.harness.clients.errors import ClientsError

    need(containers=True, report=options.report)
    faults, seconds, min_isr = _fault_order(options), _seconds(options), _min_isr(options)
    topic = options.topic or f"tidemark-canary-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    folder = options.out or RESULTS / "canary" / topic
    if (folder / "history.jsonl").exists():
        raise click.ClickException(f"{folder} holds a run already; choose another folder with --out")
    with refused(ClientConfigError):
        security = {} if options.client_config is None else read_client_config(options.client_config)
    order = CanaryOrder(
        bootstrap=options.bootstrap,
        security=security,
        topic=topic,
        partitions=options.partitions,
        replication_factor=options.replication_factor,
        min_isr=min_isr,
        producers=options.producers,
        interval_us=int(options.interval * 1e6),
        timeout_us=int(options.timeout * 1e6),
        seconds=seconds,
        faults=faults,
    )
    with refused(CanaryError):
        topics = Topics(options.bootstrap, security)
        _refuse_too_few(topics.brokers(), options.replication_factor)
        writable_folder(folder)
        topics.create(topic, options.partitions, options.replication_factor, _settings(min_isr))
    _tell(f"topic {topic}: {order.partitions} partitions, {order.replication_factor} replicas, min ISR {min_isr}")
    keep, kept = options.keep_topic, "as you asked"
    try:
        with refused(ClientsError, CanaryError):
            history = work(order, folder, tell=_tell, minute=_minute)
        verdict = check(history)
        store_verdict(folder, verdict)
        if verdict.valid != "valid" and not keep:
            keep, kept = True, _EVIDENCE if verdict.valid == "invalid" else "because the verdict is unknown"
    except BaseException:
        _tell(f"topic {topic} is left in the cluster; {folder} has the history up to here")
        raise
    if keep:
        _tell(f"topic {topic} is left in the cluster, {kept}")
    else:
        with refused(CanaryError, then=f"; topic {topic} is still there"):
            topics.delete(topic)
    return _told(order, folder, history, verdict, options, kept=keep)


def _tell(sentence: str) -> None:
    """Progress, which is no result: for a person."""
    click.echo(f"{time.strftime('%H:%M:%S')}  {sentence}", err=True)


def _minute(number: int, interval: Interval) -> None:
    _tell(f"minute {number}: {interval.told()}")


def _seconds(options: CanaryOptions) -> float | None:
    if options.seconds is not None and options.minutes is not None:
        raise click.UsageError("--seconds or --minutes, not both")
    return options.minutes * 60 if options.minutes is not None else options.seconds


def _fault_order(options: CanaryOptions) -> FaultOrder | None:
    from tidemark.harness.canary.fault_commands import FaultOrder

    if options.fault is None:
        for name in ("heal", "every", "after"):
            if name in options.typed:
                raise click.UsageError(f"{options.typed[name]} is for faults: say with --fault what breaks something")
        return None
    return FaultOrder(options.fault, options.heal, options.every, options.after)


def _min_isr(options: CanaryOptions) -> int:
    import re

    if options.topic is not None and not re.fullmatch(TOPIC, options.topic):
        raise click.UsageError(f"{options.topic!r} cannot name a topic: letters, digits, '.', '_' and '-', 249 at most")
    min_isr = max(options.replication_factor - 1, 1) if options.min_isr is None else options.min_isr
    if min_isr > options.replication_factor:
        raise click.UsageError(
            f"--min-isr {min_isr} is above --replication-factor {options.replication_factor}: nothing could be written"
        )
    return min_isr


def _refuse_too_few(brokers: int, wanted: int) -> None:
    if brokers < wanted:
        raise click.ClickException(
            f"the cluster has {brokers} {'broker' if brokers == 1 else 'brokers'}, too few for {wanted} replicas: start more, or "
            f"give --replication-factor {brokers}"
        )


def _settings(min_isr: int) -> dict[str, str]:
    """Of the topic: nothing may go by itself, or it would count as lost."""
    return {
        "min.insync.replicas": str(min_isr),
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
        "message.timestamp.type": "CreateTime",
    }


def _told(
    order: CanaryOrder, folder: Path, history: History, verdict: Verdict, options: CanaryOptions, *, kept: bool
) -> int:
    from tidemark.harness.report.record_fates import counted, fates_of

    fates = fates_of(history)
    _store_records(folder / RECORDS, fates)
    page = None
    if options.report:
        from tidemark.harness.report.history_page import write_history_page

        page = write_history_page(history, verdict, folder / REPORT, str(folder)).page
    if options.as_json:
        told: dict[str, Any] = {
            "topic": order.topic,
            "topic_kept": kept,
            "folder": str(folder),
            "page": str(page) if page else None,
            "records": [{"told": one.told, "there": one.there, "count": one.count} for one in counted(fates)],
            "verdict": verdict.to_json(),
        }
        click.echo(json.dumps(told))
    else:
        print_verdict(verdict, history, output())
        for one in counted(fates):
            click.echo(
                f"  {one.count:,} {'record' if one.count == 1 else 'records'} {one.told}, {one.there}: {one.meaning}"
            )
        click.echo(f"  {page or folder}")
    return exit_code([verdict.valid])


def _store_records(path: Path, fates: list[RecordFate]) -> None:
    """Every record as a line."""
    import csv

    from tidemark.harness.report.record_fates import RecordFate

    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(RecordFate._fields)
        lines.writerows(fates)

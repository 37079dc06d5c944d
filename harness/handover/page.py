"""The page of the archive, in Markdown: it reads well as plain text, where no browser shows it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from tidemark.harness.handover.kafka_tools import METADATA, decisions, dumped_records, not_default
from tidemark.harness.handover.repeat.shell_script import LAYOUT, in_words
from tidemark.harness.runs.code_version import commit_of_code
from tidemark.harness.scenario.show import in_names
from tidemark.harness.search.shrink.in_words import conditions, lines_of
from tidemark.harness.systems.kafka.evidence import files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tidemark.harness.handover.kafka_tools import Said
    from tidemark.harness.handover.kept_folder import KeptFolder
    from tidemark.harness.handover.repeat.shell_script import ShellScript
    from tidemark.harness.handover.telling_lines import TellingLines

MOST_LINES: Final = 150
MOST_RECORDS: Final = 60
LONGEST: Final = 320
_COMMIT: Final = re.compile(r"Kafka commitId: (\w+)")


def page(
    kept: KeptFolder, said: Said | None, lines: TellingLines, repeat: ShellScript | str, properties: dict[str, str]
) -> str:
    """All of it.

    Args:
        kept: the run.
        said: what Kafka's tools say; nothing, where they could not be asked.
        lines: of the logs.
        repeat: the shell script, or why there is none.
        properties: a broker's, without secrets.
    """
    title = kept.scenario.title if kept.scenario else "A run"
    verdict = kept.verdict
    told = [
        f"# {title}, on Apache Kafka {in_words(kept.releases)}",
        "",
        f"**{verdict['valid']}**, judged by the promise `{verdict['contract']}`. {verdict.get('unknown_because') or ''}".rstrip(),
        "",
        *_anomalies(kept),
        "",
        *_story(kept),
        "## Repeat it without Tidemark",
        "",
        *_how_to_repeat(repeat, is_build="build" in kept.history.meta),
        "",
        "## What is in here",
        "",
        *_table(("file", "what it is"), _contents(kept, said, repeat)),
        "",
        "## Versions and settings",
        "",
        *_versions(kept),
        "",
        *_settings(properties, said),
        "",
        "## Lines of the logs that matter",
        "",
        *_lines(lines),
        *_decisions(said),
        "## The logs when it was over",
        "",
        *_logs(kept, said),
    ]
    return "\n".join(told).rstrip() + "\n"


def verdict_in_a_line(kept: KeptFolder) -> str:
    """Such as ``invalid: lost-committed-write.``"""
    names = dict.fromkeys(one["name"] for one in kept.verdict["anomalies"] if one["verdict"] == "violation")
    return f"{kept.verdict['valid']}{': ' if names else ''}{', '.join(names)}."


def _anomalies(kept: KeptFolder) -> Iterator[str]:
    for one in kept.verdict["anomalies"]:
        if one["verdict"] in ("violation", "permitted"):
            message = in_names(kept.scenario, one["message"]) if kept.scenario else one["message"]
            yield f"- {one['verdict']} `{one['name']}`: {message}"


def _story(kept: KeptFolder) -> Iterator[str]:
    yield from ("## What happened", "")
    if kept.scenario is None:
        if kept.plan is not None:
            yield from ("Random faults, by a plan:", "")
            yield from (f"    {line}" for line in (conditions(kept.plan), *lines_of(kept.plan)))
            yield ""
        return
    names = ", ".join(f"{name} is broker {number}" for number, name in enumerate(kept.scenario.brokers, 1))
    numbers = {kept.scenario.records.number(record): record for record in _records(kept)}
    values = ", ".join(f"{number} is {record}" for number, record in sorted(numbers.items()))
    yield from (kept.scenario.about, "", f"{names}. In the brokers' files values are numbers: {values}.", "")
    for scene in kept.outcome["narrative"]:
        when = kept.at(scene["time_us"])
        number = f"{scene['step']}. " if 0 < scene["step"] <= len(kept.scenario.steps) else ""
        yield f"**{number}{scene['words']}** Over at {scene['time_us'] / 1e6:.1f} s{f', {when}' if when else ''}."
        yield ""
        if scene["did"]:
            yield from (*(f"    > {command}" for command in scene["did"]), "")
        rows = (
            (name, one["role"], one["leader_epoch"], f"`{one['log']}`", one["leo"], one["hw"])
            for name, one in scene["replicas"].items()
        )
        yield from (*_table(("", "role", "epoch", "log (epoch:record)", "LEO", "HW"), rows), "")
    for mismatch in kept.outcome["mismatches"]:
        yield from (f"Not as the script says: {mismatch}", "")


def _records(kept: KeptFolder) -> Iterator[str]:
    scenario = kept.scenario
    number = 1
    while scenario is not None and (name := scenario.records.name(number)) != str(number):
        yield name
        number += 1


def _how_to_repeat(repeat: ShellScript | str, *, is_build: bool) -> Iterator[str]:
    if isinstance(repeat, str):
        yield f"No script could be made: {repeat}."
        return
    if is_build:
        yield "The brokers were a build of somebody's own; the script plays the release unless `IMAGE` names an image of it."
        yield ""
    yield "    ./repeat.sh"
    yield ""
    yield (
        "wants Docker, and plays the same on the image `apache/kafka` with Kafka's own tools: `kafka-storage`, `kafka-topics`, "
        "`kafka-console-producer`, `kafka-reassign-partitions`, `kafka-leader-election`, `kafka-dump-log`; with signals to the "
        "brokers' containers, and routes that cut them off from each other. It says of every acknowledged record whether the "
        "leader's log has it in the end, and whether the replicas are those that were ordered last."
    )
    for head, notes in (
        ("Not exactly as in the run:", repeat.nearly),
        ("**Cannot be done with Kafka's tools**, so it stops there:", repeat.cannot),
    ):
        if notes:
            yield from ("", head, "", *(f"- `{command}`: {why}" for command, why in notes))


def _contents(kept: KeptFolder, said: Said | None, repeat: ShellScript | str) -> Iterator[tuple[str, str]]:
    if not isinstance(repeat, str):
        yield "`repeat.sh`", "repeats it with Kafka's own tools"
    if kept.scenario is not None:
        yield "`script.scenario`", "what was played, in Tidemark's words"
    if kept.plan is not None:
        yield "`plan.json`", "what was played"
    yield "`history.jsonl`, `verdict.json`", "what clients were told and replicas did, and what comes of it"
    yield "`lines.txt`", "the lines of all logs that tell of replicas and elections, in order of time"
    nodes = ", ".join(f"`{node.name}/`" for node in kept.nodes.values())
    dumps = "" if said is None else ", and in `dump/` every log of it by `kafka-dump-log`"
    yield nodes, f"what it printed, its `server.properties`, its log directory in `data/`{dumps}"


def _versions(kept: KeptFolder) -> Iterator[str]:
    commits = {found[1] for node in kept.nodes.values() if (found := _COMMIT.search(node.log))}
    commit = f", commit {', '.join(sorted(commits))}" if commits else ""
    yield f"- Apache Kafka {in_words(kept.releases)}{commit}; system `{kept.system}`"
    if build := kept.history.meta.get("build"):
        yield f"- a build of somebody's own, digest `{build['digest']}`{', in front of the release' if build['in_front'] else ''}"
    yield f"- Tidemark, commit `{commit_of_code()}`; the model of these brokers is `{kept.variant}`"
    began, ended = kept.at(0), kept.at(int(kept.history.meta["end_us"]))
    if began:
        yield f"- from {began} to {ended}, in the brokers' time"
    if runs := kept.history.meta.get("runs_before"):
        yield f"- the processes had carried out {runs} other run{'s' * (runs > 1)} before, with a topic of their own each"
    yield f"- brokers' JVMs: `{' '.join(kept.nodes[max(kept.nodes)].jvm)}`"


def _settings(properties: dict[str, str], said: Said | None) -> Iterator[str]:
    defaults = said.defaults if said is not None else {}
    if defaults:
        yield "Brokers' settings that differ from Kafka's defaults, as this Kafka tells them; where nodes listen is left out:"
    else:
        yield "Brokers' settings; Kafka could not be asked for its defaults. Where nodes listen is left out:"
    here = {name: value for name, value in properties.items() if name not in LAYOUT}
    rows = (
        (f"`{name}`", f"`{value}`", f"`{usual}`" if usual else "–")
        for name, (value, usual) in not_default(here, defaults).items()
    )
    yield from ("", *_table(("setting", "in this run", "Kafka's default"), rows))


def _lines(lines: TellingLines) -> Iterator[str]:
    for one in lines.findings:
        where = f"{one.time}, broker {one.broker}" if one.time else f"broker {one.broker}, in a file"
        yield f"- `{one.name}` {one.partition} ({where}): {one.meaning}"
        yield f"  `{one.line[:LONGEST]}`"
    if lines.findings:
        yield ""
    yield "```"
    yield from (line[:LONGEST] for line in lines.for_page[:MOST_LINES])
    yield "```"
    left = len(lines.for_page) - MOST_LINES
    yield from (
        "",
        f"{left} more are in `lines.txt`." if left > 0 else "Whole, and with high watermarks: `lines.txt`.",
        "",
    )


def _decisions(said: Said | None) -> Iterator[str]:
    dump = said.dumps.get(f"controller/{METADATA}", "") if said is not None else ""
    found = decisions(dump)
    if not found:
        return
    yield from (
        "## What the controller decided",
        "",
        "Of its log, as `kafka-dump-log` prints it; times are UTC.",
        "",
        "```",
    )
    for one in found[-MOST_LINES:]:
        when = datetime.fromtimestamp(one.time_ms / 1000, UTC).isoformat(" ", "milliseconds")[11:23]
        yield f"{when} {one.offset:5} {one.kind} {one.says}"
    yield from ("```", "", f"Whole: `controller/dump/{METADATA}.txt`.", "")


def _logs(kept: KeptFolder, said: Said | None) -> Iterator[str]:
    if said is None:
        yield "`kafka-dump-log` could not be asked. What is read here:"
    else:
        yield "What `kafka-dump-log` prints beside what Tidemark reads, as epoch:value; the whole dumps are in the nodes' folders."
    yield ""
    brokers = {number: node for number, node in kept.nodes.items() if number}
    ours = {
        number: files_of({f"/{path}": content for path, content in node.files.items()}, node.name, "").segments
        for number, node in brokers.items()
    }
    for partition in sorted({name for found in ours.values() for name in found}):
        read = {number: _by_offset(found.get(partition, [])) for number, found in ours.items()}
        dumped = {
            number: dumped_records(said.dumps.get(f"{node.name}/{partition}", "")) if said is not None else {}
            for number, node in brokers.items()
        }
        offsets = sorted({offset for side in (read, dumped) for found in side.values() for offset in found})
        heads = [head for node in brokers.values() for head in (f"{node.name}: Kafka's tool", "read here")]
        rows = (
            (offset, *(_cell(side[number].get(offset)) for number in brokers for side in (dumped, read)))
            for offset in offsets[-MOST_RECORDS:]
        )
        yield from (f"`{partition}`:", "", *_table(("offset", *heads), rows), "")
        if len(offsets) > MOST_RECORDS:
            yield from (f"These are the last {MOST_RECORDS} of {len(offsets)}.", "")
        if said is not None:
            same = [brokers[number].name for number in brokers if dumped[number] == read[number]]
            other = [node.name for node in brokers.values() if node.name not in same]
            words = f"**They differ on {', '.join(other)}.**" if other else "Both say the same of every record."
            yield from (words, "")


def _by_offset(batches: Iterable[tuple[int, int, Sequence[Any]]]) -> dict[int, tuple[int, str]]:
    return {base + at: (epoch, str(value)) for base, epoch, values in batches for at, value in enumerate(values)}


def _cell(record: tuple[int, str] | None) -> str:
    return "" if record is None else f"`{record[0]}:{record[1]}`"


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    yield from (f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows)

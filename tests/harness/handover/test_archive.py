"""The archive about a run: what its page says, what its shell script does, and what must not be in it."""

import io
import json
import subprocess
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidemark.cli.evidence import evidence_command
from tidemark.harness import scenario as scripts
from tidemark.harness.handover.archive import gather
from tidemark.harness.handover.kafka_tools import DEFAULTS
from tidemark.harness.handover.kept_folder import read_kept
from tidemark.harness.handover.repeat.shell_script import shell_script
from tidemark.harness.scenario.kept_run import ScriptFolders
from tidemark.nodes.formats.record_batch import build

SECRET = "do-not-tell"
PROPERTIES = {
    "process.roles": "broker",
    "node.id": "1",
    "log.dirs": "/var/lib/tidemark/data",
    "broker.session.timeout.ms": "18000",
    "replica.lag.time.max.ms": "30000",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
    "ssl.keystore.password": SECRET,
}
LINES = """\
664672536 2026-11-27T02:31:36.309 INFO kafka.server.Example - keystore {here}/broker.jks, password do-not-tell
674171872 2026-11-27T02:31:45.808 INFO state.change.logger - [Broker id=1] Leader t-0 starts at leader epoch 2 from offset 2 with \
partition epoch 4, high watermark 1, ISR [1,2,3], adding replicas [] and removing replicas [] . Previous leader Some(1) and \
previous leader epoch was 0.
"""
DUMP = """\
baseOffset: 0 lastOffset: 0 count: 1 partitionLeaderEpoch: 0 isvalid: true
| offset: 0 CreateTime: 0 keySize: -1 valueSize: 1 sequence: -1 headerKeys: [] payload: {value}
"""
METADATA = """\
| offset: 47 CreateTime: 1795746704110 keySize: -1 payload: {"type":"PARTITION_CHANGE_RECORD","version":2,"data":{"leader":3}}
"""
DEFAULT = '<h4><a id="{}"></a></h4><tr><th>Default:</th><td>{}</td></tr>'


def packed(path, files):
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


@pytest.fixture
def folder(tmp_path):
    """A script's run as `scenario` keeps it, with one broker's files."""
    folder = tmp_path / "kept" / "1"
    scripts.run_scenario(scripts.find("missed-reign"), "kafka-4.0").store(folder)
    config = {"node": 1, "version": "4.3.1", "properties": PROPERTIES, "heap": "320m", "jvm_options": []}
    packed(
        folder / "nodes" / "b1.tar.gz",
        {
            "etc/tidemark/node.json": json.dumps(config).encode(),
            "var/log/tidemark/node.log": LINES.format(here=Path.cwd()).encode(),
            "var/log/tidemark/trace.jsonl": b'[663250392,1,"start","",1]\n',
            "var/lib/tidemark/data/t-0/00000000000000000000.log": build((1,), 0, 0),
        },
    )
    return folder


def kafka_says(value):
    """Kafka's tools, which dump one record of that value."""

    def run(script, files):
        assert "DumpLogSegments" in script
        assert files["broker-1/t-0/00000000000000000000.log"] == build((1,), 0, 0)
        page = DEFAULT.format("min.insync.replicas", "1") + DEFAULT.format(
            "replica.lag.time.max.ms", "30000 (30 seconds)"
        )
        return {
            DEFAULTS: page.encode(),
            "broker-1/t-0.txt": DUMP.format(value=value).encode(),
            "controller/__cluster_metadata-0.txt": METADATA.encode(),
        }

    return run


def test_the_page_tells_verdict_story_settings_lines_and_dumps(folder):
    page = gather(read_kept(folder), kafka_says(1)).files["README.md"].decode()

    assert page.startswith(
        "# A leader that slept through a reign counts what a follower has cut off, on Apache Kafka 4.3.1\n"
    )
    assert "- violation `lost-committed-write`: Record m1 of t-0" in page
    assert "> pause A" in page
    assert "| `min.insync.replicas` | `2` | `1` |" in page
    assert "`replica.lag.time.max.ms`" not in page
    assert "broker-1  02:31:45.808 INFO [Broker id=1] Leader t-0 starts at leader epoch 2" in page
    assert '02:31:44.110    47 PARTITION_CHANGE_RECORD {"leader":3}' in page
    assert "| 0 | `0:1` | `0:1` |\n\nBoth say the same of every record." in page


def test_a_dump_that_says_otherwise_is_pointed_out(folder):
    page = gather(read_kept(folder), kafka_says(7)).files["README.md"].decode()

    assert "| 0 | `0:7` | `0:1` |\n\n**They differ on broker-1.**" in page


def test_processes_that_had_carried_out_runs_before_are_said_to(folder):
    kept = read_kept(folder)
    assert "other run" not in gather(kept, None).files["README.md"].decode()

    kept.history.meta["runs_before"] = 3
    assert "- the processes had carried out 3 other runs before" in gather(kept, None).files["README.md"].decode()


def test_neither_secrets_nor_paths_of_this_machine_are_in_it(folder):
    files = gather(read_kept(folder), None).files

    assert b"ssl.keystore.password=[hidden]" in files["broker-1/server.properties"]
    assert b"keystore ./broker.jks, password [hidden]" in files["broker-1/server.log"]
    everything = b"\n".join(files.values())
    assert SECRET.encode() not in everything
    assert str(Path.cwd()).encode() not in everything


def test_the_shell_script_does_what_the_script_says_and_names_what_it_cannot():
    whole = shell_script(scripts.find("missed-reign"), "kafka-4.0", ["4.3.1"], PROPERTIES, "invalid.")
    partly = shell_script(scripts.find("kafka-1382-lost-answer"), "kafka-4.0", ["4.3.1"], PROPERTIES, "valid.")

    assert whole.cannot == []
    steps = whole.text.partition("\nbring_up\n")[2]
    for line in (
        "sends 3 all x1",
        "pauses 1",
        "elects 3",
        "cuts all 1 2",
        "waits 'C has LEO 1' have leo 1 2",
        "crashes 1",
    ):
        assert f"\n{line}\n" in steps
    assert "block leadership" not in steps  # that is for kafka-0.10 alone
    assert 'SESSION_MS="${SESSION_MS:-120000}"' in whole.text
    assert ("block ISR answers to A", "ISR answers cannot be told from all other messages") in partly.cannot
    assert "\ncannot 'block ISR answers to A: " in partly.text
    assert "# - block ISR answers to A: " in partly.text


def test_power_losses_long_sessions_log_starts_and_cancelled_orders_are_played():
    lost = shell_script(scripts.find("unheard-shrink"), "kafka-4.0", ["4.3.1"], PROPERTIES, "invalid.")
    long = {**PROPERTIES, "broker.session.timeout.ms": "40000"}

    assert lost.cannot == []
    assert "\nloses_power 1 1\n" in lost.text
    assert 'SESSION_MS="${SESSION_MS:-120000}"' in lost.text
    kept = shell_script(scripts.find("unheard-shrink"), "kafka-4.0", "4.3.1", long, "invalid.").text
    assert 'SESSION_MS="${SESSION_MS:-40000}"' in kept
    assert (
        "have log_start_on_disk 5 1 3"
        in shell_script(scripts.find("back-below-its-log-start"), "kafka-4.0", ["4.3.1"], PROPERTIES, "invalid.").text
    )


@pytest.mark.parametrize("name", ["missed-reign", "kafka-7786-late-answer", "reassignment-replaced"])
def test_shells_can_read_it_and_it_gives_up_without_docker(name, tmp_path):
    script = tmp_path / "repeat.sh"
    script.write_text(shell_script(scripts.find(name), "kafka-4.0", ["4.3.1"], PROPERTIES, "invalid.").text)
    (tmp_path / "docker").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "docker").chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    ended = subprocess.run(["bash", script], env={"PATH": path}, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (2, "")
    assert "GIVEN UP: no network" in ended.stdout


def test_the_command_writes_it_and_refuses_what_is_no_run(folder):
    written = CliRunner().invoke(evidence_command, [str(folder), "--no-dump", "--json"])
    elsewhere = CliRunner().invoke(evidence_command, [str(folder.parent), "--no-dump"])
    simulated = CliRunner().invoke(evidence_command, [str(folder / "nodes"), "--no-dump"])

    told = json.loads(written.stdout)
    with tarfile.open(told["archive"]) as archive:
        first, second, *_ = archive.getmembers()
    assert (first.name, second.name, second.mode) == (
        "missed-reign-kafka-4.3.1/README.md",
        "missed-reign-kafka-4.3.1/repeat.sh",
        0o755,
    )
    assert f"give one of its runs, such as {folder}" in elsewhere.output
    assert "play it with --system kafka:VERSION" in simulated.output


def test_each_run_of_a_command_has_a_folder_of_its_own(tmp_path):
    scenario = scripts.find("missed-reign")
    variant = scripts.run_scenario(scenario, "kafka-4.0").variant
    folders = ScriptFolders(tmp_path, "-kafka-4.3.1")

    class Named:
        name = variant

    assert [folders(scenario, Named).relative_to(tmp_path) for _ in range(2)] == [
        Path(f"missed-reign-kafka-4.0-kafka-4.3.1/{number}") for number in (1, 2)
    ]
    (tmp_path / "missed-reign-kafka-4.0-kafka-4.3.1" / "1").mkdir(parents=True)
    assert ScriptFolders(tmp_path, "-kafka-4.3.1", free=True)(scenario, Named).name == "2"


def test_unclean_elections_are_allowed_by_kafkas_tool():
    text = shell_script(scripts.find("unclean-allowed-for-a-while"), "kafka-4.0", "4.3.1", PROPERTIES, "valid.").text

    assert [line for line in text.splitlines() if line.startswith("sets_unclean ")] == [
        "sets_unclean true",
        "sets_unclean false",
    ]


def test_elr_is_switched_by_kafkas_tool_and_a_broker_waits_for_its_last_session_to_end():
    text = shell_script(scripts.find("elr-last-leader"), "kafka-4.0", ["4.3.1"], PROPERTIES, "invalid.").text

    assert [line for line in text.splitlines() if line.startswith("switches_elr ")] == [
        "switches_elr downgrade 0",
        "switches_elr upgrade 1",
    ]
    assert 'echo "initial.broker.registration.timeout.ms=$((SESSION_MS + 120000))"' in text


def test_logs_in_two_directories_are_dumped_and_an_upgrade_names_both_releases(tmp_path):
    folder = tmp_path / "kept"
    scripts.run_scenario(scripts.find("missed-reign"), "kafka-4.0").store(folder)
    both = {**PROPERTIES, "log.dirs": "/var/lib/tidemark/data/first,/var/lib/tidemark/data/second"}
    config = {"node": 1, "version": "4.3.1", "properties": both, "heap": "320m", "jvm_options": []}
    packed(
        folder / "nodes" / "b1.tar.gz",
        {
            "etc/tidemark/node.json": json.dumps(config).encode(),
            "var/lib/tidemark/data/second/t-0/00000000000000000000.log": build((1,), 0, 0),
        },
    )
    history = folder / "history.jsonl"
    history.write_text(history.read_text().replace('"variant"', '"system": "kafka:3.9.2..4.3.1@3.9", "variant"', 1))
    kept = read_kept(folder)
    archive = gather(kept, kafka_says(1))
    page = archive.files["README.md"].decode()

    assert kept.name == "missed-reign-kafka-3.9.2..4.3.1"
    assert ", on Apache Kafka 3.9.2, upgraded to 4.3.1\n" in page
    assert "| 0 | `0:1` | `0:1` |\n\nBoth say the same of every record." in page
    assert 'LATER="${LATER:-apache/kafka:4.3.1}"' in archive.repeat.text

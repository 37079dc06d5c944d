"""What the shell script's functions ask of Docker and of Kafka's tools; a command ``docker`` that writes down what it was
asked takes the engine's place.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tidemark.harness.handover.repeat.shell_script import shell_script
from tidemark.harness.scenario import parse_scenario

PROPERTIES = {
    "process.roles": "broker",
    "broker.session.timeout.ms": "9000",
    "replica.lag.time.max.ms": "30000",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
}
DOCKER = """\
#!/bin/bash
echo "$*" >>{calls}
case "$*" in
*/t-0\\ -) exit {home} ;;
*cat\\ *wanted.json) cat >{wanted} ;;
exec*) cat >/dev/null ;;
esac
"""
SCRIPT = """\
name: moves
title: a log is moved
source: a test
brokers: A, B, C
cluster: acks all, min ISR 2

about:
  A test.

1. It is moved, and a broker is deaf.
   > throttle moves on B to 100 bytes/s
   > {deaf}
   > move the log of B
   > crash B
   > {hears}
   > start B
"""


def script(deaf="block leadership to B", hears="unblock leadership to B", releases=("4.3.1",)):
    scenario = parse_scenario(SCRIPT.format(deaf=deaf, hears=hears), "moves.scenario")
    return shell_script(scenario, "kafka-4.0", releases, PROPERTIES, "valid.")


class Shell:
    """Runs lines after the script's definitions.

    Args:
        folder: for what docker is asked.
        home: exit code of a copy of the log in the second log directory; 1: it is not there.
    """

    def __init__(self, folder: Path, home: int) -> None:
        self._folder = folder
        docker = folder / "docker"
        docker.write_text(DOCKER.format(calls=folder / "calls", wanted=folder / "wanted", home=home))
        docker.chmod(0o755)

    def run(self, text: str, lines: str, **env: str) -> subprocess.CompletedProcess[str]:
        definitions = text.partition("\nbring_up\n")[0]
        path = {"PATH": f"{self._folder}:/usr/bin:/bin", "P": "k"}
        return subprocess.run(
            ["bash", "-c", f"{definitions}\nsleep() {{ :; }}\n{lines}\n"],
            env={**path, **env},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def calls(self) -> list[str]:
        return (self._folder / "calls").read_text().splitlines()

    @property
    def wanted(self) -> dict[str, object]:
        return json.loads((self._folder / "wanted").read_text())["partitions"][0]


def test_a_log_is_moved_by_kafkas_tool_to_the_directory_in_which_it_is_not(tmp_path):
    steps = script().text.partition("\nbring_up\n")[2]
    for home, to in ((1, "/tmp/kafka-data-2"), (0, "/tmp/kafka-data")):
        shell = Shell(tmp_path, home)
        ended = shell.run(script().text, "ORDERED=2,1,3\nmoves 2\nthrottles 2 100\nthrottles 2 0")

        assert ended.returncode == 0, ended.stdout
        assert shell.wanted["replicas"] == [2, 1, 3]
        assert shell.wanted["log_dirs"] == [to, "any", "any"]
    assert any("kafka-reassign-partitions.sh" in one and "--execute" in one for one in shell.calls)
    settings = [one.partition("admin.properties ")[2] for one in shell.calls if "kafka-configs.sh" in one]
    rate = "replica.alter.log.dirs.io.max.bytes.per.second"
    of_broker = "--alter --entity-type brokers --entity-name 2"
    assert settings[-2:] == [f"{of_broker} --add-config {rate}=100", f"{of_broker} --delete-config {rate}"]
    assert [line for line in steps.splitlines() if re.match("throttles|deafens|moves", line)] == [
        "throttles 2 100",
        "deafens 2",
        "moves 2",
    ]


def test_brokers_have_two_log_directories_only_where_logs_are_moved(tmp_path):
    own = parse_scenario(SCRIPT.replace("   > move the log of B\n", "").format(deaf="run 1 s", hears="run 1 s"), "x")
    plain = shell_script(own, "kafka-4.0", ["4.3.1"], PROPERTIES, "valid.").text
    shell = Shell(tmp_path, 1)

    assert "\nlog.dirs=/tmp/kafka-data,/tmp/kafka-data-2\n" in shell.run(script().text, "properties 2").stdout
    assert "\nlog.dirs=/tmp/kafka-data\n" in shell.run(script().text, "properties 0").stdout
    assert "\nlog.dirs=/tmp/kafka-data\n" in shell.run(plain, "properties 2").stdout


def test_a_deaf_broker_does_not_ask_again_for_the_controllers_log(tmp_path):
    shell = Shell(tmp_path, 1)
    asks_late = "\ncontroller.quorum.retry.backoff.ms=3600000\n"

    assert asks_late in shell.run(script().text, "properties 2").stdout
    assert asks_late not in shell.run(script().text, "properties 1").stdout
    held = script("hold leadership to B", "release leadership to B")
    assert (held.cannot, [command for command, _ in held.nearly][1:]) == ([], ["hold leadership to B"])


@pytest.mark.parametrize(
    ("deaf", "hears", "cannot"),
    [
        ("hold fetch responses to B", "run 1 s", ["hold fetch responses to B"]),
        ("hold leadership", "run 1 s", ["hold leadership"]),
        ("hold leadership to A", "release leadership to A", ["release leadership to A"]),
    ],
)
def test_other_messages_are_not_held_and_who_runs_does_not_hear_again(deaf, hears, cannot):
    assert [command for command, _ in script(deaf, hears).cannot] == cannot


def test_from_its_second_start_on_a_broker_runs_the_newer_release_with_what_is_on_its_disk(tmp_path):
    shell = Shell(tmp_path, 1)
    text = script(releases=("3.9.2", "4.3.1")).text
    ended = shell.run(text, "crashes 2; starts 2; crashes 2; starts 2", LATER="mine/kafka:newer")

    assert "Repeats that on Apache Kafka 3.9.2, upgraded to 4.3.1 with Docker" in text
    assert "broker B runs mine/kafka:newer from now on" in ended.stdout
    made = [one for one in shell.calls if one.startswith("create ")]
    assert [one.split()[-2:] for one in made] == [["mine/kafka:newer", "/tmp/node/start"]]
    after = shell.calls[shell.calls.index("rename k-2 k-2-before") :]
    assert {"cp k-2-before:/tmp/kafka-data -", "cp - k-2:/tmp/"} <= set(after)
    assert after.index("start k-2") > after.index("cp - k-2:/tmp/")
    assert [one.split()[-2] for one in _created(shell, text, "make 1")] == ["apache/kafka:3.9.2"]


def _created(shell, text, lines):
    before = len(shell.calls)
    shell.run(text, lines)
    return [one for one in shell.calls[before:] if one.startswith("create ")]


def test_replicas_that_do_not_come_in_sync_are_a_failure(tmp_path):
    shell = Shell(tmp_path, 1)
    seen = "leader() { echo 1; }; partition() { [ $1 != replicas ] || echo 1; }; ASSIGNED=1; standing() { :; }"

    stuck = shell.run(script().text, f"{seen}; at_rest() {{ false; }}; judges", PATIENCE="0")
    whole = shell.run(script().text, f"{seen}; at_rest() {{ true; }}; judges", PATIENCE="0")

    assert stuck.returncode == 1
    assert "STUCK: all brokers are up, and after 0 s not all replicas are in sync" in stuck.stdout
    assert (whole.returncode, "no acknowledged record is missing" in whole.stdout) == (0, True)


def test_times_that_kafkas_tools_cannot_keep_are_named():
    short = script("run 60 ms", "run 1 s").nearly

    assert [command for command, _ in short] == ["throttle moves on B to 100 bytes/s", "run 60 ms"]


def test_a_deaf_broker_that_is_started_again_hears(tmp_path):
    shell = Shell(tmp_path, 1)
    shown = shell.run(script().text, 'make 2; crashes 2; starts 2; cat "$WORK/node/server.properties"').stdout

    assert "node.id=2" in shown
    assert "controller.quorum.retry.backoff.ms" not in shown
    copied = next(at for at, one in enumerate(shell.calls) if one.endswith("k-2:/tmp/node/server.properties"))
    assert copied < shell.calls.index("start k-2")


def test_a_deaf_broker_whose_first_question_was_lost_is_started_anew(tmp_path):
    shell = Shell(tmp_path, 1)
    shell.run(script().text, "metadata() { :; }; STARTED=0; all_came")

    assert "restart -t 0 k-2" in shell.calls

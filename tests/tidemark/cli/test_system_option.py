"""``--system`` and ``--broker-config``: what they imply, what they choose where nobody chose, and what they refuse."""

import json

import click
import pytest
from click.testing import CliRunner

from tidemark.cli.options import VariantList
from tidemark.cli.run import run_command
from tidemark.cli.scenario import scenario_command
from tidemark.cli.system_option import variant_on
from tidemark.cli.typed_options import Options, group, option, taking
from tidemark.cli.world import WorldOptions
from tidemark.harness.systems.kafka.system import KafkaSystem

FILE = """\
from tidemark.harness.systems.tidemark import TidemarkSystem

class Slow(TidemarkSystem):
    name = "slow"
    time_scale = 7.0

def system(argument):
    return Slow()
"""


class Asked(Options):
    world: WorldOptions = group(WorldOptions)
    variants: tuple[str, ...] = option("Which.", type=VariantList(), default="kafka-0.10,kafka-2.7,kafka-4.0")


@click.command()
@taking(Asked)
def command(options):
    world = options.world.chosen()
    told = {
        "world": world.name,
        "system": world.system.name,
        "settings": getattr(world.system, "broker_config", {}),
        "scale": options.world.time_scale_on(world.system),
        "variants": world.variants(options.variants, typed="variants" in options.typed),
        "suffix": world.suffix,
    }
    click.echo(json.dumps(told))


def told(*words):
    result = CliRunner().invoke(command, words)
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def refusal(*words, of=command):
    result = CliRunner().invoke(of, words)
    assert isinstance(result.exception, SystemExit), result.exception  # a usage error, and no traceback
    assert result.exit_code == 2
    usage, _, sentence = result.output.partition("Error: ")
    assert usage.startswith("Usage: ")
    return sentence.strip()


# The world


def test_our_own_nodes_stay_in_the_simulator_unless_containers_are_asked_for():
    assert (told()["world"], told()["system"], told()["suffix"]) == ("sim", "tidemark", "")
    assert told("--world", "docker")["suffix"] == "-docker"


@pytest.mark.parametrize("text", ["kafka:2.8.2", "kafka:4.1.1"])
def test_another_system_implies_containers(text):
    assert told("--system", text)["world"] == "docker"
    assert told("--system", text, "--world", "docker")["world"] == "docker"


def test_a_file_implies_containers_too(tmp_path):
    (tmp_path / "slow.py").write_text(FILE)

    assert told("--system", str(tmp_path / "slow.py"))["world"] == "docker"


def test_whoever_asks_for_the_simulator_as_well_is_told_that_it_cannot_be():
    assert refusal("--system", "kafka:2.8.2", "--world", "sim") == (
        "--system kafka:2.8.2 needs real machines; leave --world sim away"
    )


# The system


def test_what_the_registry_refuses_is_a_usage_error():
    assert refusal("--system", "postgres").startswith("there is no system 'postgres': use tidemark, kafka:VERSION")
    assert refusal("--system", "kafka:2.8").startswith("2.8 is not a whole version of Kafka")


def test_which_kafka_somebody_built_is_told_on_standard_error(tmp_path):
    (tmp_path / "Kafka.class").write_bytes(b"patched")
    result = CliRunner().invoke(command, ("--system", f"kafka:4.3.1+{tmp_path}"))

    assert json.loads(result.stdout)["system"].startswith("kafka:4.3.1+")
    assert result.stderr.startswith(f"{tmp_path} in front of Kafka 4.3.1 (digest ")


def test_broker_settings_are_taken_apart_at_the_first_equals_sign():
    given = ("--broker-config", "a.b=1", "--broker-config", " c = x=y ")

    assert told("--system", "kafka:2.8.2", *given)["settings"] == {"a.b": "1", "c": "x=y"}
    assert told("--system", "kafka:2.8.2", "--broker-config", "empty=")["settings"] == {"empty": ""}


@pytest.mark.parametrize("entry", ["unclean", "=true", " =true"])
def test_a_broker_setting_has_a_name_and_a_value(entry):
    assert refusal("--system", "kafka:2.8.2", "--broker-config", entry) == (
        f"--broker-config wants KEY=VALUE, not {entry!r}"
    )


def test_our_own_nodes_have_no_broker_settings():
    assert refusal("--broker-config", "a=b").startswith("--broker-config is for --system kafka:VERSION")


# Variants


@pytest.mark.parametrize(
    ("text", "variants"),
    [
        ("tidemark", ["kafka-0.10", "kafka-2.7", "kafka-4.0"]),
        ("kafka:2.8.2", ["kafka-0.10", "kafka-2.7"]),
        ("kafka:4.1.1", ["kafka-4.0"]),
        ("kafka:2.8.2@1.1", ["kafka-0.11"]),
        ("kafka:3.9.1", ["kafka-3.7"]),
    ],
)
def test_of_the_variants_that_nobody_typed_those_stay_that_the_system_can_express(text, variants):
    assert told("--system", text)["variants"] == variants


def test_variants_that_were_typed_are_taken_as_they_are():
    assert told("--system", "kafka:2.8.2", "--variants", "kafka-2.0,kafka-0.11")["variants"] == [
        "kafka-2.0",
        "kafka-0.11",
    ]


def test_a_typed_variant_that_the_system_cannot_express_is_refused():
    assert refusal("--system", "kafka:4.1.1", "--variants", "kafka-4.0,kafka-0.10") == (
        "Kafka 4.1.1 cannot be held to the protocol of kafka-0.10: use --system kafka:2.8.2"
    )
    with pytest.raises(click.UsageError, match=r"cannot be done to kafka:2\.8\.2"):
        variant_on(KafkaSystem.parse("kafka:2.8.2", {}), "kafka-2.1+KAFKA-7128")


@pytest.mark.parametrize(
    ("of", "words"),
    [(run_command, ()), (scenario_command, ("kip-101-data-loss",))],
)
def test_commands_refuse_a_variant_before_anything_is_started(of, words):
    sentence = refusal(*words, "--system", "kafka:2.8.2", "--variant", "kafka-4.0", of=of)

    assert sentence == "kafka-4.0 needs Kafka 4.1 or newer: use --system kafka:4.1.1"


# Time


def test_a_system_that_is_slow_gets_more_time_unless_somebody_knows_better(tmp_path):
    (tmp_path / "slow.py").write_text(FILE)

    assert told()["scale"] == 1
    assert told("--system", "kafka:2.8.2")["scale"] == 3
    assert told("--system", str(tmp_path / "slow.py"))["scale"] == 7
    assert told("--system", "kafka:2.8.2", "--time-scale", "2")["scale"] == 2
    assert told("--system", "kafka:2.8.2", "--time-scale", "20")["scale"] == 20


# Folders


@pytest.mark.parametrize(
    ("text", "suffix"),
    [("kafka:2.8.2", "-kafka-2.8.2"), ("kafka:2.8.2@1.1", "-kafka-2.8.2-1.1"), ("kafka:4.1.1", "-kafka-4.1.1")],
)
def test_every_system_has_a_results_folder_of_its_own(text, suffix):
    assert told("--system", text)["suffix"] == suffix


def test_a_files_folder_has_no_path_in_its_name(tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)

    assert told("--system", "./slow.py:a/b")["suffix"] == "-slow.py-a-b"

from zipfile import ZipFile

import pytest

from tidemark.harness.systems.kafka.kafka_versions import (
    PROTOCOLS,
    KafkaVersion,
    is_meant,
    model_of,
    model_variant,
    parse_system,
    protocol_for,
    protocols_of,
    shown_preset,
)
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nodes.core.variant import PRESETS, parse_variant


@pytest.mark.parametrize(
    "text", [
        "kafka:2.8.2", "kafka:2.8.2@0.10.2", "kafka:2.8.2@1.1", "kafka:3.9.1", "kafka:3.9.1@3.9", "kafka:4.1.1",
        "kafka:3.9.2..4.3.1",
    ],
)  # fmt: skip
def test_a_system_is_called_what_was_typed(text):
    assert str(parse_system(text)) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kafka", "use kafka:VERSION such as kafka:2.8.2"),
        ("kafka:", "names no Kafka"),
        ("kafka:latest", "names no Kafka"),
        ("kafka:2.8.2@", "names no Kafka"),
        ("kafka:3.9.2..", "names no Kafka"),
        ("kafka:3.9.2..4.3.1@3.9", "names no Kafka"),
        ("kafka:3.9.2..4.3", "4.3 is not a whole version of Kafka"),
        ("kafka:4.3.1..3.9.2", "Kafka 3.9.2 is not newer than 4.3.1: an upgrade is kafka:OLDER..NEWER"),
        ("kafka:2.8.2..4.3.1", "keeps its cluster in ZooKeeper, .*: begin an upgrade with 3.3 or newer"),
        ("kafka:2.8", "2.8 is not a whole version of Kafka: use three numbers"),
        ("kafka:1.1.0", "Kafka 1.1.0 is too old .* use kafka:2.8.2@1.1$"),
        ("kafka:0.10.2", "Kafka 0.10.2 is too old .* use kafka:2.8.2@0.10.2$"),
        ("kafka:3.1.0", "KRaft was not ready for production: use kafka:2.8.2 or kafka:3.9.1"),
        ("kafka:2.8.2@3.0", "Kafka 2.8.2 has no protocol version 3.0: use one of 0.10.0, .*, 2.8$"),
        ("kafka:2.4.1@2.8", "Kafka 2.4.1 has no protocol version 2.8: use one of .*, 2.4$"),
        ("kafka:4.1.1@3.9", "Kafka 4.1.1 runs under its own metadata version only"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_sentence(text, words):
    with pytest.raises(SystemRefusalError, match=words):
        parse_system(text)


# A build of somebody's own


@pytest.fixture
def classes(tmp_path):
    """A folder with one class."""
    (tmp_path / "Kafka.class").write_bytes(b"patched")
    return tmp_path


@pytest.fixture
def unpacked(tmp_path):
    """Writes an unpacked release that calls itself by this version."""

    def unpacked(version):
        libs = tmp_path / "kafka" / "libs"
        libs.mkdir(parents=True)
        (libs / "kafka_2.13-x.jar").write_bytes(b"broker")
        with ZipFile(libs / "kafka-clients-x.jar", "w") as jar:
            jar.writestr("kafka/kafka-version.properties", f"version={version}\n")
        return libs.parent

    return unpacked


def test_a_build_is_called_by_its_version_and_digest(unpacked):
    found = parse_system(f"kafka:{unpacked('4.4.0-SNAPSHOT')}")

    assert (found.version, found.build.version, found.protocol) == ("4.4.0", "4.4.0-SNAPSHOT", None)
    assert str(found) == f"kafka:4.4.0+{found.build.digest}"


def test_a_build_is_held_to_a_protocol_as_a_release_is(unpacked):
    found = parse_system(f"kafka:{unpacked('2.8.2')}@1.1")

    assert (found.uses_zookeeper, shown_preset(found)) == (True, "kafka-0.11")
    assert str(found) == f"kafka:2.8.2+{found.build.digest}@1.1"


def test_classes_stand_in_front_of_a_release(classes):
    found = parse_system(f"kafka:4.3.1+{classes}")

    assert (found.version, found.build.in_front) == ("4.3.1", True)
    assert str(found) == f"kafka:4.3.1+{found.build.digest}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kafka:/none/kafka", "^there is no folder /none/kafka: give an unpacked release"),
        ("kafka:4.3.1+/none/kafka", "^there is no folder of classes, and no jar, /none/kafka"),
        ("kafka:4.3+/none", "^4.3 is not a whole version of Kafka"),
        ("kafka:2.3.1+/none", "^Kafka 2.3.1 is too old"),
    ],
)
def test_a_build_that_cannot_be_run_is_refused_in_a_sentence(text, words):
    with pytest.raises(SystemRefusalError, match=words):
        parse_system(text)


@pytest.mark.parametrize(
    ("version", "words"),
    [("2.3.1", "^Kafka 2.3.1 is too old"), ("3.1.0-SNAPSHOT", "KRaft was not ready for production")],
)
def test_a_build_that_is_too_old_is_refused_as_its_release_is(unpacked, version, words):
    with pytest.raises(SystemRefusalError, match=words):
        parse_system(f"kafka:{unpacked(version)}")


def test_a_variant_says_what_a_build_is_meant_to_do_otherwise(classes):
    found = parse_system(f"kafka:4.3.1+{classes}")

    assert protocol_for(found, "kafka-4.0+obey-last-order") == "4.3"
    assert model_of(found, "kafka-4.0+obey-last-order") == parse_variant("kafka-4.0+no-whole-target+obey-last-order")
    assert model_of(found, "kafka-4.0") == parse_variant("kafka-4.0+no-whole-target")
    assert is_meant(found, "kafka-4.0+obey-last-order")
    assert not is_meant(found, "kafka-4.0+no-whole-target")


@pytest.mark.parametrize("name", ["kafka-3.7+obey-last-order", "kafka-4.0+nonsense"])
def test_a_build_cannot_be_meant_to_be_another_release(classes, name):
    with pytest.raises(SystemRefusalError):
        protocol_for(parse_system(f"kafka:4.3.1+{classes}"), name)


def test_a_release_is_not_meant_to_do_anything_but_what_it_does():
    with pytest.raises(SystemRefusalError, match=r"modifies the protocol, which cannot be done to kafka:4\.3\.1"):
        protocol_for(KafkaVersion("4.3.1"), "kafka-4.0+obey-last-order")


def test_who_keeps_the_cluster():
    assert KafkaVersion("2.8.2").uses_zookeeper
    assert not KafkaVersion("3.9.1").uses_zookeeper


def test_which_protocols_a_binary_can_be_held_to():
    assert protocols_of(KafkaVersion("2.8.2")) == PROTOCOLS
    assert protocols_of(KafkaVersion("2.4.1"))[-1] == "2.4"
    assert protocols_of(KafkaVersion("3.9.1")) == ("3.9",)


@pytest.mark.parametrize(
    ("version", "preset", "protocol"),
    [
        ("2.8.2", "kafka-0.10", "0.10.2"),
        ("2.8.2", "kafka-0.11", "0.11.0"),
        ("2.8.2", "kafka-2.0", "2.0"),
        ("2.8.2", "kafka-2.1", "2.1"),
        ("2.8.2", "kafka-2.7", "2.8"),
        ("2.7.2", "kafka-2.7", "2.7"),
        ("3.9.1", "kafka-3.7", "3.9"),
        ("4.0.1", "kafka-3.7", "4.0"),
        ("4.1.1", "kafka-4.0", "4.1"),
    ],
)
def test_a_preset_is_a_protocol(version, preset, protocol):
    kafka = KafkaVersion(version)
    assert protocol_for(kafka, preset) == protocol
    assert shown_preset(KafkaVersion(version, protocol)) == preset


@pytest.mark.parametrize(
    ("system", "preset", "words"),
    [
        ("kafka:2.8.2", "kafka-4.0", "kafka-4.0 needs Kafka 4.1 or newer: use --system kafka:4.1.1"),
        ("kafka:3.9.1", "kafka-4.0", "kafka-4.0 needs Kafka 4.1 or newer: use --system kafka:4.1.1"),
        ("kafka:2.8.2", "kafka-3.7", "kafka-3.7 needs Kafka 3.7 or newer: use --system kafka:3.9.1"),
        (
            "kafka:4.1.1",
            "kafka-3.7",
            "keeps no eligible leader replicas, and Kafka 4.1.1 does: use --system kafka:3.9.1",
        ),
        (
            "kafka:3.9.1",
            "kafka-0.10",
            "Kafka 3.9.1 cannot be held to the protocol of kafka-0.10: use --system kafka:2.8.2",
        ),
        ("kafka:2.6.3", "kafka-2.7", "kafka-2.7 needs Kafka 2.7 or newer: use --system kafka:2.8.2"),
        ("kafka:2.8.2@1.1", "kafka-2.0", "kafka:2.8.2@1.1 is kafka-0.11 and not kafka-2.0: leave out @1.1"),
        ("kafka:2.8.2", "kafka-2.1+no-fences", "modifies the protocol, which cannot be done to kafka:2.8.2"),
        ("kafka:4.1.1", "kafka-4.0+no-whole-target", "modifies the protocol, which cannot be done to kafka:4.1.1"),
        ("kafka:4.3.1", "kafka-4.0+forget-log-ends", "kafka-4.0[+]no-whole-target, or --system tidemark"),
        ("kafka:2.8.2", "kafka-9", "kafka:2.8.2 knows no variant 'kafka-9'"),
    ],
)
def test_a_preset_that_a_binary_cannot_be_is_refused_in_a_sentence(system, preset, words):
    with pytest.raises(SystemRefusalError, match=words):
        protocol_for(parse_system(system), preset)


@pytest.mark.parametrize("system", ["kafka:4.3.1", "kafka:3.8.0", "kafka:3.3.2", "kafka:2.8.2", "kafka:2.8.2@1.1"])
def test_a_binary_is_what_its_own_model_says_however_that_is_called(system):
    kafka = parse_system(system)
    model = model_variant(kafka.version, kafka.protocol)

    assert model_variant(kafka.version, protocol_for(kafka, model.name)) == model


def test_the_modifiers_of_a_model_may_be_in_another_order():
    first, *modifiers = model_variant("2.8.2", "1.1").name.split("+")

    assert protocol_for(parse_system("kafka:2.8.2"), "+".join([first, *reversed(modifiers)])) == "1.1"


def test_the_protocol_that_was_typed_counts():
    assert protocol_for(parse_system("kafka:2.8.2@1.1"), "kafka-0.11") == "1.1"
    assert protocol_for(parse_system("kafka:2.8.2@2.7"), "kafka-2.7") == "2.7"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_is_modelled_and_shown_as_the_preset_with_its_rule(protocol):
    kafka = KafkaVersion("2.8.2", protocol)
    model = model_variant("2.8.2", protocol)
    shown = PRESETS[shown_preset(kafka)]
    assert (model.truncation, model.fences, model.elr) == (shown.truncation, shown.fences, shown.elr)
    assert parse_variant(model.name) == model
    # The repairs of KAFKA-7164 and KAFKA-7415, and KIP-380's bounce detection, are the binary's under any protocol.
    assert (model.restart_on_epoch, model.epoch_on_lead, model.bounce_detection) == (True, True, True)
    assert not model.broker_epoch_checks
    # So is what KIP-455 made of reassignments, and KAFKA-9672.
    assert (model.reassignments_replace, "KAFKA-9672" in model.bugs) == (True, True)


@pytest.mark.parametrize(
    ("version", "protocol", "rule", "epochs", "fenced"),
    [
        ("2.8.2", "0.10.2", "hw", False, False),
        ("2.8.2", "0.11.0", "kip101", True, False),
        ("2.8.2", "1.1", "kip101", True, False),
        ("2.8.2", "2.0", "kip279", True, False),
        ("2.8.2", "2.1", "kip279", True, True),
        ("2.8.2", "2.6", "kip279", True, True),
        ("2.8.2", "2.7", "fetch", True, True),
        ("2.8.2", None, "fetch", True, True),
        ("3.9.1", None, "fetch", True, True),
    ],
)
def test_the_model_of_a_binary_under_a_protocol(version, protocol, rule, epochs, fenced):
    model = model_variant(version, protocol)
    assert (model.truncation, model.has_epoch_cache, bool(model.fences)) == (rule, epochs, fenced)


BEFORE_39 = "+no-elect-when-allowed+no-heed-unclean"


@pytest.mark.parametrize(
    ("version", "model"),
    [
        ("3.4.1", f"kafka-2.7+metadata-log+no-whole-target+refuse-strangers{BEFORE_39}"),
        ("3.5.2", f"kafka-2.7+broker-epochs+metadata-log+no-whole-target+refuse-strangers{BEFORE_39}"),
        (
            "3.6.2",
            f"kafka-2.7+broker-epochs+metadata-log+no-whole-target+refuse-strangers{BEFORE_39}+no-shrink-raises-epoch",
        ),
        ("3.7.2", "kafka-3.7+no-heed-unclean"),
        ("3.8.1", "kafka-3.7+whole-target+no-heed-unclean"),
        ("3.9.1", "kafka-3.7+whole-target"),
        ("4.0.1", "kafka-3.7+whole-target"),
        ("4.1.1", "kafka-4.0"),
    ],
)
def test_the_model_of_a_kraft_binary(version, model):
    assert model_variant(version, None) == parse_variant(model)


def test_in_an_upgrade_a_node_runs_the_newer_release_from_its_second_start_on():
    upgrade = parse_system("kafka:3.9.2..4.3.1")

    assert [upgrade.at_start(number).version for number in (1, 2, 3)] == ["3.9.2", "4.3.1", "4.3.1"]
    assert shown_preset(upgrade) == "kafka-3.7"
    assert protocol_for(upgrade, "kafka-3.7") == "3.9"


# A quorum of controllers


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("kafka:4.3.1@3-controllers", "kafka:4.3.1@3-controllers"),
        ("kafka:4.3.1@4.3@3-controllers", "kafka:4.3.1@4.3@3-controllers"),
        ("kafka:3.9.2..4.3.1@3-controllers", "kafka:3.9.2..4.3.1@3-controllers"),
        ("kafka:4.3.1@1-controller", "kafka:4.3.1"),
    ],
)
def test_how_many_controllers_there_are_is_part_of_the_name(text, name):
    assert str(parse_system(text)) == name
    assert parse_system(name) == parse_system(text)


def test_all_releases_of_an_upgrade_have_the_same_controllers():
    assert parse_system("kafka:3.9.2..4.3.1@3-controllers").at_start(2) == parse_system("kafka:4.3.1@3-controllers")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "kafka:2.8.2@3-controllers",
            "Kafka 2.8.2 keeps its cluster in ZooKeeper, so it has no quorum of controllers: use kafka:4.3.1@3-controllers",
        ),
        ("kafka:4.3.1@5-controllers", "a quorum of 5 controllers is not run: use @3-controllers"),
        ("kafka:4.3.1@2-controllers", "a quorum of 2 controllers is not run: use @3-controllers"),
    ],
)
def test_a_quorum_that_cannot_be_run_is_refused(text, why):
    with pytest.raises(SystemRefusalError) as refusal:
        parse_system(text)

    assert str(refusal.value) == why

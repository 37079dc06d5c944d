"""From what a person types after ``--system`` to a system, or to one sentence."""

import pytest

from tidemark.harness.systems.kafka.system import KafkaSystem
from tidemark.harness.systems.registry import find_system
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.harness.systems.tidemark import TidemarkSystem

SYSTEM = """\
from tidemark.harness.systems.tidemark import TidemarkSystem

class Mine(TidemarkSystem):
    def __init__(self, argument):
        self.name = f"mine of {argument!r}"

def system(argument):
    return Mine(argument)
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package that offers the system ``mylog``, which is this object."""

    def installed(what):
        info = tmp_path / "my_log-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-log\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[tidemark.systems]\nmylog = {what}\n")
        monkeypatch.syspath_prepend(tmp_path)

    return installed


@pytest.fixture
def file(tmp_path):
    """A file with this text, by its path as a person types it."""

    def file(text, name="my_system.py"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return file


def refusal(text, broker_config=None):
    with pytest.raises(SystemRefusalError) as error:
        find_system(text, broker_config)
    words = str(error.value)
    assert "\n" not in words
    return words


def test_our_own_nodes_and_kafka_have_names():
    own, kafka = find_system("tidemark"), find_system("kafka:2.8.2@1.1", {"log.flush.interval.messages": "1"})

    assert (type(own), own.name) == (TidemarkSystem, "tidemark")
    assert (type(kafka), kafka.name) == (KafkaSystem, "kafka:2.8.2@1.1")
    assert kafka.broker_config == {"log.flush.interval.messages": "1"}


@pytest.mark.parametrize("text", ["kafka:2.8.2@1.1", "kafka:4.1.1"])
def test_a_systems_name_finds_it_again(text):
    assert find_system(find_system(text).name).name == text


def test_a_file_is_asked_for_its_system_with_what_stands_behind_the_colon(file):
    path = file(SYSTEM)

    assert find_system(path).name == "mine of ''"
    assert find_system(f"{path}:fast:er").name == "mine of 'fast:er'"


def test_a_file_may_have_classes_that_look_up_their_own_module(file):
    """A dataclass with deferred annotations does, so that the module must be where modules are found."""
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass Own:\n    at: int\n"
    )

    assert find_system(file(f"{text}\n{SYSTEM}")).name == "mine of ''"


def test_an_installed_package_offers_one_by_name(file, installed):
    file(SYSTEM, "my_installed_package.py")
    installed("my_installed_package:system")

    assert find_system("mylog").name == "mine of ''"
    assert find_system("mylog:7").name == "mine of '7'"
    assert refusal("mylogs").startswith("there is no system 'mylogs': use tidemark, kafka:VERSION such as kafka:2.8.2")


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("no_such_module:system", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("string:whitespace", "has no function system(argument) that gives a System (docs/systems.md)"),
    ],
)
def test_an_installed_package_that_cannot_be_used_is_named_with_the_reason(installed, what, why):
    installed(what)

    assert refusal("mylog") == f"{what} {why}"


@pytest.mark.parametrize("text", ["", "tidemark:x", "postgres", "Tidemark", "kafka-2.7"])
def test_what_does_not_exist_is_answered_with_what_does(text):
    assert refusal(text) == (
        f"there is no system {text!r}: use tidemark, kafka:VERSION such as kafka:2.8.2, kafka:VERSION@PROTOCOL such as "
        "kafka:2.8.2@1.1, a Kafka that you built such as kafka:./kafka, nats:VERSION such as nats:2.15.1, "
        "nats:VERSION@sync-always, etcd:VERSION such as etcd:3.5.1, "
        "fluss:VERSION such as fluss:0.9.1, or a file such as ./my_system.py"
    )


def test_kafka_wants_a_version():
    assert "use kafka:VERSION such as kafka:2.8.2" in refusal("kafka")


def test_only_kafka_has_broker_settings(file):
    for text in ("tidemark", file(SYSTEM)):
        assert refusal(text, {"a": "b"}).startswith("--broker-config is for --system kafka:VERSION")


def test_a_file_that_is_not_there(tmp_path):
    assert refusal(f"{tmp_path}/none.py") == f"there is no file {tmp_path}/none.py to load a system from"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def system(argument:\n", "cannot be loaded: SyntaxError: "),
        ("import no_such_module_at_all\n", "cannot be loaded: ModuleNotFoundError: No module named"),
        ("1 / 0\n", "cannot be loaded: ZeroDivisionError: division by zero"),
        ("", "has no function system(argument) that gives a System (docs/systems.md)"),
        ("system = 7\n", "has no function system(argument) that gives a System (docs/systems.md)"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(file, text, why):
    path = file(text)

    assert refusal(path).startswith(f"{path} {why}")


def test_what_a_file_gives_must_be_a_system(file):
    path = file("def system(argument):\n    return 'a string'\n")

    assert (
        refusal(path) == f"system() of {path} gives a str, and should give a RealSystem or a System (docs/systems.md)"
    )


def test_a_file_may_refuse_its_argument_itself(file):
    raising = "from tidemark.harness.systems.system import SystemRefusalError\ndef system(argument):\n    raise "
    path = file(f"{raising}SystemRefusalError('leave it away')\n")

    assert refusal(f"{path}:x") == "leave it away"

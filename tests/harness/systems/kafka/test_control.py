"""Control of a broker through its sidecar."""

from types import SimpleNamespace

import pytest

from tidemark.harness.systems.kafka.control import KafkaControl


class PlayedShell:
    """Answers every command with one text."""

    def __init__(self, out):
        self.out = out

    def run(self, command, **_):
        return SimpleNamespace(out=self.out)


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("INFO one\nINFO two\n", "INFO one\nINFO two"),
        ("INFO one\n16:00 sidecar: gave up: no heap\n", "16:00 sidecar: gave up: no heap"),
        ("", ""),
    ],
)
def test_the_last_words_are_the_keepers_if_it_had_some(log, told):
    machine = SimpleNamespace(name="b1", shell=PlayedShell(log), admin_port=9990)

    assert KafkaControl(machine).log_tail() == told

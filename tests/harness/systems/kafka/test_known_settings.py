"""A setting that no Kafka has is told before a broker starts."""

import pytest

from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.systems.kafka import known_settings
from tidemark.harness.systems.kafka.known_settings import defaults_in, refuse_unknown

TOLD = b"""<h4><a id="log.segment.bytes"></a><a id="brokerconfigs_log.segment.bytes" href="#x">log.segment.bytes</a></h4>
<tr><th>Default:</th><td>1073741824 (1 gibibyte)</td></tr>
<h4><a id="num.io.threads" href="#num.io.threads">num.io.threads</a></h4>
<tr><th>Default:</th><td>8</td></tr>"""
"""As 4.3.1 and as 2.8.2 have it."""


@pytest.fixture
def refuse(monkeypatch):
    asked = []

    def run_once(client, image, script, files):
        asked.append(image)
        return {"settings.html": TOLD}

    monkeypatch.setattr(known_settings, "run_once", run_once)

    def refuse(*settings):
        refuse_unknown(None, "sha256:1", "4.3.1", settings)
        return asked

    return refuse


def test_what_it_knows_passes(refuse):
    assert refuse("log.segment.bytes", "num.io.threads") == ["sha256:1"]


def test_its_defaults():
    assert defaults_in(TOLD.decode()) == {"log.segment.bytes": "1073741824", "num.io.threads": "8"}


def test_settings_of_a_listener_are_not_looked_for(refuse):
    assert refuse("listener.name.internal.ssl.keystore.location") == []


def test_what_it_does_not_know_is_refused_with_the_nearest(refuse):
    with pytest.raises(
        ContainerWorldError, match=r"^Kafka 4\.3\.1 has no .* log\.segment\.byte; did you mean log\.segment\.bytes\?$"
    ):
        refuse("num.io.threads", "log.segment.byte")
    with pytest.raises(ContainerWorldError, match=r"called no\.such\.setting$"):
        refuse("no.such.setting")


@pytest.mark.docker
@pytest.mark.kafka
@pytest.mark.systems
@pytest.mark.parametrize("version", ["2.8.2", "4.3.1"])
def test_a_real_one_tells_what_it_knows(engine, kafka_image, version):
    image = kafka_image(version)

    refuse_unknown(engine, image, version, ["num.io.threads", "unclean.leader.election.enable"])
    with pytest.raises(ContainerWorldError, match=r"did you mean num\.io\.threads\?"):
        refuse_unknown(engine, image, version, ["num.io.thread"])

"""The Docker engine and the images of nodes, for every test that is marked ``docker``.

A running engine is used; else one is started, or installed and started where that may be done, and stopped at the end of the
session. Where none can be had the tests are skipped, and the summary says so in a line that cannot be missed.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

from harness.machines.engine import can_install, can_start, connect, diagnose, install_engine, start_engine
from harness.machines.errors import ContainerWorldError, ImageError
from harness.machines.images import ensure_image
from harness.machines.kafka_image import ensure_kafka_image
from harness.machines.leftovers import every

pytest.register_assert_rewrite("local_cluster")

_skipped = pytest.StashKey[str]()

# How long an example takes says something of the machine, and nothing of the code.
settings.register_profile("tidemark", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tidemark")


@pytest.fixture(scope="session")
def engine(request):
    """A docker client. The engine is left as it was found: also without anything of this session in it."""
    started = None
    try:
        if diagnose().state != "running":
            if not can_start() and can_install():
                install_engine(tell=lambda sentence: None)
            if can_start() and diagnose().state != "running":
                started = start_engine()
        client = connect()
    except ContainerWorldError as error:
        if started is not None:
            started.stop()
        request.config.stash[_skipped] = str(error)
        pytest.skip(f"no Docker engine: {error}")
    try:
        yield client
        mine = [item for item in every(client) if item.owner.pid == str(os.getpid())]
    finally:
        client.close()
        if started is not None:
            started.stop()
    assert mine == []


@pytest.fixture(scope="session")
def image(engine):
    """The id of the node image, built if this engine does not have it."""
    return ensure_image(engine, tell=lambda sentence: None)


@pytest.fixture(scope="session")
def kafka_image(engine, request):
    """Version → the id of the image that its brokers run from, built if this engine does not have it."""

    def kafka_image(version):
        try:
            return ensure_kafka_image(engine, version, tell=lambda sentence: None)
        except ImageError as error:
            if "Maven cannot get" not in str(error):
                raise
            request.config.stash[_skipped] = str(error)
            pytest.skip(str(error))

    return kafka_image


def pytest_terminal_summary(terminalreporter, config):
    """Skipping a whole world must not look like passing it."""
    if _skipped in config.stash:
        terminalreporter.section("Docker tests did not run", sep="!", yellow=True, bold=True)
        terminalreporter.line(config.stash[_skipped], yellow=True)

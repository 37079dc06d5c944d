"""What tests in every room use: the Docker engine and images for those marked ``docker``, and programs that are not ours.

What is not here makes tests skip, and the summary says so in lines that cannot be missed. Nothing is installed: `make test`
does that before, in sight (.ci/make-test-tools).
"""

import gc
import os
import shutil
import signal
import threading
from collections import Counter

import pytest
import slow_tests
from hypothesis import HealthCheck, settings
from missing import MISSING, skip_without
from one_engine import WORKER_KEY, OneEngine, ask
from shared_work import TogetherWithSpark, put_in_order

from tidemark.harness.machines.docker_engine import connect
from tidemark.harness.machines.errors import ContainerWorldError, ImageError
from tidemark.harness.machines.images import ensure_image
from tidemark.harness.machines.kafka_image import build_kafka_image
from tidemark.harness.machines.leftovers import every
from tidemark.harness.runs import own_rules

pytest.register_assert_rewrite("local_cluster", "played_nodes")

_engine = pytest.StashKey[OneEngine]()

# How long an example takes says something of the machine, and nothing of the code.
# make test-systems asks for the deep one.
settings.register_profile("tidemark", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
settings.register_profile("deep", settings.get_profile("tidemark"), max_examples=300)
settings.load_profile("tidemark")


def pytest_addoption(parser):
    parser.addoption("--measure", action="store_true", help="write down in tests/slow.txt what takes long")


def pytest_configure(config):
    if config.getoption("--measure"):
        config.pluginmanager.register(slow_tests.Measured())
    # Who is started with nohup or in the background of a script ignores Ctrl-C, and so does all that it starts.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        config.stash[_engine] = OneEngine()


def pytest_unconfigure(config):
    if _engine in config.stash:
        config.stash[_engine].close()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Of pytest-xdist, in the process that leads."""
    node.workerinput[WORKER_KEY] = node.config.stash[_engine].address


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return TogetherWithSpark(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    slow_tests.mark(items)
    put_in_order(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Hardly anything that is made here goes away again: to look for garbage meanwhile takes a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    """What is here by now stays to the end: no later collection of garbage needs to look through it (0.3 s each)."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _rules_of_ours_only():
    """What a command learned of ``--rule`` is a rule of its process: of the next test it would be one, too."""
    yield
    own_rules.forget()


@pytest.fixture(scope="session")
def engine(request):
    """A docker client. The engine is left without anything of this process in it."""
    config = request.config
    why_not = ask(config.workerinput[WORKER_KEY]) if hasattr(config, "workerinput") else config.stash[_engine].why_not()
    if why_not:
        skip_without(f"a Docker engine: {why_not}")
    try:
        client = connect()
    except ContainerWorldError as error:
        skip_without(f"a Docker engine: {error}")
    try:
        yield client
        mine = [item for item in every(client) if item.owner.pid == str(os.getpid())]
    finally:
        client.close()
    assert mine == []


@pytest.fixture(scope="session")
def image(engine):
    """The id of the node image, built if this engine does not have it."""
    return ensure_image(engine, tell=lambda sentence: None)


@pytest.fixture(scope="session")
def kafka_image(engine):
    """Version → the id of the image that its brokers run from, built if this engine does not have it."""

    def kafka_image(version):
        try:
            return build_kafka_image(engine, version, tell=lambda sentence: None)
        except ImageError as error:
            if "Maven cannot get" not in str(error):
                raise
            skip_without(f"Kafka {version}: {error}")

    return kafka_image


@pytest.fixture(scope="session")
def program():
    """Where a program is that is not ours: ``program("kcat")``."""

    def find(name):
        found = shutil.which(name)
        if found is None:
            skip_without(f"{name}: .ci/make-test-tools installs it")
        return found

    return find


def pytest_terminal_summary(terminalreporter, config):
    """Skipping a whole world must not look like passing it."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])
    )
    missing = {reason: count for reason, count in reasons.items() if reason.startswith(MISSING)}
    if missing:
        terminalreporter.section("these tests did not run", sep="!", yellow=True, bold=True)
        for reason, count in sorted(missing.items()):
            terminalreporter.line(f"{count} × {reason}", yellow=True)

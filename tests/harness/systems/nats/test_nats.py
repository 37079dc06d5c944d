"""NATS JetStream in containers: what it loses when the power fails, and what it keeps."""

import pytest
from missing import skip_without

from tidemark.harness.live.session import ContainerSession
from tidemark.harness.machines.errors import ImageError
from tidemark.harness.systems.registry import find_system
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

S = 1_000_000
WORK = WorkloadSpec(producers=2, consumers=1, interval_us=S // 20, poll_us=S // 10, batch=1)
POWER = Plan(0, 0, 1, "by hand", ClusterSpec(), WORK, (Fault("power-all", 2 * S, S // 5),), 3 * S)


@pytest.fixture(scope="module")
def play(engine, image, tmp_path_factory):
    session = ContainerSession(3, system=find_system("nats:2.15.1"), tell=lambda _: None)

    def play(text):
        session.system = system = find_system(text)
        try:
            return session.execute(POWER, system.variant(system.default_variant), folder=tmp_path_factory.mktemp("run"))
        except ImageError as error:
            skip_without(f"NATS: {error}")

    yield play
    session.close()


@pytest.mark.docker
def test_on_its_defaults_it_loses_what_it_acknowledged_when_all_power_fails(play):
    run = play("nats:2.15.1")

    assert run.verdict.stats["acked_lost_permitted"] > 0
    assert (run.verdict.contract, run.verdict.stats["acked_lost_by_clause"].keys()) == (
        "durable",
        {"lost-logs>=min-isr"},
    )
    assert run.history.meta["system"] == "nats:2.15.1"
    assert run.history.meta["sync_interval"] == "2m, as it comes"


@pytest.mark.docker
def test_with_every_message_synced_it_loses_nothing(play):
    run = play("nats:2.15.1@sync-always")

    assert run.verdict.valid == "valid", run.verdict.anomalies
    assert run.verdict.stats["acked"] > 0

"""The example of docs/systems.md: a system of any protocol in one file, of which a random plan finds the bug."""

from pathlib import Path

import pytest

from tidemark import WorkloadSpec, generate_plan
from tidemark.harness.live.session import ContainerSession
from tidemark.harness.systems.registry import find_system
from tidemark.nemesis import Fault, Plan
from tidemark.nodes.core.cluster import ClusterSpec

FILE = Path(__file__).parents[2] / "examples" / "chain_log.py"
S = 1_000_000
WORK = WorkloadSpec(producers=2, consumers=1, interval_us=S // 20, poll_us=S // 10, batch=1)
POWER = Plan(0, 0, 1, "by hand", ClusterSpec(), WORK, (Fault("power-all", S, S // 5),), 2 * S)
CUT_LEADER = Plan(0, 0, 1, "by hand", ClusterSpec(), WORK, (Fault("cut-tail", S, S // 5, "b1", amount=500),), 2 * S)
ONE_BACKUP = Plan(0, 0, 1, "by hand", ClusterSpec(), WORK, (Fault("power", S, S // 5, "follower"),), 2 * S)


@pytest.fixture(scope="module")
def played(engine, image, tmp_path_factory):
    sessions = {}

    def play(how, plan):
        system = find_system(f"{FILE}:{how}")
        # Other options are other processes in the same containers.
        session = sessions.setdefault("", ContainerSession(3, system=system, tell=lambda _: None))
        session.system = system
        return session.execute(plan, system.variant(system.default_variant), folder=tmp_path_factory.mktemp("run"))

    yield play
    for session in sessions.values():
        session.close()


@pytest.mark.docker
def test_what_shows_only_its_clients_is_found_out_by_them(played):
    run = played("clients-only", POWER)

    assert (run.verdict.valid, run.verdict.judged_from) == ("invalid", "clients")
    assert run.verdict.named("lost-write") or run.verdict.named("inconsistent-offsets")


@pytest.mark.docker
def test_what_shows_its_logs_is_seen_to_diverge(played):
    run = played("", POWER)

    assert run.verdict.judged_from == "clients and replicas"
    assert run.verdict.named("lost-committed-write")


@pytest.mark.docker
def test_mended_it_keeps_its_promise(played):
    verdict = played("mended", generate_plan(1, 0, "destructive", ClusterSpec())).verdict

    assert verdict.valid == "valid", verdict.anomalies


@pytest.mark.docker
def test_damage_to_the_files_of_one_node_excuses_no_loss(played):
    run = played("mended", CUT_LEADER)

    (done,) = run.history.meta["damage"]
    assert (done["node"], done["files"][0]["file"]) == (1, "log")
    assert (run.verdict.valid, run.verdict.contract) == ("invalid", "majority")
    assert {one.verdict for one in run.verdict.named("lost-write")} == {"violation"}

"""The example of docs/systems.md: a system of any protocol in one file, of which a random plan finds the bug."""

import re
from pathlib import Path

import pytest

from tidemark import WorkloadSpec, generate_plan
from tidemark.harness.live.session import ContainerSession
from tidemark.harness.scenario import parse_scenario, run_scenario
from tidemark.harness.scenario.live.target_factory import LiveTargets
from tidemark.harness.scenario.target import CannotPlayError
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
    session = ContainerSession(3, system=find_system(str(FILE)), tell=lambda _: None)

    def play(how, plan):
        system = find_system(f"{FILE}:{how}")
        session.system = system  # other options are other processes in the same containers
        return session.execute(plan, system.variant(system.default_variant), folder=tmp_path_factory.mktemp("run"))

    play.session = session
    yield play
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


SCRIPT = """\
name: all-lose-power
title: What nobody has synced is gone
source: by hand
brokers: 1, 2, 3
cluster: acks all, min ISR 2, session 18 s, produce timeout 10 s

about:
  All have m1, and 3 lacks m2.

1. Two records, of which 3 gets one.
   > write m1
   > until 1, 2, 3 have LEO 1
   > cut 1 from 3
   > write m2
   > expect 1: leader | LEO 2
   > expect 3: follower | LEO 1

2. The power fails.
   > power off 1 keeping 0 batches
   > power off 2 keeping 0 batches
   > start 1
   > start 2
   > until 1 leads
   > join 1 and 3
   > write m3
   > until 1 has LEO 1
"""


@pytest.fixture
def script():
    return lambda text=SCRIPT: parse_scenario(text)


@pytest.mark.docker
def test_a_script_is_played_on_it_step_by_step(played, script):
    session, system = played.session, find_system(f"{FILE}:")
    targets = LiveTargets(session.open().machines, system=system)
    outcome = run_scenario(script(), system.variant(system.name), targets.target)

    assert outcome.mismatches == []
    assert {one.name for one in outcome.verdict.named("lost-write")} == {"lost-write"}
    before, after = outcome.narrative[1].replicas, outcome.narrative[2].replicas
    assert [len(one.log) for one in before] == [2, 2, 1]
    assert [one.role for one in after] == ["leader", "follower", "follower"]
    assert outcome.history.meta["system"] == system.name


@pytest.mark.docker
@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("elect 2", "nobody can ask for a forced election of chain_log:lazy"),
        ("crash the controller", "nobody can crash the controller of chain_log:lazy"),
        ("block fetch requests from 2 to 1", "nobody can tell fetch requests from other messages of chain_log:lazy"),
        ("until 1 has HW 1 on disk", "no view of chain_log:lazy tells what 'until 1 has HW 1 on disk' waits for"),
        ("until the ISR is 1, 2", "nobody can see the ISR of chain_log:lazy"),
    ],
)
def test_what_a_script_cannot_have_there_is_refused_by_name(played, script, command, why):
    session, system = played.session, find_system(f"{FILE}:")
    text = SCRIPT[: SCRIPT.index("   > until 1, 2, 3")] + f"   > {command}\n"
    targets = LiveTargets(session.open().machines, system=system)

    with pytest.raises(CannotPlayError, match=re.escape(why)):
        run_scenario(script(text), system.variant(system.name), targets.target)


@pytest.mark.docker
def test_without_a_view_no_script_is_played(played, script):
    session, system = played.session, find_system(f"{FILE}:clients-only")
    targets = LiveTargets(session.open().machines, system=system)

    with pytest.raises(CannotPlayError, match="has no view"):
        run_scenario(script(), system.variant(system.name), targets.target)


@pytest.mark.docker
def test_mended_it_keeps_its_promise(played):
    verdict = played("mended", generate_plan(1, 0, "destructive", ClusterSpec())).verdict

    assert verdict.valid == "valid", verdict.anomalies


@pytest.mark.systems
@pytest.mark.docker
def test_damage_to_the_files_of_one_node_excuses_no_loss(played):
    run = played("mended", CUT_LEADER)

    (done,) = run.history.meta["damage"]
    assert (done["node"], done["files"][0]["file"]) == (1, "log")
    assert (run.verdict.valid, run.verdict.contract) == ("invalid", "majority")
    assert {one.verdict for one in run.verdict.named("lost-write")} == {"violation"}

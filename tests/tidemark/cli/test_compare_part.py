"""A profile or a system is added to a campaign as a person does it."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from tidemark.cli import main
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.pipeline.engines.java import JavaNotFoundError
from tidemark.pipeline.folder.manifest import Manifest, open_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

VARIANTS = ("kafka-0.10", "kafka-2.7")
ADDED = "results/mine/parts"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    return tmp_path


@pytest.fixture
def mine(desk, monkeypatch):
    """A campaign that was begun; nothing can be run here, neither by Spark nor in containers."""

    def none():
        raise JavaNotFoundError("no Java in this test")

    monkeypatch.setattr("tidemark.pipeline.engines.session.ensure_java_home", none)
    monkeypatch.setattr("tidemark.pipeline.engines.spark_or_not.MOST_RUNS_WITHOUT_SPARK", 0)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    cluster = ClusterSpec(acks="1").to_json()
    spec = CampaignSpec("mine", VARIANTS, 4, 7, cluster=cluster, keep="all", workload={"rate": 5.0})
    open_campaign(desk / "results" / "mine", spec, chunk_size=4)
    return spec


def typed(monkeypatch, *words):
    """Exit code, what was printed, what was complained of."""
    out, error = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "argv", ["tidemark", *words])
    with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
        main()
    return end.value.code, out.getvalue(), error.getvalue()


def test_what_nobody_typed_is_as_in_the_campaign(desk, mine, monkeypatch):
    words = ["compare", "--out", "results/mine", "--profile", "destructive", "--chunk", "4"]
    code, _, error = typed(monkeypatch, *words, "--plans", "6")

    assert (code, error.splitlines()[-1]) == (254, "tidemark: no Java in this test")
    assert (
        f"results/mine holds intact; destructive is added to it, in {ADDED}/destructive; "
        "tidemark report results/mine tells of all."
    ) in error
    added = Manifest.read(desk / ADDED / "destructive").spec
    assert added.to_json() == mine.to_json() | {"profile": "destructive", "plans": 6}

    code, _, error = typed(monkeypatch, *words)
    assert f"destructive is the part in {ADDED}/destructive; results/mine also holds intact" in error
    assert Manifest.read(desk / ADDED / "destructive").spec == added
    assert Manifest.read(desk / "results" / "mine").spec == mine


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--profile destructive --seed 8", "with seed 7, not 8: its parts differ in profile and system"),
        ("--profile destructive --acks all", "with acks '1', not 'all'"),
        ("--profile destructive --rate 6", "with workload {'rate': 5.0}, not {'rate': 6.0}"),
        ("--profile destructive --baseline kafka-2.1", "the baseline 'kafka-2.1' is not among the variants"),
        ("--profile machines", "the simulator has no machines"),
        ("--profile intact --variants kafka-2.7", "holds a campaign with seed 7, not 1"),
        ("--system kafka:4.3.1", "kafka:4.3.1 can express none of the campaign's variants, kafka-0.10, kafka-2.7"),
        ("--system kafka:4.3.1 --variants kafka-2.7", "cannot be held to the protocol of kafka-2.7"),
    ],
)
def test_bad_combinations_are_refused_and_leave_nothing(words, complaint, desk, mine, monkeypatch):
    code, _, error = typed(monkeypatch, "compare", "--out", "results/mine", *words.split())

    assert code == 254
    assert complaint in error
    assert len(error.strip().splitlines()) == 1
    assert not (desk / ADDED).exists()


def test_a_system_is_added_as_far_as_its_engine(desk, mine, monkeypatch):
    words = ["compare", "--out", "results/mine", "--system", "kafka:2.8.2", "--plans", "2"]
    code, _, error = typed(monkeypatch, *words)

    assert code == 254
    assert f"intact, kafka:2.8.2 in containers is added to it, in {ADDED}/intact-kafka-2.8.2" in error
    assert "Docker" in error.splitlines()[-1]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.systems
def test_both_profiles_are_listed_asked_and_reported(desk, monkeypatch):
    def fine(*words):
        code, out, _ = typed(monkeypatch, *words)
        assert code == 0
        return out

    variants = ["--variants", ",".join(VARIANTS), "--plans", "10"]
    fine("compare", "--out", "results/mine", *variants)
    alone = json.loads(fine("compare", "--out", "results/alone", *variants, "--profile", "destructive", "--json"))
    part = json.loads(fine("compare", "--out", "results/mine", "--profile", "destructive", "--json"))

    runs = [
        json.loads(fine("runs", f"results/{one}", "--json", "--limit", "0").splitlines()[-1])
        for one in ("alone", "mine")
    ]
    assert runs[1] == runs[0] | {"profile": "destructive", "world": "sim", "system": "tidemark"}
    assert part["variants"] == alone["variants"]
    listed = [json.loads(line) for line in fine("list", "--json").splitlines()]
    assert [(one["folder"], one["profile"], one["runs"]) for one in listed] == [
        ("results/alone", "destructive", 20),
        ("results/mine", "intact", 20),
        (f"{ADDED}/destructive", "destructive", 20),
    ]
    question = "SELECT profile, count(*) AS runs FROM runs GROUP BY profile ORDER BY profile"
    answer = fine("sql", "results/mine", question, "--json").splitlines()
    assert [json.loads(line) for line in answer] == [
        {"profile": "destructive", "runs": 20},
        {"profile": "intact", "runs": 20},
    ]

    both = json.loads(fine("report", "results/mine", "--json"))

    assert (both["profile"], both["parts"][0]["profile"]) == ("intact", "destructive")
    assert both["parts"] == [part]
    first, second = (
        (desk / "results" / "mine" / page).read_text() for page in ("report.html", "parts/destructive/report.html")
    )
    assert '<a href="parts/destructive/report.html">destructive</a>' in first
    assert '<a href="../../report.html">intact</a>' in second
    assert ">Tidemark: mine, destructive. " in second
    beside = json.loads(fine("compare", "--campaign", "results/mine", "--json"))
    assert "profile: mine intact, mine/destructive destructive" in beside["differences"]
    pairs = [variant["anomalies"][0]["paired"]["pairs"] for variant in beside["variants"][1:]]
    assert pairs == [10, 0, 0]  # plans of another profile are others

    checked = fine_or_found(monkeypatch, "check", "results/mine", "--json")
    assert [json.loads(line)["campaign"] for line in checked.splitlines()] == ["results/mine", f"{ADDED}/destructive"]


def fine_or_found(monkeypatch, *words):
    """What was printed, where violations are no complaint."""
    code, out, _ = typed(monkeypatch, *words)
    assert code == 1
    return out

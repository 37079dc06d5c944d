"""The base judges histories and simulates by itself; whatever wants more says in a sentence what to install."""

import json
import re
from importlib import import_module

import pytest

from tidemark.cli.extras import EXTRAS, absences_told

LOST = """\
{"kind":"op","time":1000,"process":"p1","type":"invoke","f":"send","value":[["send","t-0",1]]}
{"kind":"op","time":2000,"process":"p1","type":"ok","f":"send","value":[["send","t-0",[0,1]]]}
{"kind":"op","time":3000,"process":"p1","type":"invoke","f":"send","value":[["send","t-0",2]]}
{"kind":"op","time":4000,"process":"p1","type":"ok","f":"send","value":[["send","t-0",[1,2]]]}
{"kind":"op","time":5000,"process":"c1","type":"invoke","f":"poll","value":[["poll",{}]]}
{"kind":"op","time":6000,"process":"c1","type":"ok","f":"poll","value":[["poll",{"t-0":[[1,2]]}]]}
"""

CAMPAIGN = "pyarrow and 3 more packages, which are not installed"
CONTAINERS = "docker and 9 more packages, which are not installed"
REPORT = "matplotlib, jinja2 and markupsafe, which are not installed"


pytestmark = pytest.mark.systems

# The base


def test_the_base_judges_somebody_s_history(tidemark, tmp_path):
    (tmp_path / "history.jsonl").write_text(LOST)
    code, out, error = tidemark("check", "history.jsonl")

    assert (code, error) == (1, "")
    assert "lost-write: Record 1 of t-0 at offset 0" in out


def test_the_base_has_every_public_name(python):
    done = python("-c", "from tidemark import *; print(Client.__name__, SpeaksKafka.__name__, Workload.__name__)")

    assert (done.stdout, done.stderr) == ("Client SpeaksKafka Workload\n", "")


@pytest.mark.systems
def test_the_base_plays_every_scenario(tidemark):
    code, out, _ = tidemark("scenario", "--all", "--json")

    assert code == 0
    assert {outcome["matched"] for outcome in json.loads(out)} == {True}


def test_the_base_tells_a_scenario(tidemark):
    code, out, error = tidemark("scenario", "kip-101-data-loss", "--variant", "kafka-0.10")

    assert (code, error) == (0, "")
    assert "As expected: invalid" in out


def test_the_base_runs_a_plan(tidemark):
    code, out, error = tidemark("run", "--variant", "kafka-0.10", "--index", "98")

    assert (code, error) == (1, "")
    assert "digest 6b9ecfc0b3f57b47bf85e42e4ad4bfe5" in out


def test_the_base_explains_every_command(tidemark_in_turn):
    commands = [(), ("run",), ("compare",), ("conform",), ("report",), ("cluster", "up"), ("images", "build")]
    told = tidemark_in_turn((*command, "--help") for command in commands)

    assert {(code, error) for code, _, error in told.values()} == {(0, "")}
    assert all(out.startswith(f"Usage: {' '.join(['tidemark', *words[:-1]])} ") for words, (_, out, _) in told.items())


def test_the_base_is_healthy(tidemark):
    code, out, error = tidemark("doctor")

    assert (code, error) == (0, "")
    assert "– campaign: not installed — run: make env" in out
    assert "– spark: not installed — run: make env" in out
    assert "– containers: not installed — run: make env" in out
    assert "– report: not installed — run: make env" in out


def test_the_base_is_not_enough_for_containers(tidemark):
    code, out, _ = tidemark("doctor", "--world", "docker")

    assert code == 1
    assert "✗ containers: not installed — run: make env" in out
    assert "– campaign: not installed — run: make env" in out


# What is missing


MISSING = [
    (("compare",), CAMPAIGN),
    (("compare", "--report"), "pyarrow and 6 more packages, which are not installed"),
    (("report", "campaign"), "pyarrow and 6 more packages, which are not installed"),
    (("compare", "--master", "local[2]"), "pyarrow and 6 more packages, which are not installed"),
    (("sql", ".", "SELECT 1"), "pyarrow and 6 more packages, which are not installed"),
    (("runs", "campaign"), CAMPAIGN),
    (("list",), CAMPAIGN),
    (("watch", "campaign"), CAMPAIGN),
    (("report", "run"), REPORT),
    (("run", "--report"), REPORT),
    (("run", "--world", "docker"), CONTAINERS),
    (("run", "--system", "kafka:2.8.2"), CONTAINERS),
    (("run", "--system", "./mine.py"), CONTAINERS),
    (("run", "--world", "docker", "--hosts", "mine.py"), CONTAINERS),
    (("scenario", "kip-101-data-loss", "--world", "docker"), CONTAINERS),
    (("scenario", "kip-101-data-loss", "--system", "kafka:2.8.2"), CONTAINERS),
    (("conform",), CONTAINERS),
    (
        ("conform", "--worlds", "sim,docker", "--html", "page.html"),
        "docker and 12 more packages, which are not installed",
    ),
    (("cluster", "up"), CONTAINERS),
    (("cluster", "status"), CONTAINERS),
    (("cluster", "logs"), CONTAINERS),
    (("cluster", "down"), CONTAINERS),
    (("cluster", "down", "--all"), CONTAINERS),
    (("cluster", "down", "--hosts", "mine.py"), CONTAINERS),
    (("images", "build"), CONTAINERS),
    (("images", "build", "--system", "kafka:2.8.2"), CONTAINERS),
    (("images", "list"), CONTAINERS),
]


def test_what_is_missing_is_told_in_one_sentence_before_anything_is_done(tidemark_in_turn, tmp_path):
    (tmp_path / "mine.py").touch()
    for folder, file in (("campaign", "manifest.json"), ("run", "history.jsonl")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).touch()
    before = sorted(tmp_path.rglob("*"))

    assert tidemark_in_turn(words for words, _ in MISSING) == {
        words: (254, "", f"tidemark: this needs {what}; run: make env\n") for words, what in MISSING
    }
    assert sorted(tmp_path.rglob("*")) == before


def test_containers_are_asked_for_where_a_campaign_wants_them(tidemark):
    said = tidemark("compare", "--world", "docker", extras=("campaign",))

    assert said == (254, "", f"tidemark: this needs {CONTAINERS}; run: make env\n")


def test_an_import_that_fails_for_another_reason_fails_as_it_does():
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_module'"), absences_told():
        import_module("no_such_module")


# Each extra is enough


@pytest.mark.slow
@pytest.mark.parametrize("extra", EXTRAS)
def test_the_doctor_says_what_is_there_of_each_extra(tidemark, extra):
    findings = {one["what"]: one for one in json.loads(tidemark("doctor", "--json", extras=(extra,))[1])}

    assert [one for one in EXTRAS if findings[one]["well"]] == [extra]
    assert re.findall(r"([a-z0-9-]+) \S+(?:, |$)", findings[extra]["found"]) == list(EXTRAS[extra])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "modules"),
    [
        (
            "campaign",
            "pipeline.campaign.campaign pipeline.chunks.chunk pipeline.compare.compare pipeline.compare.examples",
        ),
        (
            "containers",
            "harness.live.session harness.clients harness.systems.kafka.system harness.scenario.live.target_factory",
        ),
        ("containers", "harness.conform.players harness.clients.aiokafka_clients harness.clients.confluent_clients"),
        ("containers", "nodes.process.start nodes.sidecar.start harness.machines.images harness.machines.kafka_image"),
        ("report", "harness.report.pages harness.conform.conform_page"),
    ],
)
def test_an_extra_is_enough_for_what_it_is_for(python, extra, modules):
    done = python("-c", "import " + ", ".join(f"tidemark.{module}" for module in modules.split()), extras=(extra,))

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.systems
def test_a_small_campaign_needs_no_spark(tidemark):
    def words(*words):
        return tidemark(*words, extras=("campaign",))

    code, out, _ = words("compare", "--plans", "4", "--variants", "kafka-0.10,kafka-2.7", "--out", "few")
    assert (code, "2 variants" in out or "kafka-0.10" in out) == (0, True)
    assert words("list", ".")[0] == 0
    assert words("runs", "few")[0] == 0
    assert words("watch", "few")[0] == 0
    assert words("check", "few")[0] == 1  # as a run of it

    spark = "tidemark: this needs pyspark, py4j and pandas, which are not installed; run: make env\n"
    assert words("compare", "--plans", "501", "--variants", "kafka-0.10,kafka-2.7", "--out", "many") == (254, "", spark)
    assert words("compare", "--plans", "4", "--master", "local[2]", "--out", "other") == (254, "", spark)
    assert words("sql", "few", "SELECT 1") == (254, "", spark)
    assert words("watch", "few", "--master", "local[1]")[::2] == (254, spark)


@pytest.mark.slow
def test_with_the_extra_a_run_has_its_page(tidemark, tmp_path):
    code, _, error = tidemark("run", "--variant", "kafka-0.10", "--index", "98", "--report", extras=("report",))

    assert (code, error) == (1, "")
    assert (tmp_path / "results" / "runs" / "kafka-0.10-1-98" / "report.html").is_file()

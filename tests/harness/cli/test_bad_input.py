"""What nobody can use is refused in one sentence that says so, with exit code 254, before anything is started or written."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from harness.cli import main
from harness.runs.folder import HISTORY

PLAN = {
    "index": 1,
    "seed": 1,
    "noise_seed": 1,
    "profile": "intact",
    "faults_end_us": 1_000_000,
    "cluster": {"brokers": 3, "replication_factor": 3, "partitions": 1, "acks": "all", "settings": {}},
    "workload": {},
    "faults": [],
}
WORDS = [
    ("run --brokers 1001", "at most 1000 brokers"),
    ("run --brokers 0", "brokers"),
    ("run --brokers 2 --replication-factor 3", "replication factor 3 is larger"),
    ("run --min-isr 4", "min ISR 4"),
    ("run --acks 2", "'2' is not one of"),
    ("run --variant kafka-9", "unknown variant 'kafka-9'"),
    ("run --variant kafka-2.1+no", "unknown modifier 'no'"),
    ("run --index -1", "-1"),
    ("run --index one", "'one' is not a valid integer"),
    ("run --seed 99999999999999999999", "not in the range"),
    ("run --profile none", "'none' is not one of"),
    ("run --plan nowhere.json", "nowhere.json"),
    ("run --contract none", "'none' is not one of"),
    ("run --nothing", "No such option"),
    ("run --out s3a://bucket/x", "is an address and no folder"),
    ("run --out file/x", "cannot write results to file/x"),
    ("compare --plans 0", "0 is not in the range"),
    ("compare --plans 1e6", "'1e6' is not a valid integer"),
    ("compare --plans 99999999999", "not in the range"),
    ("compare --seed 99999999999999999999", "not in the range"),
    ("compare --variants ,", "name at least one variant"),
    ("compare --variants kafka-2.1,kafka-2.1", "each once"),
    ("compare --variants kafka-2.1 --baseline kafka-2.0", "is not among the variants"),
    ("compare --master nonsense", "is no Spark master"),
    ("compare --master local[two]", "is no Spark master"),
    ("compare --profile machines", "the simulator has no machines"),
    ("compare --out s3a://bucket/x", "is an address and no folder"),
    ("compare --out file/x", "cannot write results to file/x"),
    ("hunt --for no-such-thing", "there is no anomaly"),
    ("hunt --seed 99999999999999999999", "not in the range"),
    ("shrink --seed 99999999999999999999", "not in the range"),
    ("explore --brokers 9", "brokers must be 1 to 5"),
    ("scenario nothing", "nothing"),
    ("scenario file", "file"),
    ("check nowhere.jsonl", "nowhere.jsonl"),
    ("check empty", "empty holds no run"),
    ("check binary", "binary"),
    ("report empty", "empty holds neither a campaign"),
    ("report damaged", "is not a campaign's manifest"),
    ("report nowhere", "there is no such file or folder"),
    ("report file --from 2 --to 1", "--from 2 is later than --to 1"),
    ("runs empty", "empty holds no campaign"),
    ("runs damaged", "is not a campaign's manifest"),
    ("runs damaged --unknown --anomaly stuck", "--unknown stands alone"),
    ("export nowhere", "nowhere"),
    ("faults --profile none", "there is no profile 'none'"),
    ("variants kafka-1", "unknown variant 'kafka-1'"),
    ("no-such-command", "No such command"),
]


@pytest.fixture
def tidemark(tmp_path, monkeypatch):
    """Run the program in a folder with odd things; gives exit code, output and complaint."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("neither this nor that")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "manifest.json").write_text('{"spec":')

    def run(*words):
        out, error = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["tidemark", *words])
        with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
            main()
        return end.value.code, out.getvalue(), error.getvalue()

    return run


@pytest.mark.parametrize(("words", "told"), WORDS, ids=[words for words, _ in WORDS])
def test_it_is_refused_in_one_sentence(tidemark, words, told):
    code, out, error = tidemark(*words.split())

    assert (code, out) == (254, "")
    assert error.startswith("tidemark: ")
    assert error.count("\n") == 1
    assert told in error
    assert "Traceback" not in error


PLANS = [
    ({"faults": 3}, "faults"),
    ({"faults": [3]}, "a fault is an object"),
    ({"faults": [{"kind": "crash"}]}, "at least kind and at_us"),
    ({"faults": [{"kind": "crash", "at_us": -1}]}, "negative"),
    ({"faults": [{"kind": "crash", "at_us": "soon"}]}, "at_us must be int"),
    ({"faults": [{"kind": "melt", "at_us": 1}]}, "unknown kind of fault 'melt'"),
    ({"faults": [{"kind": "crash", "at_us": 1, "target": "nobody"}]}, "unknown target"),
    ({"faults": [{"kind": "crash", "at_us": 2_000_000}]}, "strikes at 2000000, after faults_end_us"),
    ({"faults": [{"kind": "crash", "at_us": 1, "partition": 1}]}, "there is no partition 1"),
    ({"faults": [{"kind": "lossy", "at_us": 1, "amount": 1001}]}, "per mille, at most 1000"),
    ({"cluster": {"brokers": "three"}}, "brokers"),
    ({"cluster": {"settings": {"tick_us": 0}}}, "tick_us must be at least 1000"),
    ({"cluster": {"settings": {"request_timeout_us": 1000}}}, "request_timeout_us 1000 must be at least"),
    ({"workload": {"producers": 0}}, "at least one producer"),
    ({"workload": {"batch": 10**9}}, "100000 records"),
    ({"seed": 1.5}, "seed"),
    ({"what": 1}, "unknown entry 'what'"),
    ({"faults_end_us": 10**18}, "faults_end_us"),
]


@pytest.mark.parametrize(("changes", "told"), PLANS, ids=[told for _, told in PLANS])
def test_a_plan_that_nobody_can_run_is_refused_with_its_line(tidemark, tmp_path, changes, told):
    (tmp_path / "plan.json").write_text(json.dumps(PLAN | changes, indent=1))

    code, out, error = tidemark("run", "--plan", "plan.json", "--out", "out")

    assert (code, out) == (254, "")
    assert error.startswith("tidemark: plan.json")
    assert error.count("\n") == 1
    assert told in error
    assert not (tmp_path / "out" / HISTORY).exists()


def test_an_entry_that_is_given_twice_is_refused(tidemark, tmp_path):
    (tmp_path / "plan.json").write_text('{"seed": 1, "seed": 2, "faults": []}')

    code, _, error = tidemark("run", "--plan", "plan.json", "--out", "out")

    assert (code, "the entry 'seed' is given twice" in error) == (254, True)


def test_a_thousand_brokers_and_a_thousand_clients_are_no_matter(tidemark):
    code, _, error = tidemark("run", "--brokers", "120", "--out", "many")

    assert (code, error) == (0, "")

"""What nobody can use is refused in one sentence that says so, with exit code 254, before anything is started or written."""

import io
import json
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from tidemark.cli import main
from tidemark.harness.runs.folder import HISTORY

PATIENCE_CPU_S = 10
"""Of the processor's time, which a busy machine does not lengthen: the first input to need a library pays for its import."""
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
SEND = b'{"kind":"op","time":1,"process":"p","type":"invoke","f":"send","value":[["send","k",1]]}\n'
FILES = {
    "good.jsonl": SEND,
    "back.jsonl": SEND + SEND,
    "ends.jsonl": SEND + SEND.replace(b"invoke", b"nothing"),
    "torn.json": b'[{"a":',
    "cut.parquet": b"PAR1\0\0",
    "cut.gz": b"\x1f\x8b\x08\0",
    "odd.edn": b"{:a",
    "broken.py": b"def check(:",
    "none.py": b"x = 1",
    "mine.html": b"mine",
    "broken.scenario": b"nonsense",
    "plan.json": b"{}",
}
WORDS = [
    ("run --brokers 1001", "at most 1000 brokers"),
    ("run --brokers 0", "brokers"),
    ("run --brokers 2 --replication-factor 3", "replication factor 3 is larger"),
    ("run --min-isr 4", "min ISR 4"),
    ("run --acks 2", "'2' is not one of"),
    ("run --variant kafka-9", "unknown variant 'kafka-9'"),
    ("run --variant kafka-2.1+no", "unknown modifier 'no'"),
    ("run --system nats:2.15", "'2.15' is no version of NATS"),
    ("run --system nats:2.15.1@sync", "NATS has no option 'sync' here"),
    ("run --index -1", "-1"),
    ("run --index one", "'one' is not a valid integer"),
    ("run --seed 99999999999999999999", "not in the range"),
    ("run --profile none", "'none' is no profile and no kind of fault"),
    ("run --profile crash+", "'' is no profile"),
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
    ("compare --master sc://host:15002", "is a Spark Connect server, which takes queries and no tasks of ours"),
    ("compare --profile machines", "the simulator has no machines"),
    ("compare --out hdfs://host/x", "is an address and no folder"),
    ("compare --out s3a://bucket", "names a bucket and no place in it"),
    ("compare --out s3://bucket/a//b", "names with one / between them"),
    ("compare --out s3://bucket/x?verify=no", "behind the question mark may stand"),
    ("compare --world docker --out s3://bucket/x", "is for the simulator"),
    ("watch s3://bucket/x", "is watched where it is run"),
    ("sql s3:///x SELECT", "names no bucket"),
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
    ("faults --profile none", "'none' is no profile and no kind of fault"),
    ("variants kafka-1", "unknown variant 'kafka-1'"),
    ("no-such-command", "No such command"),
]

MORE = [
    ("run --partitions 0", "partition"),
    ("run --partitions -3", "partition"),
    ("run --partitions many", "'many' is not a valid integer"),
    ("run --replication-factor 0", "replication factor"),
    ("run --min-isr 0", "min ISR"),
    ("run --brokers -1", "brokers"),
    ("run --brokers 3.5", "'3.5' is not a valid integer"),
    ("run --acks everyone", "is not one of"),
    ("run --variant", "requires an argument"),
    ("run --variant kafka-2.1+KAFKA-0", "unknown modifier"),
    ("run --variant kafka-2.1+truncation=none", "unknown modifier"),
    ("run --variant +elr", "unknown variant"),
    ("run --variant raft+no-such", "no-such"),
    ("run --seed", "requires an argument"),
    ("run --seed 1e3", "'1e3' is not a valid integer"),
    ("run --index 1.0", "'1.0' is not a valid integer"),
    ("run extra", "unexpected extra argument"),
    ("run --plan empty", "empty"),
    ("run --plan file", "file"),
    ("run --plan binary", "binary"),
    ("run --plan nowhere.json --seed 2", "--seed cannot be given with --plan"),
    ("run --plan plan.json --rate 5", "--rate cannot be given with --plan"),
    ("run --plan plan.json --duration 5", "--duration cannot be given"),
    ("run --plan plan.json --brokers 3", "--brokers cannot be given with --plan"),
    ("run --plan plan.json --profile intact", "--profile cannot be given with --plan"),
    ("run --producers 0", "0 is not in the range"),
    ("run --producers 1001", "not in the range"),
    ("run --rate 0", "not in the range"),
    ("run --rate -1", "not in the range"),
    ("run --rate fast", "'fast' is not a valid float"),
    ("run --rate nan", "is no finite number"),
    ("run --rate inf", "not in the range"),
    ("run --batch 0", "not in the range"),
    ("run --batch 100001", "not in the range"),
    ("run --duration 0", "not in the range"),
    ("run --duration 86401", "not in the range"),
    ("run --duration nan", "is no finite number"),
    ("run --jobs 2", "--jobs is for --corpus"),
    ("run --world moon", "is not one of"),
    ("run --clients confluent", "needs --world docker"),
    ("run --time-scale 2", "needs --world docker"),
    ("run --time-scale 0", "not in the range"),
    ("run --hosts nowhere", "nowhere"),
    ("run --corpus nowhere", "there is no nowhere"),
    ("run --corpus empty", "no plan is kept"),
    ("run --corpus empty --variant kafka-2.7", "cannot be given with --corpus"),
    ("run --system nonsense", "nonsense"),
    ("run --system kafka:", "kafka"),
    ("run --junit", "requires an argument"),
    ("run --junit empty --out x", "empty"),
    ("run --broker-config x", "x"),
    ("run --keep --world docker", "--keep"),
    ("compare --variants nonsense", "unknown variant"),
    ("compare --variants kafka-2.1,nonsense", "unknown variant"),
    ("compare --plans -5", "not in the range"),
    ("compare --plans", "requires an argument"),
    ("compare --seed x", "not a valid integer"),
    ("compare --profile none", "'none' is no profile and no kind of fault"),
    ("compare --profile intact+slow-disk", "the simulator has no machines"),
    ("compare --keep some", "is not one of"),
    ("compare --chunk 0", "not in the range"),
    ("compare --chunk x", "not a valid integer"),
    ("compare --contract none", "is not one of"),
    ("compare --brokers 0", "brokers"),
    ("compare --acks 7", "is not one of"),
    ("compare --min-isr 9", "min ISR 9"),
    ("compare --master", "requires an argument"),
    ("compare --master spark:/x", "is no Spark master"),
    ("compare --master local[0.5]", "is no Spark master"),
    ("compare --world moon", "is not one of"),
    ("compare --system nonsense", "nonsense"),
    ("compare extra", "unexpected extra argument"),
    ("compare --clients aiokafka", "needs --world docker"),
    ("hunt --variant nonsense", "unknown variant"),
    ("hunt --seconds 0", "not in the range"),
    ("hunt --seconds soon", "not a valid float"),
    ("hunt --tries 0", "not in the range"),
    ("hunt --tries x", "not a valid integer"),
    ("hunt --profile machines", "is not one of"),
    ("hunt --profile none", "is not one of"),
    ("hunt --contract none", "is not one of"),
    ("hunt --brokers 0", "brokers"),
    ("hunt --jobs 0", "not in the range"),
    ("hunt --round 0", "not in the range"),
    ("hunt --for", "requires an argument"),
    ("hunt extra", "unexpected extra argument"),
    ("hunt --out file/x --tries 1", "file"),
    ("shrink --variant nonsense", "unknown variant"),
    ("shrink nowhere", "nowhere"),
    ("shrink empty", "empty"),
    ("shrink --index -1", "not in the range"),
    ("shrink --noises 0", "not in the range"),
    ("shrink --noises 101", "not in the range"),
    ("shrink --replays 0", "not in the range"),
    ("shrink --seconds 0", "not in the range"),
    ("explore --variant nonsense", "unknown variant"),
    ("explore --variant raft", "no variant of Kafka's protocol"),
    ("explore --brokers 0", "brokers must be"),
    ("explore --records -1", "records"),
    ("explore --epochs 0", "epochs"),
    ("explore --crashes -1", "crashes"),
    ("explore --lapses -1", "lapses"),
    ("explore --min-isr 9", "min"),
    ("explore --fetch-size 0", "fetch"),
    ("explore --leadership never", "is not one of"),
    ("explore --invariant nothing", "nothing"),
    ("explore --max-states 0", "not in the range"),
    ("explore --seconds -1", "not in the range"),
    ("explore --walks 0", "not in the range"),
    ("explore --depth 0", "not in the range"),
    ("explore --jobs 0", "not in the range"),
    ("explore --master local[2]", "--master is for --truth-table"),
    ("zoo nothing", "there is no bug"),
    ("zoo KAFKA-0", "there is no bug"),
    ("zoo a b", "unexpected extra argument"),
    ("scenario --variant nonsense", "unknown variant"),
    ("scenario kip-101-data-loss --variant raft", "raft"),
    ("scenario kip-101-data-loss --times 2", "--times needs --world docker"),
    ("scenario kip-101-data-loss --times 0", "not in the range"),
    ("scenario kip-101-data-loss --all", "not both"),
    ("scenario --world docker", "needs a scenario's NAME"),
    ("scenario nowhere.scenario", "nowhere.scenario"),
    ("scenario broken.scenario", "broken.scenario"),
    ("scenario kip-101-data-los", "kip-101-data-loss"),
    ("scenario a b", "unexpected extra argument"),
    ("scenario kip-101-data-loss --system nonsense", "nonsense"),
    ("scenario --stop", "No such option"),
    ("variants nonsense", "unknown variant"),
    ("variants kafka-2.1+no-such", "unknown modifier"),
    ("variants kafka-2.0 kafka-1", "unknown variant"),
    ("anomalies extra", "unexpected extra argument"),
    ("faults extra", "unexpected extra argument"),
    ("faults --profile", "requires an argument"),
    ("check", "Missing argument"),
    ("check nowhere", "nowhere"),
    ("check damaged", "is not a campaign's manifest"),
    ("check damaged --model register", "--model is for one history"),
    ("check torn.json", "torn.json"),
    ("check ends.jsonl", "ends.jsonl"),
    ("check back.jsonl", "back.jsonl"),
    ("check cut.parquet", "cut.parquet"),
    ("check cut.gz", "cut.gz"),
    ("check odd.edn", "odd.edn"),
    ("check good.jsonl --contract none", "is not one of"),
    ("check good.jsonl --model none", "none"),
    ("check good.jsonl --model register --contract durable", "not both"),
    ("check good.jsonl --checker nowhere.py", "there is no file nowhere.py"),
    ("check good.jsonl --checker broken.py", "broken.py"),
    ("check good.jsonl --checker none.py", "has no function"),
    ("check good.jsonl --checker nobody", "no installed package"),
    ("check good.jsonl --checker none.py --model register", "--model or --checker"),
    ("check good.jsonl --junit file/x.xml", "cannot write file/x.xml"),
    ("check good.jsonl extra", "unexpected extra argument"),
    ("check good.jsonl --nothing", "No such option"),
    ("export", "Missing argument"),
    ("export empty", "empty"),
    ("export binary", "binary"),
    ("export torn.json", "torn.json"),
    ("report", "Missing argument"),
    ("report binary", "binary"),
    ("report good.jsonl --from x", "not a valid float"),
    ("report good.jsonl --from 900", "no operation lies between"),
    ("report good.jsonl --baseline x", "--baseline is for campaigns"),
    ("report good.jsonl --contract x", "is not one of"),
    ("report good.jsonl --out file/x.html", "file"),
    ("report good.jsonl --out mine.html", "Tidemark did not write it"),
    ("report good.jsonl --model x", "x"),
    ("report damaged --contract durable", "only --baseline is for it"),
    ("runs", "Missing argument"),
    ("runs nowhere", "nowhere"),
    ("runs file", "file"),
    ("runs empty --limit -1", "not in the range"),
    ("runs empty --verdict bad", "is not one of"),
    ("serve nowhere", "nowhere is no folder"),
    ("serve file", "file is no folder"),
    ("serve --port 70000", "not in the range"),
    ("serve --port x", "not a valid integer"),
    ("serve a b", "unexpected extra argument"),
    ("soak --plans 0", "not in the range"),
    ("soak --systems nonsense", "nonsense"),
    ("soak --profiles none", "'none' is no profile and no kind of fault"),
    ("soak --profiles ,", "'' is no profile"),
    ("soak --seed x", "not a valid integer"),
    ("soak --time-scale 0", "not in the range"),
    ("systems --systems nonsense", "there is no system 'nonsense'"),
    ("systems --systems ,", "--systems names none"),
    ("systems --systems nats:2.15.1+a=b", "only Kafka's brokers take any"),
    ("systems --systems kafka:4.3.1+flush", "stands a setting, KEY=VALUE"),
    ("systems --systems tidemark:nonsense", "unknown variant"),
    ("systems --troubles flood", "name at least one of kill, pause"),
    ("systems --plans 0", "not in the range"),
    ("systems --page file/x.md", "cannot write file/x.md: file is no folder"),
    ("systems --out file/x --no-run", "cannot write results to file/x"),
    ("conform nothing", "nothing"),
    ("conform --times 0", "not in the range"),
    ("conform --html file/x.html", "cannot write file/x.html: file is no folder"),
    ("shrink --script file/x.scenario", "cannot write file/x.scenario: file is no folder"),
    ("explore --script file/x.scenario", "cannot write file/x.scenario: file is no folder"),
    ("cluster nothing", "No such command"),
    ("cluster up --variant nonsense", "unknown variant"),
    ("cluster down a --all", "give a NAME, or --all"),
    ("cluster down --hosts nowhere", "nowhere"),
    ("cluster logs --lines -1", "not in the range"),
    ("images nothing", "No such command"),
    ("images build --system rabbit", "there is no system 'rabbit'"),
    ("images build --system nats:2.15.1 --rebuild", "--rebuild is for Tidemark's own image and Kafka's"),
    ("hunt --variant kafka-2.7 --confirm fluss:0.9.1", "the model of fluss:0.9.1 is fluss-0.9"),
    ("doctor --world moon", "is not one of"),
    ("doctor extra", "unexpected extra argument"),
    ("--nothing", "No such option"),
    ("RUN", "No such command"),
    ("run --Variant kafka-2.7", "No such option"),
    ("compare --producers 0", "0 is not in the range"),
    ("compare --producers many", "not a valid integer"),
    ("compare --rate 0", "0.0 is not in the range"),
    ("compare --rate nan", "is no finite number"),
    ("compare --batch 100001", "not in the range"),
    ("compare --batch 2.5", "not a valid integer"),
    ("compare --duration 0", "0.0 is not in the range"),
    ("compare --duration 100000", "not in the range"),
    ("compare --duration", "requires an argument"),
    ("compare --plan plan.json --rate 5", "--rate cannot be given with --plan"),
    ("compare --plan plan.json --stop-at-first", "--stop-at-first is for campaigns"),
    ("compare --campaign empty --campaign damaged --producers 3", "nothing can be asked of clients"),
    ("compare --campaign empty --campaign damaged --stop-at-first", "there is nothing to stop"),
    ("compare --stop-at-first 3", "unexpected extra argument"),
    ("compare --plan plan.json --keep all", "--keep is for campaigns, and --plan for one plan"),
    ("compare --plan plan.json --world docker", "--plan is for the simulator"),
    ("compare --campaign empty --campaign damaged --plans 3", "--plans is for a campaign that is run"),
    ("compare --campaign empty --campaign damaged --report", "--report is of one campaign"),
    ("compare --world docker --master local[1]", "containers run one plan after the other"),
    ("compare --world docker --run-seconds 5", "--run-seconds is for the simulator"),
    ("compare --world docker --duration 86400 --time-scale 100", "faults_end_us"),
    ("run --world docker --duration 86400 --time-scale 100", "faults_end_us"),
    ("hunt --producers 0", "0 is not in the range"),
    ("hunt --producers 1001", "not in the range"),
    ("hunt --rate -1", "not in the range"),
    ("hunt --rate fast", "not a valid float"),
    ("hunt --batch 0", "0 is not in the range"),
    ("hunt --duration 0.05", "not in the range"),
    ("hunt --duration nan", "is no finite number"),
    ("hunt --stop-at-first", "No such option"),
    ("hunt --seconds nan", "is no finite number"),
    ("hunt --seconds 1e400", "is no finite number"),
    ("shrink --seconds nan", "is no finite number"),
    ("explore --seconds nan", "is no finite number"),
    ("soak --time-scale nan", "is no finite number"),
    ("conform --time-scale nan", "is no finite number"),
    ("report good.jsonl --from nan", "is no finite number"),
    ("report good.jsonl --to nan", "is no finite number"),
    ("run --world docker --time-scale nan", "is no finite number"),
]
"""The same of every command, option by option."""


@pytest.fixture
def tidemark(tmp_path, monkeypatch):
    """Run the program in a folder with odd things; gives exit code, output and complaint."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("neither this nor that")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "manifest.json").write_text('{"spec":')
    for name, text in FILES.items():
        (tmp_path / name).write_bytes(text)

    def hangs(*_):
        raise TimeoutError(f"it took {PATIENCE_CPU_S} s of processor time")

    before = signal.signal(signal.SIGPROF, hangs)

    def run(*words):
        out, error = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["tidemark", *words])
        signal.setitimer(signal.ITIMER_PROF, PATIENCE_CPU_S)
        try:
            with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
                main()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return end.value.code, out.getvalue(), error.getvalue()

    yield run
    signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize(("words", "told"), [*WORDS, *MORE], ids=[words for words, _ in [*WORDS, *MORE]])
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


def test_there_are_more_than_two_hundred_of_them():
    asked = {words for words, _ in [*WORDS, *MORE]}

    assert len(asked) == len(WORDS) + len(MORE)
    assert len(asked) + len(PLANS) >= 200


def test_an_entry_that_is_given_twice_is_refused(tidemark, tmp_path):
    (tmp_path / "plan.json").write_text('{"seed": 1, "seed": 2, "faults": []}')

    code, _, error = tidemark("run", "--plan", "plan.json", "--out", "out")

    assert (code, "the entry 'seed' is given twice" in error) == (254, True)


def test_a_thousand_brokers_and_a_thousand_clients_are_no_matter(tidemark):
    code, _, error = tidemark("run", "--brokers", "120", "--out", "many")

    assert (code, error) == (0, "")


def test_an_input_that_never_ends_would_be_noticed(tidemark, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PATIENCE_CPU_S", 0.2)
    monkeypatch.setattr("tidemark.cli.run.simulate", lambda *_: [_ for _ in iter(int, 1) if _])

    code, _, error = tidemark("run", "--out", "x")

    assert (code, "0.2 s of processor time" in error) == (255, True)

"""The command line as a whole: exit codes, and one sentence for everything that goes wrong."""

import json
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tidemark.cli import check as check_module
from tidemark.cli import main
from tidemark.cli import tidemark as tidemark_group

ROOT = Path(__file__).parents[3]
COMMANDS = (
    "scenario",
    "variants",
    "run",
    "compare",
    "conform",
    "soak",
    "systems",
    "shrink",
    "check",
    "export",
    "report",
    "doctor",
)


@pytest.fixture(scope="module")
def tidemark(tmp_path_factory):
    """Run the program in an empty folder, as a person would; gives exit code, output and complaint."""

    def run(*words, cwd=None):
        out, error = StringIO(), StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(out),
            redirect_stderr(error),
        ):
            patch.chdir(cwd or tmp_path_factory.mktemp("cwd"))
            patch.setenv("COLUMNS", "200")
            patch.setattr(sys, "argv", ["tidemark", *map(str, words)])
            with pytest.raises(SystemExit) as end:
                main()
        return end.value.code, out.getvalue(), error.getvalue()

    return run


def complaint(result):
    """What a refusal says: one line, no traceback, exit code 254."""
    code, out, error = result
    assert code == 254
    assert out == ""
    assert error.startswith("tidemark: ")
    assert error.count("\n") == 1
    return error


@pytest.fixture(scope="module")
def good(tidemark, tmp_path_factory):
    """A folder with a run that kept its promises: nobody but one election hurt it."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "plan.json").write_text(PLAN)
    code, _, error = tidemark("run", "--plan", folder / "plan.json", "--out", folder / "run")
    assert (code, error) == (0, "")
    return folder / "run"


PLAN = """{
 "noise_seed": 1,
 "faults_end_us": 2000000,
 "faults": [
  {"kind": "forced-election", "at_us": 1000000, "target": "b2"}
 ]
}
"""

LOST = """{"kind": "meta", "variant": "mine", "acks": "all"}
{"kind": "op", "time": 1, "process": "p1", "type": "invoke", "f": "send", "value": [["send", "t-0", 7]], "acks": "all"}
{"kind": "op", "time": 2, "process": "p1", "type": "ok", "f": "send", "value": [["send", "t-0", [0, 7]]], "acks": "all"}
{"kind": "op", "time": 3, "process": "p1", "type": "invoke", "f": "send", "value": [["send", "t-0", 8]], "acks": "all"}
{"kind": "op", "time": 4, "process": "p1", "type": "ok", "f": "send", "value": [["send", "t-0", [1, 8]]], "acks": "all"}
{"kind": "op", "time": 5, "process": "c1", "type": "invoke", "f": "poll", "value": [["poll", {}]]}
{"kind": "op", "time": 6, "process": "c1", "type": "ok", "f": "poll", "value": [["poll", {"t-0": [[1, 8]]}]]}
"""


# Exit codes


def test_0_is_a_valid_run(good):
    assert json.loads((good / "verdict.json").read_text())["valid"] == "valid"


def test_1_is_an_anomaly(tidemark, tmp_path):
    (tmp_path / "history.jsonl").write_text(LOST)
    code, out, error = tidemark("check", tmp_path / "history.jsonl")

    assert (code, error) == (1, "")
    assert "lost-write" in out


def test_2_is_a_run_that_proves_nothing(tidemark, tmp_path):
    slow = '{"kind": "slow", "at_us": 500000, "lasts_us": 1000, "amount": 1000}'
    (tmp_path / "plan.json").write_text(f'{{"faults": [{slow}], "faults_end_us": 1000000}}')
    code, out, error = tidemark("run", "--plan", tmp_path / "plan.json", "--out", tmp_path / "run")

    assert (code, error) == (2, "")
    assert "no election beyond the initial one" in out


def test_255_is_an_internal_error_in_one_line(tidemark, tmp_path, monkeypatch):
    (tmp_path / "history.jsonl").write_text(LOST)
    monkeypatch.setattr(check_module, "check", lambda *_: 1 // 0)
    monkeypatch.delenv("TIDEMARK_DEBUG", raising=False)
    code, _, error = tidemark("check", tmp_path)

    assert code == 255
    assert error == (
        "tidemark: internal error: ZeroDivisionError: integer division or modulo by zero (TIDEMARK_DEBUG=1 shows where)\n"
    )


def test_with_tidemark_debug_it_says_where(tidemark, tmp_path, monkeypatch):
    (tmp_path / "history.jsonl").write_text(LOST)
    monkeypatch.setattr(check_module, "check", lambda *_: 1 // 0)
    monkeypatch.setenv("TIDEMARK_DEBUG", "1")
    code, _, error = tidemark("check", tmp_path)

    assert code == 255
    assert "Traceback" in error


def test_130_is_an_interruption(tidemark, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    (tmp_path / "history.jsonl").write_text(LOST)
    monkeypatch.setattr(check_module, "check", interrupted)

    assert tidemark("check", tmp_path)[0] == 130


def test_the_program_is_installed_under_its_name():
    result = subprocess.run(
        [Path(sys.executable).with_name("tidemark"), "run", "--variant", "kafka-9"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (result.returncode, result.stdout) == (254, "")
    assert result.stderr.startswith("tidemark: Invalid value for '--variant': unknown variant 'kafka-9'")


def test_help_is_success(tidemark):
    code, out, _ = tidemark("--help")

    assert code == 0
    assert all(command in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(tidemark, command):
    code, out, _ = tidemark(command, "--help")

    assert code == 0
    assert f"tidemark {command}" in out


def test_the_version_is_told_with_its_commit(tidemark):
    code, out, _ = tidemark("--version")

    assert code == 0
    assert re.fullmatch(r"tidemark, version 0\.2\.0( \(commit [0-9a-f]{12}\+?\))?\n", out)


def test_a_command_is_loaded_when_it_is_typed():
    program = (
        "import sys\nfrom tidemark.cli.commands import load\nload(sys.argv[1:])\n"
        "print(*(one for one in ('zoo', 'hunt', 'check') if f'tidemark.cli.{one}' in sys.modules))"
    )
    loaded = {
        words: subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
        ).stdout
        for words in [(), ("--help",), ("zoo", "KAFKA-7128"), ("--version",), ("no-such-command",)]
    }
    assert [*loaded.values()] == ["zoo hunt check\n", "zoo hunt check\n", "zoo\n", "\n", "\n"]


def test_every_command_has_the_name_that_is_typed():
    for name, command in tidemark_group.commands.items():
        assert command.name == name


def test_spark_is_not_loaded_for_a_single_run(tmp_path):
    (tmp_path / "plan.json").write_text(PLAN)
    words = ["run", "--plan", str(tmp_path / "plan.json"), "--out", str(tmp_path / "run")]
    script = (
        f"import sys; sys.argv[1:] = {words!r}\nfrom tidemark.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    )
    script += "print([m for m in sys.modules if m.split('.')[0] in ('pyspark', 'pandas', 'matplotlib', 'pipeline')])"
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)

    assert result.stdout.splitlines()[-1] == "[]"


# Bad arguments


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--variant", "kafka-9"], "unknown variant 'kafka-9': known are kafka-0.10, "),
        (["run", "--variant", "kafka-2.1+fast"], "unknown modifier 'fast': use no-fences, "),
        (["run", "--min-isr", "4"], "impossible cluster: min ISR 4 must lie between 1 and the replication factor 3"),
        (["run", "--brokers", "2", "--min-isr", "3"], "min ISR 3 must lie between 1 and the replication factor 2"),
        (["run", "--replication-factor", "4"], "replication factor 4 is larger than the number of brokers 3"),
        (["run", "--brokers", "0"], "must each be at least 1"),
        (["run", "--partitions", "0"], "must each be at least 1"),
        (["run", "--acks", "2"], "'2' is not one of 'all', '1', '0'"),
        (["run", "--index", "-1"], "-1 is not in the range x>=0"),
        (["run", "--index", "one"], "'one' is not a valid integer"),
        (
            ["run", "--profile", "gentle"],
            "'gentle' is no profile and no kind of fault: it takes one of intact, destructive",
        ),
        (["run", "--contract", "best-effort"], "'best-effort' is not one of 'documented', 'kip-966', 'durable'"),
        (["run", "--plan", "nowhere.json"], "nowhere.json: cannot be read (No such file or directory)"),
        (["run", "--what"], "No such option"),
        (["check", "nowhere"], "nowhere: cannot be read (No such file or directory)"),
        (["check"], "Missing argument 'PATH'"),
        (["report", "nowhere"], "nowhere: there is no such file or folder"),
        (["scenario", "no-such-thing"], "no-such-thing"),
        (["scenario", "kip-101-data-loss", "--all"], "give a scenario's NAME or --all, not both"),
        (["scenario", "kip-101-data-loss", "--out", "x"], "--out needs --world docker or --system"),
        (["scenario", "kip-101-data-loss", "--variant", "kafka-9"], "unknown variant 'kafka-9'"),
        (["compare", "--variants", ""], "name at least one variant, each once"),
        (["compare", "--variants", "kafka-2.1,kafka-2.1"], "name at least one variant, each once"),
        (["compare", "--variants", "kafka-2.1,kafka-9"], "unknown variant 'kafka-9'"),
        (["compare", "--baseline", "kafka-9"], "the baseline 'kafka-9' is not among the variants"),
        (["compare", "--plans", "0"], "0 is not in the range 1<=x<=10000000"),
        (["dance"], "No such command 'dance'"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(tidemark, words, said):
    assert said in complaint(tidemark(*words))


def test_a_scenario_without_an_outcome_under_a_variant_says_which_it_has(tidemark):
    said = complaint(tidemark("scenario", "kip-101-data-loss", "--variant", "kafka-2.1+KAFKA-7128"))

    assert "no outcome under kafka-2.1+KAFKA-7128 is stated; it speaks about kafka-0.10" in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"noise_seed": 1,', '"noise_seed": 1', "plan.json, line 3: not JSON"),
        ("forced-election", "meteor", "plan.json, line 5: faults[0]: unknown kind of fault 'meteor'"),
        ('"b2"', '"king"', "plan.json, line 5: faults[0]: unknown target 'king'"),
        ("faults_end_us", "end", "plan.json, line 3: unknown entry 'end'"),
    ],
)
def test_a_broken_plan_is_refused_with_its_line(tidemark, tmp_path, old, new, said):
    (tmp_path / "plan.json").write_text(PLAN.replace(old, new))

    assert said in complaint(tidemark("run", "--plan", tmp_path / "plan.json"))


@pytest.mark.parametrize("words", [["run"], ["compare", "--plans", "1"]])
def test_a_folder_that_cannot_be_made_is_refused(tidemark, tmp_path, words):
    (tmp_path / "file").write_text("")
    said = complaint(tidemark(*words, "--out", tmp_path / "file" / "below"))

    assert f"cannot write results to {tmp_path / 'file' / 'below'}: Not a directory; choose another with --out" in said


def test_a_file_that_is_no_history_is_refused(tidemark, tmp_path):
    (tmp_path / "history.jsonl").write_text('{"kind": "meta"}\nnot json\n{"kind": "op"}\n')

    assert "line 2" in complaint(tidemark("check", tmp_path))


def test_a_folder_without_history_is_refused(tidemark, tmp_path):
    assert "holds no run (history.jsonl)" in complaint(tidemark("check", tmp_path))


def test_the_report_of_a_run_whose_plan_is_broken_is_refused(tidemark, good, tmp_path):
    (tmp_path / "history.jsonl").write_bytes((good / "history.jsonl").read_bytes())
    (tmp_path / "plan.json").write_text("{")

    assert "plan.json" in complaint(tidemark("report", tmp_path))


# run and check


def test_a_run_stores_plan_history_and_verdict(good):
    assert {path.name for path in good.iterdir()} >= {"plan.json", "history.jsonl", "verdict.json"}


def test_json_is_one_object_and_nothing_else(tidemark, good, tmp_path):
    code, out, error = tidemark("run", "--plan", good / "plan.json", "--out", tmp_path / "again", "--json")
    data = json.loads(out)

    assert (code, error) == (0, "")
    assert (data["variant"], data["valid"], data["contract"]) == ("kafka-2.7", "valid", "documented")
    assert data["folder"] == str(tmp_path / "again")
    assert data["stats"]["elections"] == 1


def test_a_stored_plan_gives_the_same_run_again(tidemark, good, tmp_path):
    tidemark("run", "--plan", good / "plan.json", "--out", tmp_path / "again")

    for name in ("plan.json", "history.jsonl", "verdict.json"):
        assert (tmp_path / "again" / name).read_bytes() == (good / name).read_bytes()


def test_checking_a_stored_run_gives_the_same_verdict(tidemark, good):
    stored = json.loads((good / "verdict.json").read_text())
    code, out, _ = tidemark("check", good, "--json")

    assert code == 0
    assert json.loads(out) == {name: value for name, value in stored.items() if name != "digest"}


def test_checking_a_stored_run_keeps_its_digest(tidemark, good):
    before = (good / "verdict.json").read_bytes()
    tidemark("check", good)

    assert (good / "verdict.json").read_bytes() == before


def test_checking_by_another_promise_leaves_the_stored_verdict_alone(tidemark, good):
    before = (good / "verdict.json").read_bytes()
    _, out, _ = tidemark("check", good, "--contract", "durable", "--json")

    assert json.loads(out)["contract"] == "durable"
    assert (good / "verdict.json").read_bytes() == before


def test_a_random_plan_goes_to_a_folder_named_after_it(tidemark, tmp_path):
    code, out, _ = tidemark("run", "--variant", "kafka-2.1", "--seed", "1", "--index", "3", cwd=tmp_path)
    folder = tmp_path / "results" / "runs" / "kafka-2.1-1-3"

    assert code in {0, 2}
    assert json.loads((folder / "plan.json").read_text())["index"] == 3
    assert json.loads((folder / "verdict.json").read_text())["digest"] in out


def test_the_cluster_options_make_the_cluster(tidemark, tmp_path):
    options = ["--brokers", 5, "--partitions", 2, "--min-isr", 1, "--acks", 1, "--unclean-election"]
    tidemark("run", *options, "--out", tmp_path)
    cluster = json.loads((tmp_path / "plan.json").read_text())["cluster"]

    assert (cluster["brokers"], cluster["replication_factor"], cluster["partitions"], cluster["acks"]) == (5, 3, 2, "1")
    assert (cluster["settings"]["min_isr"], cluster["settings"]["unclean_election"]) == (1, True)


def test_two_brokers_are_enough(tidemark, tmp_path):
    code, _, error = tidemark("run", "--brokers", 2, "--out", tmp_path)

    assert code in {0, 2}
    assert error == ""


# scenario and doctor


def test_scenarios_are_listed(tidemark):
    code, out, _ = tidemark("scenario", "--json")

    assert code == 0
    assert "kip-101-data-loss" in {row["name"] for row in json.loads(out)}
    assert all(set(row) == {"name", "title", "source", "variants"} for row in json.loads(out))


def test_a_scenario_whose_outcome_is_as_worked_out_by_hand_is_success(tidemark):
    code, out, _ = tidemark("scenario", "kip-101-data-loss", "--variant", "kafka-0.10", "--json")
    (outcome,) = json.loads(out)

    assert code == 0
    assert outcome["variant"] == "kafka-0.10"


def test_the_doctor_speaks_json(tidemark):
    code, out, _ = tidemark("doctor", "--json")
    findings = {one["what"]: one for one in json.loads(out)}

    assert findings["Python"]["well"] is True
    assert code == (0 if all(one["well"] or one["optional"] for one in findings.values()) else 1)
    assert all(one["advice"] for one in findings.values() if not one["well"])

"""The GitHub Action: what its steps do on a machine that has this checkout."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tidemark.cli import tidemark

ROOT = Path(__file__).parents[2]
ACTION = (ROOT / "action.yml").read_text()
STEP = textwrap.dedent(ACTION.partition("      run: |\n")[2])
BEGUN = '{"kind":"op","time":1,"process":"p","type":"invoke","f":"send","value":[["send","t-0",1]]}\n'
LOST = """\
{"kind":"op","time":2,"process":"p","type":"ok","f":"send","value":[["send","t-0",[0,1]]]}
{"kind":"op","time":3,"process":"c","type":"invoke","f":"poll","value":[["poll",{}]],"final":true}
{"kind":"op","time":4,"process":"c","type":"ok","f":"poll","value":[["poll",{}]],"final":true}
"""


@pytest.fixture
def step(tmp_path):
    """Run the step with these inputs, as a runner does, with this Python's Tidemark; gives exit code and output."""
    installed = tmp_path / "action" / ".venv" / "bin"
    installed.mkdir(parents=True)
    (installed / "tidemark").symlink_to(Path(sys.executable).parent / "tidemark")

    def run(**inputs):
        named = (
            dict.fromkeys(re.findall(r"inputs\.(\w+) }}", ACTION), "")
            | {"variants": "kafka-2.7", "profile": "intact"}
            | inputs
        )
        env = {name.upper(): value for name, value in named.items()}
        env |= {"GITHUB_ACTION_PATH": str(tmp_path / "action"), "RUNNER_TEMP": str(tmp_path)}
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEP]
        done = subprocess.run(shell, cwd=tmp_path, env=os.environ | env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def test_it_is_told_every_input_that_it_declares():
    declared = re.findall(r"^  (\w+):$", ACTION.partition("\nruns:")[0], re.MULTILINE)
    assert sorted(declared) == sorted(re.findall(r"inputs\.(\w+) }}", ACTION))


def test_the_page_gives_it_inputs_that_it_has():
    page = (ROOT / "docs/for-builders.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    given = re.findall(r"^          (\w+):", page, re.MULTILINE)
    assert {"system", "plans", "history"} <= set(given)
    assert set(given) - {"repository", "path"} <= set(re.findall(r"inputs\.(\w+) }}", ACTION))


def test_a_history_is_judged_and_annotated(step, tmp_path):
    (tmp_path / "my history.jsonl").write_text(BEGUN + LOST)
    code, told = step(history="my history.jsonl", junit="checked.xml")
    assert code == 1
    assert "::error title=tidemark check" in told
    assert "<testsuite" in (tmp_path / "checked.xml").read_text()


def test_a_model_judges_it(step, tmp_path):
    (tmp_path / "h.jsonl").write_text(
        '{"kind":"op","time":1,"process":"p","type":"invoke","f":"write","value":1}\n'
        '{"kind":"op","time":2,"process":"p","type":"ok","f":"write","value":1}\n'
    )
    assert step(history="h.jsonl", model="register")[0] == 0


@pytest.mark.systems
def test_a_campaign_fails_by_its_violations(step):
    code, told = step(plans="8", variants="kafka-0.10")
    assert code == 1
    assert "::error title=tidemark compare" in told


@pytest.mark.parametrize("asked", [{"plans": "1", "profile": "destructive"}, {"plan": "plan.json"}])
def test_a_system_is_played_on_by_a_command_that_there_is(step, tmp_path, asked):
    (tmp_path / "action/.venv/bin/tidemark").unlink()
    (tmp_path / "action/.venv/bin/tidemark").symlink_to("/bin/echo")
    code, told = step(system="./my_log.py", junit="run.xml", **asked)
    name, *words = told.split()
    assert code == 0
    assert {"--system", "./my_log.py", "run.xml", *asked.values()} <= set(words)
    tidemark.commands[name].make_context(name, words)


def test_a_history_wants_no_system(step):
    assert step(history="h", system="s.py") == (
        254,
        "::error title=Tidemark::a history is judged without a system\n",
    )


@pytest.mark.parametrize(
    ("inputs", "given"),
    [({}, "none"), ({"history": "h", "plans": "3"}, "history plans"), ({"plan": "p", "plans": "3"}, "plan plans")],
)
def test_one_thing_is_to_be_done(step, inputs, given):
    assert step(**inputs) == (254, f"::error title=Tidemark::give one of history, plan and plans; given: {given}\n")

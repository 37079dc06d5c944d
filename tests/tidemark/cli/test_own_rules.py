"""Truncation rules of one's own: they run like ours, travel as text, and are refused in a sentence that names rule and line."""

import json
import pickle
from importlib.metadata import EntryPoint

import click
import pytest
from click.testing import CliRunner

from tidemark.cli.compare import compare_command
from tidemark.cli.explore import explore_command
from tidemark.cli.hunt import hunt_command
from tidemark.cli.run import run_command
from tidemark.harness.runs import own_code, own_rules
from tidemark.harness.runs.own_rules import Knowing, RuleError, forget, known, learn, rules_of
from tidemark.harness.simulator.execute import execute
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.truncation import RULES
from tidemark.nodes.core.variant import VariantError, parse_variant

RULE = '''from tidemark.nodes.core.truncation import Step, TruncationRule

class ToTheMark(TruncationRule):
    """What Kafka did before leader epochs."""
    name = "to-the-mark"
    title = "to the high watermark"
    keeps_epochs = False
    asks = False

    def on_new_leader(self, view):
        """A follower cuts to its high watermark."""
        return Step(cut=CUT, why="to high watermark")

    def on_answer(self, view, answer):
        """It never asks."""
        return Step()
'''
VARIANT = "kafka-0.10+truncation=to-the-mark"
PLAN = generate_plan(1, 30, "intact", ClusterSpec())


@pytest.fixture(autouse=True)
def _ours_only():
    yield
    forget()
    assert tuple(RULES) == own_rules.OURS


@pytest.fixture
def rule(tmp_path):
    """A file with the rule, that cuts to what is asked for."""

    def write(cut="view.hw", text=RULE, name="mine.py"):
        path = tmp_path / name
        path.write_text(text.replace("CUT", cut))
        return str(path)

    return write


def run(command, *arguments):
    result = CliRunner().invoke(command, [str(one) for one in arguments], standalone_mode=False)
    if isinstance(result.exception, click.ClickException):
        return result.exception.message
    assert result.exception is None, result.exception
    return result.return_value


def trace(run):
    return [tuple(event) for event in run.history.trace]


def test_a_rule_from_outside_does_what_ours_does(rule):
    learn(rules_of(rule()))

    theirs, ours = execute(PLAN, VARIANT), execute(PLAN, "kafka-0.10")

    assert trace(theirs) == trace(ours)
    assert theirs.history.meta["rules"] == {"to-the-mark": known()[0].digest}
    assert "rules" not in ours.history.meta
    assert parse_variant("kafka-2.0+truncation@2=to-the-mark").rule_of(2) is RULES["to-the-mark"]


def test_a_run_is_replayed_from_its_plan(rule, tmp_path):
    out = tmp_path / "one", tmp_path / "two"
    path = rule()
    code = run(run_command, "--rule", path, "--variant", VARIANT, "--index", 30, "--out", out[0])
    again = run(run_command, "--rule", path, "--variant", VARIANT, "--plan", out[0] / "plan.json", "--out", out[1])

    assert code == again
    assert (out[0] / "history.jsonl").read_bytes() == (out[1] / "history.jsonl").read_bytes()


def test_one_of_several_may_be_named(rule):
    path = rule(text=RULE + RULE.replace("ToTheMark", "Other").replace("to-the-mark", "other"))

    assert [one.name for one in rules_of(path)] == ["to-the-mark", "other"]
    assert [one.name for one in rules_of(f"{path}:other")] == ["other"]
    assert [one.name for one in rules_of(f"{path}:Other")] == ["other"]


def test_a_package_offers_one_by_entry_point(rule, tmp_path, monkeypatch):
    rule(name="their_rules.py")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(own_code, "entry_points", lambda group: [EntryPoint("mark", "their_rules:ToTheMark", group)])
    learn(rules_of("mark"))

    assert "to-the-mark" in RULES
    assert "there are mark" in run(run_command, "--rule", "marks")


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        (
            "view.leo + 5",
            "the rule to-the-mark cuts to offset 5 in on_new_leader (mine.py, line 10), and the log ends at 0",
        ),
        ("-1", "the rule to-the-mark cuts to offset -1 in on_new_leader (mine.py, line 10), and the log ends at 0"),
        (
            "view.hw / 1",
            "the rule to-the-mark cuts to offset 0.0 in on_new_leader (mine.py, line 10), and the log ends at 0",
        ),
        ("1 // 0", "the rule to-the-mark failed in on_new_leader (mine.py, line 12): ZeroDivisionError: "),
        ("None) and 7 #", "the rule to-the-mark gives 7 in on_new_leader (mine.py, line 10), and should give a Step"),
        (
            "setattr(self, 'seen', 1)",
            "the rule to-the-mark keeps seen (mine.py, line 12): one rule serves all replicas",
        ),
    ],
)
def test_what_no_rule_may_do_names_rule_and_line(rule, tmp_path, cut, words):
    assert run(run_command, "--rule", rule(cut), "--variant", VARIANT, "--out", tmp_path / "out").startswith(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "mine.py has no truncation rule"),
        ("class x", "mine.py cannot be loaded: SyntaxError: line 1"),
        (RULE.replace('"to-the-mark"', '"fetch"'), "is called fetch, as one of Tidemark's own is: hw, kip101"),
        (RULE.replace('"to-the-mark"', '"A+B"'), "needs a name of small letters, digits and dashes, not 'A+B'"),
        (RULE.replace('title = "', 'titel = "'), "the rule to-the-mark of "),
        (RULE.replace("asks = False", "def __init__(self): 1 / 0"), "cannot be made: ZeroDivisionError"),
    ],
)
def test_a_file_that_is_no_rule_is_refused_in_a_sentence(rule, text, words):
    assert words in run(run_command, "--rule", rule(text=text), "--variant", VARIANT)


def test_a_rule_that_no_variant_names_would_do_nothing(rule):
    assert run(run_command, "--rule", rule()) == (
        "no variant has the rule to-the-mark: ask for one such as kafka-2.7+truncation=to-the-mark"
    )


def test_a_command_knows_the_rules_that_it_is_given_and_no_others(rule, tmp_path):
    run(run_command, "--rule", rule(), "--variant", VARIANT, "--out", tmp_path / "out")

    assert "unknown modifier" in run(run_command, "--variant", VARIANT)
    with pytest.raises(VariantError):
        parse_variant(VARIANT)


def test_it_travels_as_text(rule):
    learn(rules_of(rule()))
    work = pickle.dumps(Knowing(parse_variant, known()))
    forget()

    assert pickle.loads(work)(VARIANT).rule.name == "to-the-mark"


def test_an_error_travels_too():
    assert str(pickle.loads(pickle.dumps(RuleError("why")))) == "why"


def compare(rule, folder, *more):
    variants = f"kafka-0.10,{VARIANT}"
    return run(compare_command, "--rule", rule, "--variants", variants, "--plans", 20, "--out", folder, *more)


def test_a_campaign_has_the_rule_in_its_spec_and_goes_on_with_that_one_only(rule, tmp_path):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "campaign"
    path = rule()

    assert compare(path, folder, "--json") == 0
    (kept,) = json.loads((folder / "manifest.json").read_text())["spec"]["rules"]
    assert (kept["name"], kept["asked"]) == ("to-the-mark", path)
    assert compare(path, folder) == 0
    rule("0")
    assert f"{folder} holds a campaign with another truncation rule to-the-mark than" in compare(path, folder)


@pytest.mark.parametrize("jobs", [1, 2])
def test_it_is_hunted(rule, tmp_path, jobs):
    options = ("--tries", 8, "--round", 4, "--jobs", jobs, "--out", tmp_path / "hunt", "--corpus", tmp_path / "corpus")

    assert run(hunt_command, "--rule", rule(), "--variant", VARIANT, "--profile", "intact", *options) in {0, 1}


def test_it_is_explored(rule):
    found = run(
        explore_command, "--rule", rule(), "--variant", "kafka-2.0+truncation=to-the-mark", "--max-states", 3000
    )

    assert found in {0, 1, 2}


def test_our_own_nodes_do_not_know_it(rule):
    learn(rules_of(rule()))

    with pytest.raises(
        SystemRefusalError, match=r"^the nodes of tidemark know no truncation rule to-the-mark: it runs in"
    ):
        TidemarkSystem().variant(VARIANT)

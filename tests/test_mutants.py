"""Mutants are what they say, the same again by name, and an obvious one is found at once."""

import ast
import json
from textwrap import dedent

import pytest

from bench.mutants import mutation
from bench.mutants.by_hand import defects, hunt_all
from bench.mutants.campaign import Try, _prepare, draw, judged, table
from bench.mutants.mutation import Mutant, files, mutants_of, mutated
from bench.mutants.worker import has_all_searchers
from tidemark.nodes.families import parse_variant


@pytest.fixture
def changes(tmp_path, monkeypatch):
    monkeypatch.setattr(mutation, "ROOT", tmp_path)

    def of(source):
        (tmp_path / "a.py").write_text(dedent(source))
        return {(one.operator, one.before, one.after) for one in mutants_of("a.py")}

    return of


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a < b", ("comparison turned", "a < b", "a <= b")),
        ("return a == 3", ("bound moved", "3", "4")),
        ("return a + b", ("bound moved", "a + b", "a - b")),
        ("return a and b", ("and and or exchanged", "a and b", "a or b")),
        ("return a and b", ("operand dropped", "a and b", "b")),
        ("return [x for x in a if x]", ("filter dropped", "x", "True")),
        ("return min(a, b)", ("min and max exchanged", "min(a, b)", "max(a, b)")),
        ("a.b = 1", ("statement dropped", "a.b = 1", "pass")),
        ("a.go()", ("statement dropped", "a.go()", "pass")),
        ("if a: return 1", ("condition negated", "a", "not a")),
        ("return not a", ("condition negated", "not a", "a")),
    ],
)
def test_each_change_is_what_it_says(changes, body, expected):
    assert expected in changes(f"def f(a, b):\n    {body}\n")


@pytest.mark.parametrize("body", ["raise ValueError(a < 1)", "self.trace(a)", '"""Says a < b."""', "x: int = a"])
def test_what_tells_and_what_is_raised_stays(changes, body):
    assert not changes(f"def f(self, a):\n    {body}\n")


def test_a_number_is_the_same_change_again():
    one = next(one for one in mutants_of("nodes/core/epoch_cache.py") if one.operator == "comparison turned")
    source = (mutation.ROOT / one.file).read_text(encoding="utf-8")

    assert one == mutants_of(one.file)[one.number]
    assert ast.unparse(mutated(source, one.number)) != ast.unparse(ast.parse(source))
    assert one.after in ast.unparse(mutated(source, one.number))


def test_changes_of_one_function_that_read_the_same_are_judged_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(mutation, "ROOT", tmp_path)
    (tmp_path / "a.py").write_text("def f(a):\n    if a:\n        return\n    if a.b:\n        return\n")
    dropped = [one.key for one in mutants_of("a.py") if one.after == "pass"]

    assert dropped == ["a.py f: return -> pass", "a.py f: return -> pass (2)"]


def test_what_is_judged_is_a_change_of_todays_code():
    assert judged().keys() <= {one.key for file in files() for one in mutants_of(file)}


def test_a_larger_draw_begins_with_the_smaller():
    assert draw(30, 29)[:10] == draw(10, 29)
    assert draw(10, 29) != draw(10, 30)
    assert not any("variant/" in file for file in files())


def test_the_table_counts_who_found_what():
    one = Mutant("nodes/core/log.py", 1, "Log.cut", 10, "bound moved", "a + b", "a - b")._asdict()
    lines = [
        {
            **one,
            "outcome": "found",
            "by": {"random": "divergence after 3 plans", "script": "kip-101"},
            "everyone": True,
        },
        {**one, "outcome": "same", "by": {}},
        {**one, "outcome": "survived", "by": {}},
    ]
    told = table(lines)

    assert "3 mutants: 1 change no run of 500; of the other 2, 1 are found, and 0 break no promise: **50 %**" in told
    assert "| all | 3 | 2 | 1 | 0 | 1 |" in told
    assert "let loose on 1 of them: 0 by hunt, 1 by random, 1 by script, 0 by corpus." in told
    assert "nodes/core/log.py:10, Log.cut" in told


def test_all_searchers_are_let_loose_on_one_in_four():
    chosen = [has_all_searchers("nodes/core/log.py", number) for number in range(400)]

    assert 70 < sum(chosen) < 130


@pytest.mark.parametrize("name", defects())
def test_a_defect_made_by_hand_changes_the_file_that_it_names(name):
    defect = defects()[name]
    source = (mutation.ROOT / defect.file).read_text(encoding="utf-8")

    assert ast.unparse(defect.put(source)) != ast.unparse(ast.parse(source))
    assert parse_variant(defect.variant).name == defect.variant


@pytest.mark.slow
def test_a_hunt_finds_a_defect_made_by_hand(tmp_path, capsys):
    hunt_all(["acks-one-early"], 20, tmp_path / "by-hand.jsonl")

    assert "1 defects: 1 are found." in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.systems
def test_a_mutant_is_tried_in_a_process_of_its_own(tmp_path):
    """A follower takes a high watermark of its leader's only where it has no such records."""
    _prepare(tmp_path)
    one = next(
        one
        for one in mutants_of("nodes/core/replica.py")
        if one.operator == "condition negated" and one.before == "log.start <= leader_hw <= log.leo"
    )
    told = Try(tmp_path)(one)

    assert told["outcome"] == "found", json.dumps([one, told])
    assert told["by"].keys() & {"random", "hunt", "crash"}

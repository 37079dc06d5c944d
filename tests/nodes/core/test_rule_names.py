"""A truncation rule is one module: no other module of the core knows its name, so none can treat it specially."""

import ast
from pathlib import Path

import pytest

import tidemark.nodes.core
from tidemark.nodes.core.truncation import RULES

ROOT = Path(tidemark.nodes.core.__file__).parent
MAY_NAME_THEM = {ROOT / "variant" / "presets.py", ROOT / "variant" / "fences.py", *(ROOT / "truncation").glob("*.py")}
OTHERS = sorted(set(ROOT.rglob("*.py")) - MAY_NAME_THEM)


def rules_named_in(source):
    """(line, rule) of every string that is a rule's name, but for the event of a trace record, its third field."""
    tree = ast.parse(source)
    events = {id(node.elts[2]) for node in ast.walk(tree) if isinstance(node, ast.Tuple) and len(node.elts) > 4}
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value in RULES
        and id(node) not in events
    ]


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
def test_no_other_module_names_a_rule(path):
    assert rules_named_in(path.read_text(encoding="utf-8")) == []


def test_leader_follower_and_replica_are_looked_at():
    looked_at = {path.relative_to(ROOT).as_posix() for path in OTHERS}

    assert {"leader.py", "follower.py", "replica.py", "broker.py", "controller/elections.py"} <= looked_at


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('variant.truncation == "kip101"', [(1, "kip101")]),
        ('"fetch" in variant.fences', [(1, "fetch")]),
        ('asked = {"hw": 1, "kip279": 2}', [(1, "hw"), (1, "kip279")]),
        ('out.append((now, node, "hw", name, offset, epoch, True))', []),
    ],
)
def test_a_name_would_be_seen_and_a_trace_record_is_none(source, found):
    assert rules_named_in(source) == found

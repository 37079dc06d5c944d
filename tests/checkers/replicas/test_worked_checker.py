"""The checker that docs/writing-a-variant.md writes: what a reader types in works as the page says."""

import doctest
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tidemark.checkers import check, registry
from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

CHECK = sys.modules[check.__module__]
PAGE = (Path(__file__).parents[3] / "docs" / "writing-a-variant.md").read_text(encoding="utf-8")
CHECKER, LINE = re.findall(r"```python\n(.*?)```", PAGE.partition("## A checker")[2], re.DOTALL)


@pytest.fixture
def typed_in(monkeypatch):
    """The page's module, and its line among the others."""
    module = ModuleType("tidemark.checkers.replicas.not_elected")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(CHECKER, vars(module))
    line = eval(LINE, {**vars(registry), "NotElected": module.NotElected})
    monkeypatch.setattr(CHECK, "OF_REPLICAS", (*registry.OF_REPLICAS, line))
    return module


def test_the_page_s_name_is_not_taken():
    assert "not-elected" not in {name for line in registry.OF_REPLICAS for name in line.meanings}
    assert not (Path(registry.__file__).parent / "replicas" / "not_elected.py").exists()


def test_its_example_is_right(typed_in):
    assert doctest.testmod(typed_in) == doctest.TestResults(failed=0, attempted=3)


@pytest.mark.parametrize("variant", ["kafka-2.1", "kafka-4.0"])
def test_it_is_quiet_where_nothing_is_wrong(typed_in, variant):
    for index in range(3):
        history = simulate(generate_plan(1, index, "intact", ClusterSpec()), parse_variant(variant)).history
        assert any(event[2] == "elect" for event in history.trace)
        assert check(history).named("not-elected") == []

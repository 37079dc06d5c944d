"""Every plan that the repository keeps shows what it was kept for, and its repair is one."""

from pathlib import Path

import pytest

from tidemark.harness.search.corpus import Corpus, replay
from tidemark.harness.search.corpus.kept_plan import read_kept

CORPUS = Corpus(Path(__file__).parents[4] / "results" / "published" / "corpus")
"""Absolute, for tests run anywhere."""


@pytest.mark.parametrize("path", CORPUS.paths(), ids=lambda path: path.stem)
def test_a_kept_plan_is_as_it_was(path):
    kept = read_kept(path)
    replayed = replay(kept)

    assert replayed.is_as_kept, f"{replayed}, and was kept as {kept.cause}"


def test_there_are_some_and_each_lies_where_its_name_says():
    paths = CORPUS.paths()

    assert len(paths) >= 20
    assert [CORPUS.path(read_kept(path)) for path in paths] == paths

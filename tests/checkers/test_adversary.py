"""A small part of what `bench.adversary` does: correct histories are called so, and each anomaly is found."""

import pytest

from bench.adversary import CASES, rightly


@pytest.mark.parametrize("case", CASES, ids=str)
def test_histories_are_judged_as_what_they_were_made(case):
    assert [seed for seed in range(3) if not rightly(case, seed)] == []

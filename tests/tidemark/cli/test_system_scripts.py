"""How a try of a system's script is held against its outcome, where clients worked on an object."""

from pathlib import Path

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.history.history import Op
from tidemark.cli.system_scripts import _told

ADDED = [Op(1, "c1", "invoke", "add", 1), Op(2, "c1", "ok", "add", 1), Op(30, "c2", "invoke", "read", None)]


@pytest.mark.parametrize(
    ("read", "loses", "as_expected"), [((1,), False, True), ((1,), True, False), ((), True, True), ((), False, False)]
)
def test_what_contradicts_the_object_counts_as_lost(read, loses, as_expected):
    ops = [*ADDED, Op(40, "c2", "ok", "read", read)]
    verdict = check(History.of(ops=ops, untold=True, isr=False, model="set-full", contract="majority"))

    told = _told("one-member-loses-power", verdict, Path("x"), loses=loses)

    assert (told["as_expected"], told["lost"], told["acked"]) == (as_expected, int(read == ()), 2)

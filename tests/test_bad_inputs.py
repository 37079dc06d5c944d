"""A few tries of those that `python -m bench bad_inputs` makes: none has a traceback, or an exit code of no page."""

from itertools import islice

import pytest

from bench.bad_inputs import Told, Try, carry_out, drawn, prepare, what_is_wrong

pytestmark = pytest.mark.slow


@pytest.mark.systems
def test_a_few_bad_inputs_end_as_they_should(tmp_path):
    prepare(tmp_path)
    tries = [*islice(drawn(7, 10, tmp_path), 10)]

    assert [(one.words, wrong) for one in tries if (wrong := what_is_wrong(one, carry_out(one, tmp_path)))] == []


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        (Told(254, "tidemark: no.\n"), ""),
        (Told(254, "tidemark: no.\nAnd no.\n"), "not one sentence"),
        (Told(254, ""), "not one sentence"),
        (Told(1, "Traceback (most recent call last):\n"), "a traceback"),
        (Told(3, ""), "exit code 3"),
        (Told(None, ""), "not over after 120 s"),
        (Told(255, "tidemark: internal error: KeyError: 1\n"), "an internal error"),
    ],
)
def test_it_sees_what_is_wrong(told, wrong):
    assert what_is_wrong(Try(("zoo",), frozenset({0, 1, 254, 255})), told) == wrong

"""A sample of the corrupted files that `python -m bench corrupted_files` gives the command line, by number."""

import pytest

from bench.corrupted_files import one


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_a_corrupted_file_is_an_exit_code_and_at_most_one_sentence(first):
    assert [(number, *one(number)) for number in range(first, first + 10) if one(number)[0]] == []

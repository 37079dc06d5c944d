"""What exit code a set of verdicts gives."""

import pytest

from tidemark.cli.exits import exit_code


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([], 0),
        (["valid"], 0),
        (["valid", "valid"], 0),
        (["unknown"], 2),
        (["valid", "unknown"], 2),
        (["invalid"], 1),
        (["unknown", "invalid", "valid"], 1),
    ],
)
def test_an_anomaly_outweighs_the_unknown_and_that_outweighs_the_valid(verdicts, code):
    assert exit_code(verdicts) == code

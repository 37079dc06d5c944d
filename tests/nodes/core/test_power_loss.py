"""What a power loss leaves of a log, number by number."""

import pytest

from tidemark.nodes.core.power_loss import draw_survivors


@pytest.mark.parametrize(
    ("drawn", "survivors"),
    [
        ([0.0, 0.3], (2, None)),
        ([0.0, 0.29, 0.7], (2, 0.7)),
        ([0.34, 0.9], (3, None)),
        ([0.67], (4, None)),  # nothing is left to be torn, and nothing is drawn for it
    ],
)
def test_of_two_safe_and_two_unsafe_batches_any_prefix_stays(drawn, survivors):
    left = iter(drawn)

    assert draw_survivors(lambda: next(left), safe=2, written=4) == survivors
    assert list(left) == []


def test_what_is_safe_stays():
    assert draw_survivors(lambda: 0.999, safe=3, written=3) == (3, None)

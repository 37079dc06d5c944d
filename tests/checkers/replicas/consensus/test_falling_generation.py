"""A server's generation never falls, and it stands only in one that it begins itself; unless it has lost its disk."""

import pytest

from tidemark.checkers import History, check

P = "t-0"
META = {"isr": False, "contract": "majority", "min_isr": 2, "replicas": {P: [1, 2, 3]}}
FOLLOWED = (10, 3, "follow", P, 5, 2, 0, 0)
RESTARTED = ((20, 3, "stop", "", "crash"), (30, 3, "start", "", 2))
STOOD = ((40, 3, "follow", P, 5, -1, 0, 0), (40, 3, "vote", P, 5, 3))


def told(*trace, **meta):
    found = check(History.of(trace=list(trace), **META | meta)).named("falling-generation")
    return [(one.time, one.verdict) for one in found]


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(((40, 3, "follow", P, 4, 1, 0, 0),), id="it follows who was deposed"),
        pytest.param(((40, 3, "lead", P, 4, 0, 0, ()),), id="it leads in an older one"),
        pytest.param(((40, 3, "vote", P, 4, 1),), id="it votes in an older one"),
        pytest.param(STOOD, id="it stands in one that another began"),
    ],
)
def test_it_is_told_once(later):
    assert told(FOLLOWED, *RESTARTED, *later, (50, 3, "follow", P, 3, 1, 0, 0)) == [(40, "violation")]


def test_what_a_server_may_do():
    assert not told(FOLLOWED, *RESTARTED, (40, 3, "follow", P, 5, 2, 0, 0), (50, 3, "vote", P, 5, 2))
    assert not told(FOLLOWED, *RESTARTED, (40, 3, "follow", P, 6, -1, 0, 0), (40, 3, "vote", P, 6, 3))
    assert not told(FOLLOWED, (40, 2, "follow", P, 4, 1, 0, 0), (50, 3, "follow", "t-1", 4, 1, 0, 0))


def test_a_lost_disk_excuses_its_own_server_alone():
    falls = (40, 3, "follow", P, 4, 1, 0, 0)

    assert not told(FOLLOWED, (20, 3, "stop", "", "disk"), (30, 3, "start", "", 2), falls)
    assert told(FOLLOWED, (20, 1, "stop", "", "disk"), falls) == [(40, "violation")]


def test_a_ledgers_number_is_the_stores():
    assert not told(FOLLOWED, (40, 3, "follow", P, 4, 1, 0, 0), votes=False, contract="ack-quorum")

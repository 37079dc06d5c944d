"""Whatever a history is, correct or not: what is found is what looking at every pair of operations finds, and not longer."""

from dependent import PairByPair, cycles_in, is_circle, listed, operation
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.checkers import History
from tidemark.checkers.clients.check_clients import clients_of
from tidemark.checkers.clients.cycles.in_order import in_order

KEYS = ("x", "y")
PROCESSES = ("a", "b", "c")


@st.composite
def histories(draw, fs=("txn",)):
    """Processes do operations one after the other; every record gets some offset of its own, and whoever likes reads it."""
    records = {key: draw(st.permutations(range(6))) for key in KEYS}
    unsent = [(key, offset, 10 * place + offset) for place, key in enumerate(KEYS) for offset in records[key]]
    unsent = draw(st.permutations(unsent))
    everything = list(unsent)
    found = []
    for process in PROCESSES:
        time = draw(st.integers(0, 4))
        for _ in range(draw(st.integers(0, 3))):
            f = draw(st.sampled_from(fs))
            micros = []
            for _ in range(draw(st.integers(1, 3))):
                if unsent and f != "poll" and (f == "send" or draw(st.booleans())):
                    key, offset, value = unsent.pop()
                    micros.append(("send", key, (offset, value)))
                elif f != "send":
                    key, offset, value = draw(st.sampled_from(everything))
                    micros.append(("poll", {key: [(offset, value)]}))
            type_ = draw(st.sampled_from(("ok", "ok", "ok", "info", "fail")))
            began = time + draw(st.integers(0, 3))
            time = began + draw(st.integers(0, 5))
            shown = draw(st.sampled_from(("both", "both", "both", "completion")))
            found.append(operation(process, began if shown == "both" else None, time, *micros, f=f, type_=type_))
    return listed(*found)


def found(ops):
    anomalies = cycles_in(ops)
    assert all(map(is_circle, anomalies))
    return sorted((one.name, one.verdict, len(one.evidence["steps"]), one.evidence["component"]) for one in anomalies)


@given(histories())
@settings(max_examples=120)
def test_transactions(ops):
    assert found(ops) == PairByPair(ops).expected()


@given(histories(fs=("send", "poll")))
@settings(max_examples=60)
def test_sends_and_polls(ops):
    assert found(ops) == PairByPair(ops).expected()


@given(histories(fs=("send", "poll")))
@settings(max_examples=60)
def test_what_is_in_order_has_no_cycle(ops):
    if in_order(clients_of(History(ops=ops)).versions):
        assert PairByPair(ops).expected() == []

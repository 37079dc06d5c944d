"""How far behind a consumer was when it polled: Jepsen's rules, by example and against a slow reading of them."""

from hypothesis import given
from hypothesis import strategies as st

from tidemark.checkers import History, Op, check, read_any, sent
from tidemark.checkers.clients.check_clients import clients_of
from tidemark.checkers.clients.realtime_lag import realtime_lags

K, L = "t-0", "t-1"


def poll(begin, end, process, **answers):
    """A poll from one time to another; keys as `k` and `l`."""
    names = {"k": K, "l": L}
    value = {names[key]: [(offset, offset) for offset in offsets] for key, offsets in answers.items()}
    return [Op(begin, process, "invoke", "poll", ()), Op(end, process, "ok", "poll", (("poll", value),))]


def assign(time, process, *keys, f="assign"):
    return [Op(time, process, "invoke", f, keys), Op(time, process, "ok", f, keys)]


def lags(*ops):
    history = History.of(ops=sorted((op for some in ops for op in some), key=lambda op: op.time))
    found = realtime_lags(clients_of(history))
    return {
        (one.process, one.key, time): lag
        for one in found
        for time, lag in zip(one.time.tolist(), one.lag_us.tolist(), strict=True)
    }


SENT = [[sent(10 * offset + 10, "p1", K, offset, offset)] for offset in range(3)]
"""Offsets 0, 1 and 2 of one key are known at 10, 20 and 30 µs."""


def test_who_has_the_newest_record_is_not_behind():
    assert lags(*SENT, poll(40, 41, "c1", k=[0, 1, 2])) == {("c1", K, 40): 0}


def test_from_when_the_next_record_was_known():
    assert lags(*SENT, poll(40, 41, "c1", k=[0])) == {("c1", K, 40): 20}


def test_a_poll_that_was_invoked_before_the_record_was_known_is_not_behind():
    assert lags(*SENT, poll(15, 41, "c1", k=[0])) == {("c1", K, 15): 0}


def test_a_poll_of_nothing_stays_where_it_was():
    assert lags(*SENT, poll(11, 12, "c1", k=[0]), poll(50, 51, "c1")) == {("c1", K, 11): 0, ("c1", K, 50): 30}


def test_what_a_higher_offset_proves_is_there_counts():
    assert lags([sent(10, "p1", K, 9, 7)], poll(30, 31, "c1", k=[3])) == {("c1", K, 30): 20}


def test_an_assigned_key_of_which_nothing_came_is_behind_from_its_first_record():
    assert lags(*SENT, assign(5, "c1", K), poll(50, 51, "c1")) == {("c1", K, 50): 40}


def test_a_key_that_was_assigned_again_keeps_its_position_and_another_begins_anew():
    ops = [*SENT, assign(5, "c1", K), poll(40, 41, "c1", k=[0, 1, 2]), assign(42, "c1", K, L), poll(50, 51, "c1")]
    assert lags(*ops) == {("c1", K, 40): 0, ("c1", K, 50): 0, ("c1", L, 50): 0}

    away = [*ops, assign(52, "c1", L), assign(53, "c1", K), poll(60, 61, "c1")]
    assert lags(*away)["c1", K, 60] == 50


def test_who_subscribes_may_have_lost_its_keys():
    ops = [*SENT, poll(12, 13, "c1", k=[0]), assign(14, "c1", f="subscribe"), poll(50, 51, "c1")]

    assert lags(*ops) == {("c1", K, 12): 0}


def test_the_worst_is_told_of_clients_alone():
    ops = [*SENT, poll(40, 41, "c1", k=[0]), poll(60, 61, "c2", k=[0, 1])]
    history = History.of(ops=[op for some in ops for op in some])

    assert check(history).stats["worst_realtime_lag"] == {
        "lag_us": 30,
        "lag_ns": 30000,
        "time": 60,
        "process": "c2",
        "key": K,
    }
    assert check(History.of(ops=[sent(1, "p1", K, 0, 0)])).stats["worst_realtime_lag"] is None


def slowly(ops):
    """Jepsen's rules, one operation after the other."""
    known, positions, begun, found = [], {}, {}, {}
    for op in ops:
        gave = [
            (key, offset)
            for micro in op.value or ()
            if micro[0] == "poll"
            for key, records in micro[1].items()
            for offset, _ in records
        ]
        if op.f == "send" and op.type == "ok":
            gave = [(key, offset) for _, key, (offset, _) in op.value]
        known += [(key, offset, op.time) for key, offset in gave]
    for op in ops:
        if op.type == "invoke":
            begun[op.process] = op.time
            continue
        mine = positions.setdefault(op.process, {})
        if op.f == "assign":
            positions[op.process] = {key: mine.get(key, -1) for key in op.value}
        elif op.f == "poll":
            for key, records in op.value[0][1].items():
                for offset, _ in records:
                    mine[key] = max(mine.get(key, -1), offset)
            for key, at in mine.items():
                when = min((time for other, offset, time in known if other == key and offset > at), default=None)
                since = begun[op.process]
                found[op.process, key, since] = 0 if when is None else max(0, since - when)
    return found


@st.composite
def histories(draw):
    """Sends, polls and assignments of a few processes, one after the other."""
    ops, ends = [], {K: 0, L: 0}
    for place in range(draw(st.integers(1, 25))):
        time, process = 10 * place, draw(st.sampled_from(["c1", "c2"]))
        what = draw(st.sampled_from(["send", "poll", "assign"]))
        if what == "send":
            key = draw(st.sampled_from([K, L]))
            ops.append([sent(time + 1, "p1", key, ends[key], ends[key])])
            ends[key] += draw(st.integers(1, 2))
        elif what == "poll":
            answers = {
                name: draw(st.lists(st.integers(0, ends[key] - 1), max_size=2))
                for name, key in (("k", K), ("l", L))
                if ends[key] and draw(st.booleans())
            }
            ops.append(poll(time, time + 1, process, **answers))
        else:
            ops.append(assign(time, process, *draw(st.lists(st.sampled_from([K, L]), unique=True))))
    return [op for some in ops for op in some]


@given(histories())
def test_as_jepsen_counts(ops):
    assert lags(ops) == slowly(ops)


def test_a_lag_shorter_than_a_microsecond_is_kept(tmp_path):
    """Jepsen's times are nanoseconds."""
    file = tmp_path / "history.edn"
    file.write_text(
        "{:process 0 :type :invoke :f :send :value [[:send 1 5]] :time 1000}\n"
        "{:process 0 :type :ok :f :send :value [[:send 1 [0 5]]] :time 1100}\n"
        "{:process 1 :type :invoke :f :poll :value [[:poll]] :time 1050}\n"
        "{:process 1 :type :ok :f :poll :value [[:poll {1 [[0 5]]}]] :time 1450}\n"
        "{:process 0 :type :invoke :f :send :value [[:send 1 6]] :time 1500}\n"
        "{:process 0 :type :ok :f :send :value [[:send 1 [1 6]]] :time 1600}\n"
        "{:process 1 :type :invoke :f :poll :value [[:poll]] :time 1950}\n"
        "{:process 1 :type :ok :f :poll :value [[:poll {1 []}]] :time 1960}\n",
        encoding="utf-8",
    )
    worst = check(read_any(file)).stats["worst_realtime_lag"]

    assert (worst["lag_ns"], worst["lag_us"], worst["process"]) == (350, 0, 1)

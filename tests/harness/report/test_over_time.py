"""What is counted over time: operations and their windows, quantiles, rates, availability, faults, recovery, thinning."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.checkers.history.columns.builder import columns_of
from tidemark.checkers.history.history import History, Op
from tidemark.checkers.history.reading import read_stream
from tidemark.harness.report.behind import behind_of
from tidemark.harness.report.fault_spans import Episode, FaultSpan, episodes, fault_spans
from tidemark.harness.report.operations import FAIL, INFO, NONE, OK, Operations, halves_of
from tidemark.harness.report.recovery import recoveries
from tidemark.harness.report.thinning import thinned
from tidemark.harness.report.windows import QUANTILES, Windows, availabilities, completions, latency_quantiles, rates

SECOND = 1_000_000


def send(time, process, ended, type_="ok", key="a", value=0):
    """A send from one moment to another."""
    sent = ("send", key, (0, value) if type_ == "ok" else value)
    return [
        Op(time, process, "invoke", "send", (("send", key, value),)),
        Op(ended, process, type_, "send", (sent,)),
    ]


def history(*ops, **streams):
    found = [op for one in ops for op in (one if isinstance(one, list) else [one])]
    return History.of(ops=sorted(found, key=lambda op: op.time), **streams)


# Operations


def test_a_completion_belongs_to_the_invocation_before_it_of_its_process():
    operations = Operations.of(history(send(10, "p", 50), send(20, "q", 30, "fail", "b")))

    assert operations.began.tolist() == [10, 20]
    assert operations.latency.tolist() == [40, 10]
    assert operations.outcome.tolist() == [OK, FAIL]
    assert [operations.processes[p] for p in operations.process] == ["p", "q"]
    assert [(o, operations.keys[k]) for o, k in zip(operations.asked, operations.asked_key, strict=True)] == [
        (0, "a"),
        (1, "b"),
    ]


def test_what_never_ended_is_unknown_and_has_no_latency():
    operations = Operations.of(history(Op(10, "p", "invoke", "poll", (("poll", {}),)), send(20, "q", 30)))

    assert operations.outcome.tolist() == [INFO, OK]
    assert operations.completion.tolist() == [NONE, 2]
    assert operations.timed.tolist() == [False, True]


def test_a_completion_alone_is_an_operation_without_latency():
    operations = Operations.of(history(Op(10, "p", "ok", "poll", (("poll", {"a": []}),))))

    assert (operations.invocation.tolist(), operations.completion.tolist()) == ([NONE], [0])
    assert operations.timed.tolist() == [False]
    assert operations.outcome.tolist() == [OK]


def test_the_nemesis_is_no_client():
    operations = Operations.of(history(Op(10, ":nemesis", "info", "kill", None), send(20, "q", 30)))

    assert operations.invocation.tolist() == [1]


def test_a_key_of_a_pair_is_a_key():
    ops = [Op(10, "p", "invoke", "write", ("k1", 3)), Op(20, "p", "ok", "write", ("k1", 3))]

    assert Operations.of(history(ops), keyed=True).keys == ["k1"]
    assert Operations.of(history(ops)).keys == []


@pytest.mark.parametrize(
    ("times", "there"),
    [((0, 1, 2, 3), False), ((5, 5, 5, 5), False), ((0, 1, 2, 4), True), ((0, 1000, 2000, 3000), True)],
)
def test_a_history_with_more_than_one_entry_a_microsecond_has_no_times(times, there):
    first, second = send(times[0], "p", times[1]), send(times[2], "p", times[3])

    assert Operations.of(history(first, second)).has_times is there


@pytest.mark.parametrize(("times", "there"), [((100, 700, 900, 1300), True), ((1000, 2000, 3000, 4000), False)])
def test_unless_it_tells_nanoseconds(times, there):
    lines = [
        f"{{:process 0, :type {kind}, :f :send, :value [[:send 1 {value}]], :time {time}}}"
        for time, kind, value in zip(times, (":invoke", ":ok") * 2, (7, "[0 7]", 8, "[1 8]"), strict=True)
    ]

    found = read_stream(BytesIO("\n".join(lines).encode()))

    assert Operations.of(found).has_times is there


def test_a_history_without_operations_has_no_times():
    assert not Operations.of(History()).has_times
    assert len(Operations.of(History())) == 0


halves_of_processes = st.lists(
    st.tuples(
        st.integers(0, 3), st.sampled_from(["invoke", "ok", "info", "fail"]), st.sampled_from(["send", "poll", "x"])
    ),
    max_size=60,
)


def sent(place, type_):
    return (("send", f"k{place % 2}", (0, place) if type_ == "ok" else place),)


@given(halves_of_processes)
def test_every_half_is_in_one_operation_and_columns_say_the_same(halves):
    ops = [
        Op(place * 7, f"p{process}", type_, f, sent(place, type_) if f == "send" else ())
        for place, (process, type_, f) in enumerate(halves)
    ]
    by_ops = Operations.of(History(ops=ops))
    by_columns = Operations.of(History(columns=columns_of(ops)))

    numbers = [n for n in [*by_ops.invocation.tolist(), *by_ops.completion.tolist()] if n != NONE]
    assert sorted(numbers) == list(range(len(ops)))
    for name in ("invocation", "completion", "began", "ended", "outcome"):
        assert getattr(by_ops, name).tolist() == getattr(by_columns, name).tolist()
    assert [by_ops.fs[f] for f in by_ops.f] == [by_columns.fs[f] for f in by_columns.f]
    assert {(o, by_ops.keys[k]) for o, k in zip(by_ops.asked, by_ops.asked_key, strict=True)} == {
        (o, by_columns.keys[k]) for o, k in zip(by_columns.asked, by_columns.asked_key, strict=True)
    }


def test_halves_come_back_from_columns_as_they_were():
    ops = [
        *send(10, "p", 20, value=7),
        Op(30, "c", "ok", "poll", (("poll", {"a": [(0, 7), (1, "x")], "b": []}),)),
        *send(40, "p", 50, "fail", value=8),
    ]
    columns = History(columns=columns_of(ops))

    assert halves_of(columns, np.array([4, 2, 1])) == {1: ops[1], 2: ops[2], 4: ops[4]}
    assert halves_of(History(ops=ops), np.array([4])) == {4: ops[4]}


# Windows


def test_windows_have_round_lengths_and_begin_at_round_times():
    windows = Windows.over(1_060_000, 27_800_000)

    assert (windows.start, windows.length, len(windows)) == (1_000_000, 500_000, 54)
    assert windows.edges[:3].tolist() == [1_000_000, 1_500_000, 2_000_000]
    assert windows.covered[-1] == 300_000


def test_few_operations_make_few_windows():
    assert Windows.over(0, 60 * SECOND).length == SECOND
    assert Windows.over(0, 60 * SECOND, operations=80).length == 5 * SECOND
    assert Windows.over(0, 60 * SECOND, operations=1).length == 5 * SECOND


@given(st.integers(0, 10**15), st.integers(0, 10**12), st.integers(0, 1000))
def test_windows_hold_every_time_between_once(start, length, operations):
    windows = Windows.over(start, start + length, operations)
    times = np.array([start, start + length // 3, start + length])

    assert windows.count(times).sum() == 3
    assert (windows.edges[windows.of(times)] <= times).all()
    assert (times < windows.edges[windows.of(times) + 1]).all()
    assert len(windows) <= 62


def test_quantiles_are_latencies_that_were():
    ops = [send(1000 * n, "p", 1000 * n + n + 1) for n in range(100)]
    found = latency_quantiles(Operations.of(history(*ops)), 0, Windows(0, 100_000, 1_000_000))

    assert found[:, 0].tolist() == [50, 95, 99, 100]


def test_a_window_in_which_nothing_began_has_no_quantiles():
    found = latency_quantiles(Operations.of(history(send(0, "p", 10), send(250, "p", 290))), 0, Windows(0, 290, 100))

    assert found[0].tolist()[::2] == [10, 40]
    assert np.isnan(found[:, 1]).all()


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 50)), min_size=1, max_size=60))
def test_quantiles_against_numpy_window_by_window(pairs):
    ops = [send(began, f"p{n}", began + latency) for n, (began, latency) in enumerate(pairs)]
    found = latency_quantiles(Operations.of(history(*ops)), 0, Windows(0, 99, 25))

    for window in range(4):
        inside = [latency for began, latency in pairs if began // 25 == window]
        if inside:
            assert found[:, window].tolist() == np.quantile(inside, QUANTILES, method="inverted_cdf").tolist()
        else:
            assert np.isnan(found[:, window]).all()


def test_rates_are_completions_a_second_by_outcome():
    ops = [send(0, "p", 400_000), send(500_000, "p", 1_500_000, "fail"), send(1_600_000, "p", 1_700_000)]
    found = rates(Operations.of(history(*ops)), 0, Windows(0, 2 * SECOND, SECOND))

    assert found[:, :2].tolist() == [[1, 1], [0, 0], [0, 1]]


def test_the_rate_of_a_window_that_is_not_over_counts_what_was_there():
    found = rates(Operations.of(history(send(0, "p", 1_250_000))), 0, Windows(0, 1_500_000, SECOND))

    assert found[OK].tolist() == [0, 2]


@given(halves_of_processes)
def test_every_operation_is_counted_once(halves):
    ops = [Op(place * 1000, f"p{process}", type_, f, ()) for place, (process, type_, f) in enumerate(halves)]
    operations = Operations.of(History(ops=ops))
    windows = Windows(0, len(ops) * 1000, 3000)
    kinds, keys = availabilities(operations, windows)
    counted = sum(int(completions(operations, f, windows).sum()) for f in operations.kinds)

    assert counted == sum(op.type != "invoke" for op in ops)
    assert sum(int(kind.begun.sum()) for kind in kinds if kind.name != "all") == len(operations)
    assert all(kind.begun.sum() == len(operations) for kind in kinds if kind.name == "all")
    assert sum(int(kind.succeeded.sum()) for kind in kinds if kind.name != "all") == sum(op.type == "ok" for op in ops)
    assert keys == []


# Availability


def of(name, found):
    return next(one for one in found if one.name == name)


def test_availability_is_the_part_of_what_began_that_succeeded():
    ops = [send(0, "p", 10), send(20, "p", 30, "fail"), send(110, "p", 120, "info"), send(310, "p", 320)]
    (kind,), (key,) = availabilities(Operations.of(history(*ops)), Windows(0, 399, 100))

    assert kind.name == "send"
    assert kind.begun.tolist() == key.begun.tolist() == [2, 1, 0, 1]
    assert np.nan_to_num(kind.share, nan=-1).tolist() == [0.5, 0, -1, 1]
    assert kind.unavailable.tolist() == [False, True, False, False]
    assert kind.total == 0.5


def test_nothing_is_available_while_all_wait():
    """Windows of 100 µs: a send that takes 350 waits through two of them, and nobody else gets anything meanwhile."""
    (kind,), _ = availabilities(Operations.of(history(send(50, "p", 400), send(420, "p", 430))), Windows(0, 499, 100))

    assert kind.waited.tolist() == [0, 1, 1, 1, 0]
    assert kind.unavailable.tolist() == [False, True, True, True, False]
    assert kind.share[0] == 1


def test_who_waits_while_others_succeed_is_not_unavailable():
    ops = [send(50, "p", 400), send(110, "q", 120), send(210, "q", 220), send(310, "q", 320, key="b")]
    (kind,), keys = availabilities(Operations.of(history(*ops)), Windows(0, 499, 100))

    assert kind.unavailable.tolist() == [False] * 5
    assert of("a", keys).unavailable.tolist() == [False, False, False, True, False]
    assert of("b", keys).unavailable.tolist() == [False] * 5


def test_who_never_got_an_answer_is_not_waited_for_for_ever():
    ops = [Op(50, "p", "invoke", "send", (("send", "a", 1),)), *send(310, "q", 320, value=2)]
    (kind,), _ = availabilities(Operations.of(history(ops)), Windows(0, 399, 100))

    assert kind.unavailable.tolist() == [True, False, False, False]


def test_several_kinds_have_a_sum_and_polls_name_no_key():
    poll = [Op(10, "c", "invoke", "poll", (("poll", {}),)), Op(20, "c", "ok", "poll", (("poll", {"b": [(0, 1)]}),))]
    kinds, keys = availabilities(Operations.of(history(poll, send(0, "p", 15))), Windows(0, 99, 100))

    assert [kind.name for kind in kinds] == ["all", "send", "poll"]
    assert [key.name for key in keys] == ["a"]


# Faults


def strikes(*entries):
    return History.of(nemesis=list(entries))


def test_a_fault_lasts_until_it_is_healed():
    found = fault_spans(strikes((5, "strike", 0, "pause", {}), (9, "heal", 0, "pause", {})), 100)

    assert found == [FaultSpan(5, 9, "pause")]


def test_the_general_healing_ends_what_nothing_else_does():
    struck = [(5, "strike", 0, "slow", {}), (7, "strike", 1, "crash", {})]
    found = fault_spans(strikes(*struck, (8, "heal", 1, "crash", {}), (9, "heal", -1, "all", {})), 100)

    assert found == [FaultSpan(5, 9, "slow"), FaultSpan(7, 8, "crash")]


def test_a_fault_that_nothing_ends_lasts_to_the_end():
    assert fault_spans(strikes((5, "strike", 0, "slow", {})), 100) == [FaultSpan(5, 100, "slow", healed=False)]


def test_an_election_is_over_at_once():
    found = fault_spans(strikes((5, "strike", 0, "forced-election", {}), (9, "heal", -1, "all", {})), 100)

    assert found == [FaultSpan(5, 5, "forced-election")]


def test_a_fast_failover_lasts_only_while_a_broker_is_deaf() -> None:
    general = (9, "heal", -1, "all", {})
    heard, deaf = {"node": 3, "then": 2}, {"node": 3, "then": 2, "deaf": 1}
    assert fault_spans(strikes((5, "strike", 0, "fast-failover", heard), general), 100)[0].end == 5
    assert fault_spans(strikes((5, "strike", 0, "fast-failover", deaf), general), 100)[0].end == 9


def test_the_nemesis_among_operations_is_read_as_well():
    ops = [Op(n, ":nemesis", "info", f, None) for n, f in ((1, "kill"), (2, "kill"), (8, "start"), (9, "start"))]

    assert fault_spans(History(ops=ops), 100) == [FaultSpan(1, 9, "kill")]


def test_faults_that_overlap_are_one_episode():
    spans = [FaultSpan(5, 9, "slow"), FaultSpan(7, 12, "crash"), FaultSpan(12, 13, "slow"), FaultSpan(20, 20, "pause")]

    assert episodes(spans) == [Episode(5, 13, ("slow", "crash"), True), Episode(20, 20, ("pause",), True)]


# Recovery


def every(step, begin, end, process, **which):
    return [op for at in range(begin, end, step) for op in send(at, process, at + step // 10, value=at, **which)]


def test_recovery_is_counted_from_the_end_of_the_faults():
    """Ten sends a second for two seconds; a fault of one second; the first answer 300 ms later, the old rate 1 s after that."""
    ops = [
        *every(100_000, 0, 2 * SECOND, "p"),
        *send(2_050_000, "p", 3_300_000),
        *every(500_000, 3_400_000, 4_000_000, "p"),
        *every(100_000, 4_300_000, 7 * SECOND, "p"),
    ]
    (found,) = recoveries(Operations.of(history(ops)), [Episode(2 * SECOND, 3 * SECOND, ("crash",), True)], SECOND)

    assert found.first_success == {"send": 300_000}
    assert found.by_key == {"a": 300_000}
    assert found.before == {"send": 10.0}
    assert found.rate_back == {"send": 1_310_000}


def test_the_last_key_is_told():
    ops = [
        *every(100_000, 0, SECOND, "p"),
        *send(2_200_000, "p", 2_300_000, key="a"),
        *send(2_400_000, "p", 2_900_000, key="b"),
    ]
    (found,) = recoveries(Operations.of(history(ops)), [Episode(SECOND, 2 * SECOND, ("crash",), True)], SECOND)

    assert found.by_key == {"a": 300_000, "b": 900_000}
    assert found.slowest_key == ("b", 900_000)


def test_a_key_that_never_succeeds_again_is_the_last():
    ops = [
        *every(100_000, 0, SECOND, "p"),
        *send(2_200_000, "p", 2_300_000),
        *send(2_400_000, "p", 2_900_000, "info", "b"),
    ]
    (found,) = recoveries(Operations.of(history(ops)), [Episode(SECOND, 2 * SECOND, ("crash",), True)], SECOND)

    assert found.slowest_key == ("b", None)


def test_a_rate_that_does_not_come_back_before_the_next_fault_is_not_back():
    ops = [*every(100_000, 0, SECOND, "p"), *every(100_000, 2_500_000, 5 * SECOND, "p")]
    both = [Episode(SECOND, 2 * SECOND, ("crash",), True), Episode(3 * SECOND, 3 * SECOND, ("pause",), True)]
    first, second = recoveries(Operations.of(history(ops)), both, SECOND)

    assert (first.first_success, first.rate_back) == ({"send": 510_000}, {"send": None})
    assert second.before == {"send": None}


def test_no_rate_is_taken_of_a_few():
    ops = [*every(200_000, 0, SECOND, "p"), *every(100_000, 2_500_000, 5 * SECOND, "p")]
    (found,) = recoveries(Operations.of(history(ops)), [Episode(SECOND, 2 * SECOND, ("crash",), True)], SECOND)

    assert (found.before, found.rate_back) == ({"send": None}, {})


def test_nothing_recovers_from_faults_that_were_not_healed_or_after_all_was_asked():
    operations = Operations.of(history(every(100_000, 0, SECOND, "p")))
    faults = [Episode(100, 200, ("slow",), False), Episode(SECOND, 2 * SECOND, ("crash",), True)]

    assert recoveries(operations, faults, SECOND) == []
    assert recoveries(Operations.of(History()), faults, SECOND) == []


# Thinning


def test_few_points_are_all_drawn():
    assert thinned(np.array([0, 0, 1]), np.array([5, 3, 9]), most=3).tolist() == [0, 1, 2]


def test_the_extremes_of_each_group_stay():
    group = np.repeat([0, 1], 100)
    value = np.concatenate((np.arange(100), np.arange(1000, 1100)))

    assert thinned(group, value, most=6).tolist() == [0, 49, 99, 100, 149, 199]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-100, 100)), min_size=1, max_size=200), st.integers(10, 60))
def test_never_more_points_than_asked_for_and_always_the_extremes(points, most):
    group, value = (np.array(column) for column in zip(*points, strict=True))
    kept = thinned(group, value, most)

    assert len(kept) <= max(most, 2 * len(set(group.tolist())))
    assert kept.tolist() == sorted(set(kept.tolist()))
    for one in set(group.tolist()):
        inside, left = value[group == one], value[kept][group[kept] == one]
        assert (inside.min(), inside.max()) == (left.min(), left.max())


# How far behind consumers were


def poll(time, process, ended, **records):
    return [
        Op(time, process, "invoke", "poll", (("poll", {}),)),
        Op(ended, process, "ok", "poll", (("poll", records),)),
    ]


BEHIND = history(
    send(1, "p", 10),
    send(11, "p", 20, key="b"),
    Op(31, "p", "invoke", "send", (("send", "a", 2),)),
    Op(32, "p", "ok", "send", (("send", "a", (1, 2)),)),
    poll(45, "c", 50, a=[(0, 0)]),
    poll(60, "c", 61, a=[]),
    poll(70, "d", 75, a=[(0, 0)]),
)


def test_what_nobody_had_polled_yet_is_counted_until_somebody_has():
    windows = Windows(0, 79, 10)
    behind = behind_of(BEHIND, windows)

    assert {one.name: (one.most.tolist(), one.left) for one in behind.unread} == {
        "a": ([0, 1, 1, 2, 2, 1, 1, 1], 1),
        "b": ([0, 0, 1, 1, 1, 1, 1, 1], 1),
    }


def test_a_consumers_lag_is_the_most_of_a_window():
    behind = behind_of(BEHIND, Windows(0, 79, 10))

    assert {one.name: one.most.tolist() for one in behind.lag_us} == {
        "c": [0, 0, 0, 0, 13, 0, 28, 0],
        "d": [0, 0, 0, 0, 0, 0, 0, 38],
    }
    assert behind.to_json()["realtime_lag_us"][0] == {
        "name": "d",
        "most": 38,
        "left": 38,
        "by_window": [0, 0, 0, 0, 0, 0, 0, 38],
    }


def test_of_something_else_than_a_log_there_is_neither():
    assert not behind_of(history(Op(1, "p", "invoke", "add", 1), Op(2, "p", "ok", "add", 1)), Windows(0, 9, 1))
